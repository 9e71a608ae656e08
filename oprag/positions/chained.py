"""Reads page and file of chunks without positions from their metadata.

By these, their other chunks are read and put in order page by page.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, NamedTuple

from oprag.chunk import Hit
from oprag.errors import ConflictingPositionsError, OpragError, PositionError
from oprag.metadata import as_number
from oprag.positions.identity import FILE_KEYS, FRAMEWORK_IDS, ID_KEYS, DocumentKey
from oprag.positions.keys import PART_KEYS, look_up
from oprag.positions.reader import identify_documents, read_chunks
from oprag.positions.shared_names import STRONG_FACTS, normalize_value
from oprag.positions.validity import check_positions, deduplicate


class PageKey(NamedTuple):
    """The page of a file that a chunk is on."""

    part: int | None
    """Its number; None if the file is one text."""
    facts: tuple[Hashable, ...]
    """The facts that a loader wrote about the file."""


class Unplaced(NamedTuple):
    """A document whose chunks lack the metadata that would order them."""

    key: str
    """The key by which retrieval groups its chunks."""
    name: str
    """The document's name for people."""
    ranks: tuple[int, ...]
    """Ranks of its chunks."""
    selected_by: tuple[str, Any] | None
    """A key of the metadata and its value, which all chunks of the document have, and
    no others as far as is known; None if there is no such key."""
    part_key: str | None
    """The key of their metadata that has their page's number; None if there is none."""
    has_pages_alone: bool
    """Whether each chunk has its page in the metadata, and none has more."""

    @staticmethod
    def find_all(
        hits: Sequence[Hit], document_key: DocumentKey | None = None
    ) -> list[Unplaced]:
        """Return the documents whose chunks have no position, or only share a page.

        Args:
            hits: Best first.
            document_key: The option that retrieval takes.
        """
        problems: dict[str, OpragError] = {}
        documents = identify_documents(
            hits, document_key=document_key, problems=problems
        )
        chunks = read_chunks(hits, documents, problems=problems)
        check_positions(deduplicate(chunks), problems=problems)
        found = []
        for key, error in problems.items():
            ranks = tuple(i for i, each in enumerate(documents) if each.key == key)
            if not ranks or not Unplaced.is_said_by(error):
                continue
            first = hits[ranks[0]]
            value = documents[ranks[0]].shared_name or key
            selected_by = _find_selecting_key(first, value, document_key)
            part_keys = {_find_part_key(hits[rank]) for rank in ranks}
            part_key = part_keys.pop() if len(part_keys) == 1 else None
            found.append(
                Unplaced(
                    key,
                    documents[ranks[0]].name,
                    ranks,
                    selected_by,
                    part_key,
                    isinstance(error, ConflictingPositionsError),
                )
            )
        return found

    @staticmethod
    def is_said_by(error: OpragError) -> bool:
        """Return whether an error says that chunks have no positions, or pages alone.

        The same holds for numbers beside ids that differ, of documents or of chunks. It
        does not for wrong positions.
        """
        if isinstance(error, ConflictingPositionsError):
            return error.kind == "ambiguous_position" and len(error.position) == 1
        if not isinstance(error, PositionError):
            return False
        if error.kind == "unscoped_position":
            return bool(error.keys) and {*error.keys} <= {*FRAMEWORK_IDS}
        return error.kind == "missing_position"

    @staticmethod
    def page_of(hit: Hit) -> PageKey | None:
        """Return the page of a chunk; None if it is on one without a number."""
        facts = tuple(
            None if value is None else normalize_value(value)
            for value in map(hit.metadata.get, STRONG_FACTS)
        )
        key = _find_part_key(hit)
        if key is not None:
            return PageKey(as_number(look_up(hit.metadata, None, key)), facts)
        values = [look_up(hit.metadata, None, each) for each in PART_KEYS]
        is_named = any(value is not None for value in values)
        return None if is_named else PageKey(None, facts)


def _find_selecting_key(
    hit: Hit, value: str, document_key: DocumentKey | None
) -> tuple[str, Any] | None:
    keys: Sequence[Any] = (*FILE_KEYS, *ID_KEYS)
    if document_key is not None:
        keys = [document_key] if isinstance(document_key, str) else []
    for key in keys:
        if hit.metadata.get(key) == value:
            return key, value
    if document_key is None and hit.document == value:
        # It is outside the metadata of a node, and has this name in every store.
        return FRAMEWORK_IDS[0], value
    return None


def _find_part_key(hit: Hit) -> str | None:
    """Return the metadata key under which a chunk has the number of its page."""
    for key in PART_KEYS:
        if as_number(look_up(hit.metadata, None, key)) is not None:
            return key
    return None
