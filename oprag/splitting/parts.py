"""Parts of documents: texts of one document, and their numbers.

Readers hand over a document in pieces: a page, a row, a section at a time, each with
the metadata of the whole. Their chunks must neither be mistaken for chunks of
different documents nor share a position or an id. Both adapters ask here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from oprag.chunk import PROVED
from oprag.errors import MissingDocumentError, MissingPositionError, PositionError
from oprag.metadata import EARLIER_HASH, PART_INDEX, RESULT, as_number, document_key
from oprag.positions import (
    CHARACTER_KEYS,
    PART_KEYS,
    SECTION_KEYS,
    document_name,
    look_up,
    read_own_place,
)
from oprag.result_key import read_written

_FROM_ONE = frozenset(("page_number", "page_label", "seq_num", "loc.pageNumber"))
"""Part keys that readers count from 1; the others count from 0."""

_OF_CHUNKS = (RESULT, EARLIER_HASH, *CHARACTER_KEYS)
"""Keys that only chunks have."""


class SourceText(NamedTuple):
    """A text to be split, and its origin as far as a framework knows it."""

    text: str
    metadata: Mapping[str, Any]
    id: str | None = None
    """Id of its document; None if it has none."""
    cut: bool = False
    """Whether an earlier parser cut it out of that document."""
    has_neighbours: bool = False
    """Whether that parser cut other texts before or after it."""

    @property
    def is_part(self) -> bool:
        """Whether it is known to be a page, row or section of its document."""
        return self.cut or _is_part(self.metadata)

    @property
    def name(self) -> str | None:
        """The name of its document, or None if nothing names it.

        The id of a page, row or section names only that, unless a parser cut the
        section out of the document that has the id.
        """
        name = document_name(self.metadata)
        if name is None and self.id:
            sections = self.cut and not _find_keys(self.metadata, PART_KEYS)
            if sections or not _is_part(self.metadata):
                return self.id
        return name


class Part(NamedTuple):
    """One of the texts to be split, and its position in its document."""

    place: int
    """The index of the text, in the order given."""
    source: SourceText
    name: str
    """The document's own name."""
    number: int | None
    """The value of `part_index`; None for a document that is one text."""
    offset: int | None
    """Character of the part at which the text begins. None if that is not known; then
    offsets count from the start of the text."""
    proved: bool = True
    """Whether the place of the text is proved. If not, nothing proves its chunks."""


def group_parts(texts: Sequence[SourceText]) -> list[list[Part]]:
    """Group texts by document and number the parts.

    Texts of one name are parts of one document: pages, rows, or sections that another
    parser cut. They are numbered from 0 by the page, row or record that the metadata
    gives (see `part_numbers`), the same whether they come at once or one by one.
    Without such numbers they are parts in the order given. Chunks of oprag's own
    splitters keep document, part and offsets.

    A text without a name is a document by itself, named by its id, else by a hash of
    the text.

    Returns:
        Documents in order of appearance, their parts in reading order. Each text is
        in exactly one.

    Raises:
        MissingDocumentError: A page, row or section does not name its document.
        MissingPositionError: A page or section comes alone, and has no number.
        PositionError: A text already is a chunk.
    """
    groups: dict[str, list[int]] = {}
    for place, name in enumerate(_name_documents(texts)):
        groups.setdefault(name, []).append(place)
    return [
        _order_parts(name, places, [texts[place] for place in places])
        for name, places in groups.items()
    ]


def part_numbers(metadatas: Sequence[Mapping[str, Any]]) -> list[int | None]:
    """Number the parts of one document from 0.

    The first key that has a number on every part counts: `page` and `row` unchanged,
    `page_number`, `seq_num` and `loc.pageNumber` minus one, and `page_label` minus one
    if all are distinct. If several parts are of one page, they follow one another.
    Without such a key, parts are numbered in the order given.

    Returns:
        One number per part; None for a single one without a number.
    """
    for key in PART_KEYS:
        numbers = _column(metadatas, key)
        if numbers is None:
            continue
        if len(set(numbers)) == len(numbers):
            return list(numbers)
        if key != "page_label":
            order = sorted(range(len(numbers)), key=numbers.__getitem__)
            ranks = {place: rank for rank, place in enumerate(order)}
            return [ranks[place] for place in range(len(numbers))]
    return [None] if len(metadatas) == 1 else list(range(len(metadatas)))


def parts_named(
    chunks: Sequence[Mapping[str, Any]], parts: Sequence[Mapping[str, Any]]
) -> list[int | None]:
    """Tell which part of their document chunks belong to, by their metadata.

    Args:
        chunks: Their metadata.
        parts: The metadata of the parts; no two have the same number or label.

    Returns:
        The index of one of the parts for each chunk, by the first key that all parts
        and any chunk have; None if a chunk names no part.
    """
    for key in PART_KEYS:
        labels = [_read_label(part, key) for part in parts]
        if None in labels or len(set(labels)) < len(labels):
            continue
        places = {label: i for i, label in enumerate(labels)}
        named = [places.get(_read_label(chunk, key)) for chunk in chunks]
        if any(place is not None for place in named):
            return named
    return [None] * len(chunks)


