"""Which of the texts to be split belong to one document, and where they stand in it.

Readers hand over a document in pieces: a page, a row, a section at a time, each with
the metadata of the whole. Their chunks must neither be mistaken for chunks of
different documents nor share a position or an id.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from oprag.chunk import Hit
from oprag.errors import MissingDocumentError, UnscopedPositionError
from oprag.metadata import CHAR_END, CHAR_START, PART_INDEX, document_key
from oprag.positions import (
    PART_KEYS,
    SCHEMES,
    SECTION_KEYS,
    as_number,
    look_up,
    read_documents,
)

_FOREIGN_STARTS = tuple(
    scheme.start
    for scheme in SCHEMES
    if scheme.characters and scheme.start not in {"", CHAR_START}
)


class Part(NamedTuple):
    """One of the texts to be split."""

    text_index: int
    """Which one, in the order given."""
    number: int | None
    """What is written as `part_index`; None for a document that is one text."""
    offset: int
    """Character of the part at which the text begins; 0 unless it is a chunk."""
    id_name: str
    """The document's name with all that tells this text from the other parts."""


def documents_in_parts(
    texts: Sequence[str],
    metadatas: Sequence[Mapping[str, Any]],
    ids: Sequence[str | None],
) -> dict[str, list[Part]]:
    """Group texts by document, parts in reading order.

    Texts of one document name have to be its parts. They are numbered by the page,
    row or record that the metadata gives, where all have one and no two the same;
    so that pages which are split one call at a time keep their place. Otherwise
    they are numbered from 0, by page or row where all have one, else as given.

    A text that is a chunk of oprag's own splitters is placed where it stands in its
    document.

    A text without a name is a document by itself, named by its id, else by the
    SHA-256 of the text.

    Args:
        texts: Any texts.
        metadatas: One mapping per text.
        ids: One per text; None where it has none.

    Returns:
        Parts by document name, in order of first appearance.

    Raises:
        MissingDocumentError: A page, row or section without a document name.
        UnscopedPositionError: A text already is a chunk, and where it begins in its
            document is not certain.
    """
    names = _names(texts, metadatas, ids)
    groups: dict[str, list[int]] = {}
    for index, name in enumerate(names):
        groups.setdefault(name, []).append(index)
    return {
        name: _parts(name, indexes, texts, metadatas)
        for name, indexes in groups.items()
    }


def _names(
    texts: Sequence[str],
    metadatas: Sequence[Mapping[str, Any]],
    ids: Sequence[str | None],
) -> list[str]:
    hits = [Hit("", metadata) for metadata in metadatas]
    found = read_documents(hits, missing_document="one")
    seen: dict[str, int] = {}
    names = []
    for index, (key, name) in enumerate(found):
        if key:
            names.append(name)
            continue
        _refuse_nameless_part(index, metadatas[index])
        own = ids[index] or f"sha256:{document_key(texts[index])}"
        seen[own] = seen.get(own, 0) + 1
        names.append(own if seen[own] == 1 else f"{own}#{seen[own]}")
    return names


def _refuse_nameless_part(index: int, metadata: Mapping[str, Any]) -> None:
    part_keys = [key for key in (*PART_KEYS, *SECTION_KEYS) if key in metadata]
    if not part_keys:
        return
    message = (
        f"Text {index} is a part of a document (its metadata has "
        f"{', '.join(part_keys)}) and does not say of which one. Give every part the "
        "name of its document before splitting, for example as metadata['source']."
    )
    keys = tuple(sorted(map(str, metadata)))
    raise MissingDocumentError(message, rank=index, keys=keys)


def _parts(
    name: str,
    indexes: Sequence[int],
    texts: Sequence[str],
    metadatas: Sequence[Mapping[str, Any]],
) -> list[Part]:
    own = [metadatas[index] for index in indexes]
    places: list[tuple[int | None, int]]
    if any(CHAR_START in metadata for metadata in own):
        places = [_place_of_chunk(name, texts[i], metadatas[i]) for i in indexes]
    else:
        for metadata in own:
            _refuse_foreign_chunk(name, metadata)
        places = [(number, 0) for number in _numbers(own)]
    parts = [
        Part(index, *place, _id_name(name, place, metadatas[index]))
        for index, place in zip(indexes, places, strict=True)
    ]
    return sorted(parts, key=lambda part: (part.number or 0, part.offset))


def _numbers(metadatas: Sequence[Mapping[str, Any]]) -> list[int | None]:
    """The part number of each text of one document, in the order given."""
    for key in PART_KEYS:
        values = [as_number(look_up(metadata, None, key)) for metadata in metadatas]
        given = [value for value in values if value is not None]
        if len(given) < len(metadatas):
            continue
        if len(set(given)) == len(given):
            return values
        ranks = {place: rank for rank, place in enumerate(_sorted_places(given))}
        return [ranks[place] for place in range(len(given))]
    return [None] if len(metadatas) == 1 else list(range(len(metadatas)))


def _sorted_places(values: Sequence[int]) -> list[int]:
    return sorted(range(len(values)), key=values.__getitem__)


def _place_of_chunk(
    name: str, text: str, metadata: Mapping[str, Any]
) -> tuple[int | None, int]:
    start = as_number(metadata.get(CHAR_START))
    end = as_number(metadata.get(CHAR_END))
    if start is not None and end is not None and end - start == len(text):
        return as_number(metadata.get(PART_INDEX)), start
    raise _already_split(name, (CHAR_START, CHAR_END))


def _refuse_foreign_chunk(name: str, metadata: Mapping[str, Any]) -> None:
    keys = tuple(key for key in _FOREIGN_STARTS if key in metadata)
    if keys:
        raise _already_split(name, keys)


def _already_split(name: str, keys: tuple[str, ...]) -> UnscopedPositionError:
    message = (
        f"Document {name!r}: a text to be split already is a chunk (it has "
        f"{', '.join(keys)}), and it is not certain where it begins in the document: "
        "positions in it would not be positions in the document. Split the document "
        "itself, or take oprag's splitters for both steps."
    )
    return UnscopedPositionError(message, document=name, keys=keys)


def _id_name(
    name: str, place: tuple[int | None, int], metadata: Mapping[str, Any]
) -> str:
    """Equal for two texts only where nothing tells them apart."""
    section = [str(metadata[key]) for key in SECTION_KEYS if key in metadata]
    if place == (None, 0) and not section and CHAR_START not in metadata:
        return name
    return "\0".join([name, *map(str, place), *section])
