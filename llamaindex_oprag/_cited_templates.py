"""A node's citation, written into its template, filled in, and taken out again.

LlamaIndex sends a node by its `text_template`, which has places for the `{content}` and
for the `{metadata_str}` that the node shows. With `citations=True` the number and place
of a passage have to come first. There are two ways to write them:

- If the node shows metadata, they stand before its template.
- If it shows none, LlamaIndex skips the template. The citation is then shown as the
  only metadata, by templates that replace those of the node.

A result may come back to a component. `undo_citation` therefore takes out what
`write_citation` put in; templates that were replaced become those of the class. No text
of the node may look like a citation: lines that do are escaped.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from llama_index.core.schema import BaseNode, MetadataMode, NodeWithScore

from llamaindex_oprag._nodes import Fields, copy_node, hide_keys, replace_node, text_of
from oprag.marks import escape_marks
from oprag.metadata import CITATION


def write_citation(scored: NodeWithScore, head: str) -> NodeWithScore:
    """Return a copy whose template puts the passage's number and place first.

    A node of a class without templates is returned unchanged.

    Args:
        scored: A result, with the citation in its metadata.
        head: Number and citation of its passage, as `oprag.context.headers` gives them.
    """
    node: Any = scored.node
    if not hasattr(node, "text_template"):
        return scored
    fields: Fields
    if _shown_metadata(node):
        template = _escape_in_template(node, node.text_template)
        fields = {"text_template": _escape_braces(head) + template}
    else:
        number = head.removesuffix(f"{node.metadata[CITATION]}\n")
        content = _escape_in_template(node, "{content}")
        excluded = node.excluded_llm_metadata_keys
        fields = {
            "text_template": _escape_braces(number) + "{metadata_str}\n" + content,
            "metadata_template": "{value}",
            "excluded_llm_metadata_keys": [key for key in excluded if key != CITATION],
        }
    return replace_node(scored, copy_node(node, fields))


def undo_citation(node: Any) -> Fields:
    """Return the fields of a node without what `write_citation` wrote into them.

    Args:
        node: A node with a citation in its metadata.

    Returns:
        No fields if nothing was written into its template.
    """
    if not hasattr(node, "text_template"):
        return {}
    excluded = node.excluded_llm_metadata_keys
    if CITATION not in excluded:  # it is shown as metadata
        class_fields = type(node).model_fields
        return {
            "text_template": class_fields["text_template"].default,
            "metadata_template": class_fields["metadata_template"].default,
            "excluded_llm_metadata_keys": hide_keys(excluded),
        }
    end_of_head = _escape_braces(f"{node.metadata[CITATION]}\n")
    _, found, template = node.text_template.partition(end_of_head)
    if not found:
        return {}
    for variable, escaped in _list_escaped(node):
        template = template.replace(escaped, variable)
    return {"text_template": template}


def fill_behind_citation(node: BaseNode, text: str) -> str:
    """Return the text that is sent for a node behind its citation.

    Args:
        node: A node without a citation in its template.
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
        # LlamaIndex strips both ends. The beginning is inside the text here.
        return text[: len(text) - len(text.lstrip())] + sent.lstrip()
    return sent


def _shown_metadata(node: BaseNode) -> str:
    return node.get_metadata_str(MetadataMode.LLM).strip()


def _escape_in_template(node: BaseNode, template: str) -> str:
    """Write texts with lines that look like marks, escaped, into the template itself.

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