def _read_label(metadata: Mapping[str, Any], key: str) -> int | str | None:
    value = look_up(metadata, None, key)
    number = as_number(value)
    return str(value) if number is None and value is not None else number


def _name_documents(texts: Sequence[SourceText]) -> list[str]:
    seen: dict[str, int] = {}
    names = []
    for place, text in enumerate(texts):
        name = text.name
        if name is None:
            if _is_part(text.metadata):
                raise _nameless(place, text.metadata)
            name = f"sha256:{document_key(text.text)}"
            seen[name] = seen.get(name, 0) + 1
            name += f"#{seen[name]}" if seen[name] > 1 else ""
        names.append(name)
    return names


def _nameless(place: int, metadata: Mapping[str, Any]) -> MissingDocumentError:
    keys = _find_keys(metadata, (*PART_KEYS, *SECTION_KEYS))
    message = (
        f"Text {place} is a part of a document (its metadata has {', '.join(keys)}) "
        "and does not say which. Give every part the name of its document "
        "before splitting, for example as metadata['source']."
    )
    found = tuple(sorted(map(str, metadata)))
    return MissingDocumentError(message, rank=place, keys=found)


def _order_parts(
    name: str, places: Sequence[int], texts: Sequence[SourceText]
) -> list[Part]:
    scopes: list[tuple[int | None, int | None, bool]] = []
    read = [read_own_place(text.metadata, text.text) for text in texts]
    known = [place for place in read if place is not None]
    if len(known) == len(texts):
        for text, ((start, _), proof) in zip(texts, known, strict=True):
            written = read_written(text.metadata)
            number = as_number(text.metadata.get(PART_INDEX))
            if written is not None:
                number = written.part
            scopes.append((number, start, proof in PROVED))
    else:
        for text in texts:
            _refuse_chunk(name, text.metadata)
        numbers = part_numbers([text.metadata for text in texts])
        if numbers == [None]:
            _refuse_lone_part(name, texts[0])
        for number, text in zip(numbers, texts, strict=True):
            scopes.append((number, None if text.cut else 0, True))
    parts = [
        Part(place, text, name, *scope)
        for place, text, scope in zip(places, texts, scopes, strict=True)
    ]
    return sorted(parts, key=lambda part: (part.number or 0, part.offset or 0))


def _column(metadatas: Sequence[Mapping[str, Any]], key: str) -> list[int] | None:
    """Return numbers from 0 by one key, if every text has one under it."""
    if look_up(metadatas[0], None, key) is None:
        return None
    first = 1 if key in _FROM_ONE else 0
    values = [as_number(look_up(metadata, None, key)) for metadata in metadatas]
    numbers = [value - first for value in values if value is not None]
    return numbers if len(numbers) == len(values) and min(numbers) >= 0 else None


def are_own_chunks(texts: Sequence[SourceText]) -> bool:
    """Tell whether oprag placed all of them, and their texts have the noted length."""
    return all(read_own_place(text.metadata, text.text) for text in texts)


def _refuse_chunk(name: str, metadata: Mapping[str, Any]) -> None:
    keys = _find_keys(metadata, _OF_CHUNKS)
    if not keys:
        return
    message = (
        f"Document {name!r}: a text to be split already is a chunk (it has "
        f"{', '.join(keys)}), and it is not certain where it begins in the document: "
        "positions in it would not be positions in the document. Split the document "
        "itself, or take oprag's splitters for both steps."
    )
    raise PositionError(message, kind="unscoped_position", document=name, keys=keys)


def _refuse_lone_part(name: str, text: SourceText) -> None:
    keys = _find_keys(text.metadata, PART_KEYS)
    if not keys and not text.has_neighbours:
        return
    what = ", ".join(f"{key}={look_up(text.metadata, None, key)!r}" for key in keys)
    message = (
        f"Document {name!r}: a part of it ({what or 'a section'}) was handed over "
        "alone and has no number that orders parts. Hand over all parts of the "
        "document together, in reading order."
    )
    found = tuple(sorted(map(str, text.metadata)))
    raise MissingPositionError(message, document=name, rank=0, keys=found)


def _is_part(metadata: Mapping[str, Any]) -> bool:
    return bool(_find_keys(metadata, (*PART_KEYS, *SECTION_KEYS)))


def _find_keys(metadata: Mapping[str, Any], keys: Sequence[str]) -> tuple[str, ...]:
    return tuple(key for key in keys if look_up(metadata, None, key) is not None)
