"""Results as text with places and gap marks, and as passages and back."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeAlias

from llama_index.core.schema import BaseNode, NodeWithScore

from llamaindex_oprag._convert import make_hits, make_node
from oprag.chunk import Passage
from oprag.context import read_passages, render
from oprag.documents import check_entries

ResultLike: TypeAlias = NodeWithScore | BaseNode
"""A node with its score, or a node."""


def format_nodes(
    nodes: Iterable[ResultLike],
    *,
    citations: bool | None = None,
    separator: str = "\n\n",
) -> str:
    """Write nodes as text with their places, in the order given.

    The text is the same that `oprag.render` writes for the same passages, and
    `langchain_oprag.format_documents` for the same documents: the texts alone, without
    the metadata that LlamaIndex shows. Give a component that has a `token_budget` also
    `citations=True` and the same `separator=`: its budget then has room for the whole
    text.

    Args:
        nodes: The results of any component, such as `response.source_nodes`, or any
            nodes.
        citations: Put each node's number and place before it, on a separate line
            `[1] contract.txt, characters 0-120`, and `[…]` between nodes of one
            document that do not touch. None: yes, except for a component with a
            `token_budget` and without `citations=True`.
        separator: Between two nodes.

    Returns:
        The text; the empty string for no nodes.

    Raises:
        InvalidOptionError: Something in `nodes` is no node.

    Example:
        >>> from llama_index.core.schema import TextNode
        >>> place = {"source": "a.txt", "start_index": 0}
        >>> print(format_nodes([TextNode(text="To begin.", metadata=place)]))
        [1] a.txt, characters 0-9
        To begin.
    """
    return render(as_passages(nodes), separator=separator, citations=citations)


def as_passages(nodes: Iterable[ResultLike]) -> list[Passage]:
    """Return the passage of each node, in the order given.

    Args:
        nodes: As `format_nodes` takes them. For nodes that no component returned, the
            place is read if possible, and `rank` is the place in the list.

    Returns:
        Passages with text, spans, rank and citation. Each is of one chunk, whose
        `source` is the node with its score.

    Raises:
        InvalidOptionError: Something in `nodes` is no node.
    """
    return read_passages(make_hits(nodes, BaseNode))


def as_nodes(passages: Sequence[Passage]) -> list[NodeWithScore]:
    """Return a node for each passage, in the order given.

    The inverse of `as_passages`: the nodes get their text, metadata, score and id back.
    Passages of `oprag.order_context` become nodes with stable ids.

    Args:
        passages: Any.

    Raises:
        InvalidOptionError: Something in `passages` is no passage.
    """
    check_entries("passages", passages, Passage)
    return [make_node(passage) for passage in passages]
