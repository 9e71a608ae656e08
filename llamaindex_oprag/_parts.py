"""Which of the texts to be split are parts of one document, and in what order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

from llama_index.core.schema import BaseNode, MetadataMode

from oprag.chunk import Hit
from oprag.errors import MissingPositionError, UnscopedPositionError
from oprag.metadata import CHAR_END, CHAR_START, DOC_KEY, DOC_URI, PART_INDEX
from oprag.positions import PART_KEYS, as_number, look_up, read_documents

_FROM_ONE = ("page_number", "page_label", "seq_num", "loc.pageNumber")
"""Part keys that readers count from 1; the others count from 0."""

_SECTIONS = 100_000
"""Sections that a page may be cut into by a parser before ours."""


class Part(NamedTuple):
    """One text to be split, and where it stands in its document."""

    place: int
    """Index in the input."""
    node: BaseNode
    name: str
    """The document's own name."""
    number: int | None
    """`part_index` to write; None where the document is this one text."""
    offset: int | None = 0
    """Where the text begins in its source, in characters; None when not known,
    and offsets count from the start of the text."""


def text_of(node: BaseNode) -> str:
    """The text that is split."""
    return node.get_content(metadata_mode=MetadataMode.NONE)


def group_parts(nodes: Sequence[BaseNode]) -> list[list[Part]]:
    """Group texts by document and number the parts.

    - Chunks that oprag made before keep their document, part and offsets.
    - Documents with a page, row or record number are parts of their file, by that
      number: the same whether the file comes at once or page by page.
    - Several documents that share `doc_uri`, or a file and a page or section key
      without such numbers, are parts in the order given.
    - Sections that another parser cut are parts of their document in the order
      given.
    - Any other document is one text.

    Args:
        nodes: Documents, or nodes of an earlier parser.

    Returns:
        Documents in order of appearance, their parts in reading order. Each node
        is in exactly one.

    Raises:
        MissingPositionError: A page comes alone and its label is not a number.
        UnscopedPositionError: A section comes without the other sections of its
            document, so that its place is not known.
    """
    groups: dict[str, list[tuple[int, BaseNode]]] = {}
    for place, (node, name) in enumerate(zip(nodes, _names(nodes), strict=True)):
        groups.setdefault(name, []).append((place, node))
    return [_in_order(name, members) for name, members in groups.items()]


def _in_order(name: str, members: Sequence[tuple[int, BaseNode]]) -> list[Part]:
    if all(_is_own_chunk(node) for _, node in members):
        parts = [_nested(place, node, name) for place, node in members]
    else:
        numbers = _numbers([node for _, node in members], name)
        parts = [
            Part(place, node, name, number, 0 if node.source_node is None else None)
            for (place, node), number in zip(members, numbers, strict=True)
        ]
    return sorted(parts, key=lambda part: (part.number or 0, part.offset or 0))


def _names(nodes: Sequence[BaseNode]) -> list[str]:
    """Name of each node's document, as retrieval will group them."""
    ids = [node.ref_doc_id or node.node_id for node in nodes]
    hits = [
        Hit("", node.metadata, document=own_id)
        for node, own_id in zip(nodes, ids, strict=True)
    ]
    named = [name for _, name in read_documents(hits, missing_document="one")]
    times = Counter(named)
    return [
        # A section key alone says that there are others, and not where this one is.
        own_id
        if times[name] == 1 and not _part_keys(node) and not _is_named(node)
        else name
        for node, own_id, name in zip(nodes, ids, named, strict=True)
    ]


def _is_named(node: BaseNode) -> bool:
    return bool(node.metadata.get(DOC_URI) or node.metadata.get(DOC_KEY))


def _part_keys(node: BaseNode) -> list[str]:
    return [key for key in PART_KEYS if _part_value(node, key) is not None]


def _part_value(node: BaseNode, key: str) -> Any:
    if "." in key:
        return look_up(node.metadata, None, key)
    return node.metadata.get(key)


def _is_own_chunk(node: BaseNode) -> bool:
    """Whether oprag made the node, and its text is the one that it made."""
    start = as_number(node.metadata.get(CHAR_START))
    end = as_number(node.metadata.get(CHAR_END))
    if start is None or end is None or DOC_URI not in node.metadata:
        return False
    return end - start == len(text_of(node))


def _nested(place: int, node: BaseNode, name: str) -> Part:
    part = as_number(node.metadata.get(PART_INDEX))
    return Part(place, node, name, part, as_number(node.metadata[CHAR_START]))


def _numbers(nodes: Sequence[BaseNode], name: str) -> Sequence[int | None]:
    """Numbers of the parts of one document, in the order of its nodes."""
    sections = any(node.source_node is not None for node in nodes)
    numbers = _part_numbers(nodes)
    if sections:
        return _section_numbers(nodes, numbers, name)
    if numbers is not None and len(set(numbers)) == len(numbers):
        return numbers
    if len(nodes) > 1:
        return range(len(nodes))
    if keys := _part_keys(nodes[0]):
        raise _no_number(nodes[0], name, keys)
    return [None]


def _part_numbers(nodes: Sequence[BaseNode]) -> list[int] | None:
    """Page or row numbers from 0, by the first key that has one on every node."""
    for key in PART_KEYS:
        first = 1 if key in _FROM_ONE else 0
        column = [as_number(_part_value(node, key)) for node in nodes]
        numbers = [value - first for value in column if value is not None]
        if len(numbers) == len(nodes) and min(numbers) >= 0:
            return numbers
    return None


def _section_numbers(
    nodes: Sequence[BaseNode], pages: list[int] | None, name: str
) -> list[int]:
    ids = {node.node_id for node in nodes}
    for node in nodes:
        related = [node.prev_node, node.next_node]
        beside = [info.node_id for info in related if info is not None]
        if len(nodes) == 1 and not ids.issuperset(beside):
            raise _lone_section(node, name)
    seen: dict[int, int] = {}
    numbers = []
    for page in pages or [0] * len(nodes):
        seen[page] = seen.get(page, -1) + 1
        numbers.append(page * _SECTIONS + seen[page])
    return numbers


def _no_number(node: BaseNode, name: str, keys: Sequence[str]) -> MissingPositionError:
    shown = ", ".join(f"{key}={_part_value(node, key)!r}" for key in keys)
    message = (
        f"Document {name!r}: the page {node.node_id!r} was handed over alone and has "
        f"no number that orders pages ({shown}). Hand over all pages of the document "
        "together, in reading order, or let the reader write the page's number under "
        "`page` as well."
    )
    found = tuple(sorted(map(str, node.metadata)))
    return MissingPositionError(message, document=name, rank=0, keys=found)


def _lone_section(node: BaseNode, name: str) -> UnscopedPositionError:
    message = (
        f"Document {name!r}: the node {node.node_id!r} is one of several sections that "
        "another parser made, and came without the others, so its offsets in the "
        "document are not known. Hand over all sections together (a plain list of "
        "transformations does), or split the documents themselves with this parser."
    )
    return UnscopedPositionError(message, document=name, keys=("start_char_idx",))
