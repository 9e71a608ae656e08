"""A node's citation, written into its template, and taken out again.

LlamaIndex sends a node by its `text_template`, which has places for the `{content}` and
for the `{metadata_str}` that the node shows. With `citations=True` the header of a
passage comes before both: its number and its citation, as in
`[1] lease.txt, characters 0-6`, after the mark of a gap if there is one. The citation
is also in the metadata, under `CITATION`, a key that nodes do not show.

There are two ways to write a header, each with the function that undoes it:

- A node that shows metadata gets it before its template (`_put_before_template`,
  `_cut_from_template`).
- For a node that shows none, LlamaIndex skips the template. Such a node is made to show
  the citation as its only metadata (`_show_as_metadata`, `_hide_from_metadata`). Its
  templates are replaced. Undoing sets those of the class: if the node had others, which
  LlamaIndex skipped, they are lost.

A result may come back to a component. Whether it shows its citation as metadata says
which way was taken (`_shows_citation`). No text of the node may look like a header:
lines that do are escaped.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from llama_index.core.schema import BaseNode, MetadataMode, NodeWithScore

from llamaindex_oprag._nodes import Fields, copy_node, hide_keys, replace_node, text_of
from oprag.marks import escape_marks
from oprag.metadata import CITATION


def write_citation(scored: NodeWithScore, header: str) -> NodeWithScore:
    """Return a copy whose template puts the header of its passage first.

    A node of a class without templates is returned unchanged.

    Args:
        scored: A result, with the citation in its metadata and hidden.
        header: That header, as `oprag.context.headers` gives it.
    """
    node: Any = scored.node
    if not hasattr(node, "text_template"):
        return scored
    if _shown_metadata(node):
        fields = _put_before_template(node, header)
    else:
        fields = _show_as_metadata(node, header)
    return replace_node(scored, copy_node(node, fields))


def undo_citation(node: Any) -> Fields:
    """Return the fields of a node without the header that `write_citation` wrote.

    Args:
        node: A node with a citation in its metadata.

    Returns:
        No fields if no header was written.
    """
    if not hasattr(node, "text_template"):
        return {}
    if _shows_citation(node):
        return _hide_from_metadata(node)
    return _cut_from_template(node)


def _shows_citation(node: Any) -> bool:
    """Return whether `_show_as_metadata` wrote the header of a result."""
    return CITATION not in node.excluded_llm_metadata_keys


def _put_before_template(node: Any, header: str) -> Fields:
    """Write the header of a node that shows metadata."""
    template = _escape_in_template(node, node.text_template)
    return {"text_template": _escape_braces(header) + template}


def _cut_from_template(node: Any) -> Fields:
    """Undo `_put_before_template`, if it wrote anything."""
    end_of_header = _escape_braces(f"{node.metadata[CITATION]}\n")
    _, found, template = node.text_template.partition(end_of_header)
    if not found:
        return {}
    for variable, escaped in _list_escaped(node):
        template = template.replace(escaped, variable)
    return {"text_template": template}


def _show_as_metadata(node: Any, header: str) -> Fields:
    """Write the header of a node that shows no metadata."""
    before_citation = header.removesuffix(f"{node.metadata[CITATION]}\n")
    content = _escape_in_template(node, "{content}")
    excluded = node.excluded_llm_metadata_keys
    return {
        "text_template": _escape_braces(before_citation) + "{metadata_str}\n" + content,
        "metadata_template": "{value}",
        "excluded_llm_metadata_keys": [key for key in excluded if key != CITATION],
    }


def _hide_from_metadata(node: Any) -> Fields:
    """Undo `_show_as_metadata`, with the templates of the class."""
    class_fields = type(node).model_fields
    return {
        "text_template": class_fields["text_template"].default,
        "metadata_template": class_fields["metadata_template"].default,
        "excluded_llm_metadata_keys": hide_keys(node.excluded_llm_metadata_keys),
    }


def fill_behind_citation(node: BaseNode, text: str) -> str:
    """Return the text that is sent for a node after its header.

    Args:
        node: A node without a header in its template.
        text: Its text.
    """
    template = getattr(node, "text_template", "")
    if template:
        if not _shown_metadata(node):
            return escape_marks(text)
        escaped = _escape_in_template(node, template)
        if escaped != template:
            node = copy_node(node, {"text_template": escaped})
    sent = node.get_content(metadata_mode=MetadataMode.LLM)
    if template.startswith("{content}"):
        # LlamaIndex strips both ends. The beginning comes after the header here.
        return text[: len(text) - len(text.lstrip())] + sent.lstrip()
    return sent


def _shown_metadata(node: BaseNode) -> str:
    return node.get_metadata_str(MetadataMode.LLM).strip()


def _escape_in_template(node: BaseNode, template: str) -> str:
    """Write texts with lines that look like headers, escaped, into the template itself.

    LlamaIndex inserts a text unchanged.
    """
    for variable, escaped in _list_escaped(node):
        template = template.replace(variable, escaped)
    return template


def _list_escaped(node: BaseNode) -> Iterator[tuple[str, str]]:
    """Yield the variables whose texts have to be escaped, and these as a template."""
    values = {"{content}": text_of(node), "{metadata_str}": _shown_metadata(node)}
    for variable, text in values.items():
        escaped = escape_marks(text)
        if escaped != text:
            yield variable, _escape_braces(escaped)


def _escape_braces(text: str) -> str:
    return text.replace("{", "{{").replace("}", "}}")
