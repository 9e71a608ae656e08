"""What LlamaIndex puts before a node's text when it sends it: metadata it shows."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from llama_index.core.schema import MetadataMode, TextNode

from oprag.context import HEAD_JOINT

_TEMPLATE = f"{{metadata_str}}{HEAD_JOINT}{{content}}"


def heads_of(
    nodes: Sequence[TextNode],
    metadatas: Sequence[dict[str, Any]],
    moving: Collection[str | None] = (),
) -> list[str] | None:
    """Tell what is sent before the text of each node.

    Making the sent text of every node takes LlamaIndex longer than everything else;
    most nodes of one document have the same before their text.

    Args:
        nodes: `TextNode`s, not of a class derived from it.
        metadatas: Theirs.
        moving: Keys that are sent under another name.

    Returns:
        As `Columns.heads` does. None where a node has a template of its own for the
        text, or one that its metadata does not fit; or shows what is sent under
        another name.
    """
    if {node.text_template for node in nodes} != {_TEMPLATE}:
        return None
    hidden = _hidden_everywhere([node.excluded_llm_metadata_keys for node in nodes])
    shown = set().union(*metadatas) - hidden
    if not shown:
        return [""] * len(nodes)
    if not shown.isdisjoint(moving):
        return None
    heads: dict[tuple[object, ...], str] = {}
    found = []
    for node, metadata in zip(nodes, metadatas, strict=True):
        keys = node.excluded_llm_metadata_keys
        parts = [
            (key, str(value))
            for key, value in metadata.items()
            if key in shown and key not in keys
        ]
        # All that the head is made of.
        of = (node.metadata_template, node.metadata_separator, *parts)
        if of not in heads:
            try:
                heads[of] = node.get_metadata_str(MetadataMode.LLM).strip()
            except (LookupError, ValueError, AttributeError):  # as `str.format` does
                return None
        found.append(heads[of])
    return found


def _hidden_everywhere(excluded: Sequence[list[str]]) -> set[str]:
    """Metadata keys that no node shows to the model."""
    first = excluded[0]
    same = excluded.count(first) == len(excluded)  # mostly, and said sooner
    return set(first) if same else set(first).intersection(*excluded)
