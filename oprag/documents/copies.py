"""Chunks of a document that something else than oprag wrote.

A vector store is often filled twice: by a framework's own loader and splitter, and by
oprag. Nothing in the store says so; the names of the files do, and the texts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from operator import itemgetter
from pathlib import PurePosixPath
from typing import Any, Protocol

from oprag.chunk import Hit
from oprag.locating import held, squeeze
from oprag.metadata import (
    CHAR_END,
    CHAR_START,
    DOC_KEY,
    DOC_URI,
    DOC_VERSION,
    N_CHUNKS,
    PART_INDEX,
    document_key,
)
from oprag.positions import as_number, document_name


class OwnChunk(Protocol):
    """A chunk of oprag's, in a store or on its way there."""

    @property
    def text(self) -> str:
        """Its text."""

    @property
    def metadata(self) -> Mapping[str, Any]:
        """Its metadata, with oprag's keys."""


class ForeignChunks:
    """Finds the chunks of a document that something else than oprag wrote.

    Args:
        hits: Chunks of a store as `stored_hit` reads them; those of oprag's among them
            are passed over.
    """

    def __init__(self, hits: Iterable[Hit]) -> None:
        self._hits: dict[str, list[Hit]] = {}
        for hit in hits:
            for name in () if is_own(hit.metadata) else _names(hit):
                self._hits.setdefault(name, []).append(hit)
        self._by_end: dict[tuple[str, ...], list[str]] = {}
        self._by_path: dict[tuple[str, ...], list[str]] = {}
        for name in self._hits:
            whole, *shorter = _ends(name)
            self._by_path.setdefault(whole, []).append(name)
            for end in (whole, *shorter):
                self._by_end.setdefault(end, []).append(name)

    def of(self, name: str, chunks: Sequence[OwnChunk]) -> list[Hit]:
        """Return those of one document, in the order of the store.

        A chunk is of the document if it has the same name: `file_path`, `source`,
        `ref_doc_id` or another known key holds it. So it is if one of the two names is
        a path that ends like the other (`/home/ann/a.txt`, `docs/a.txt` and `a.txt`),
        and the document holds the text of more than half of all chunks by that name;
        white space does not count.

        Args:
            name: The document's own name.
            chunks: Its chunks as oprag makes them, in any order.
        """
        found = {id(hit): hit for hit in self._hits.get(name, ())}
        names = {name, *(_users_name(chunk.metadata) for chunk in chunks[:1])}
        alike = {other for own in names for other in self._alike(own)} - {name}
        flat = squeeze(_joined(chunks)) if alike else ""
        for other in sorted(alike):
            hits = self._hits[other]
            pieces = [squeeze(hit.text) for hit in hits]
            if 2 * len(held(flat, pieces)) > sum(map(bool, pieces)):
                found |= {id(hit): hit for hit in hits}
        return [*found.values()]

    def _alike(self, name: str) -> Iterator[str]:
        """Yield the names that end like a path, or of which it is the end."""
        whole, *shorter = _ends(name)
        yield from self._by_end.get(whole, ())
        for end in shorter:
            yield from self._by_path.get(end, ())


def is_own(metadata: Mapping[str, Any]) -> bool:
    """Whether a chunk has oprag's key of its document."""
    return isinstance(key := metadata.get(DOC_KEY), str) and bool(key)


def is_own_name_lost(metadata: Mapping[str, Any]) -> bool:
    """Whether a chunk that oprag indexed has no name of which it has the key.

    Another application may use these names for something else.
    """
    indexed = is_own(metadata) and {DOC_VERSION, N_CHUNKS} <= metadata.keys()
    return indexed and name_of_key(metadata) is None


def name_of_key(metadata: Mapping[str, Any]) -> str | None:
    """Return the `doc_uri` of a chunk if `doc_key` is its key, else None."""
    name = metadata.get(DOC_URI)
    proved = isinstance(name, str) and document_key(name) == metadata.get(DOC_KEY)
    return name if proved else None


def _ends(name: str) -> list[tuple[str, ...]]:
    """Return the parts of a path, then those without the first, and so on."""
    parts = PurePosixPath(name.replace("\\", "/")).parts or (name,)
    return [parts[at:] for at in range(len(parts))]


def _names(hit: Hit) -> set[str]:
    named = (document_name(hit.metadata), hit.document, hit.metadata.get("ref_doc_id"))
    return {str(name) for name in named} - {"None", ""}


def _users_name(metadata: Mapping[str, Any]) -> str:
    """What the document would be called without oprag's name of it."""
    others = {k: v for k, v in metadata.items() if k not in (DOC_KEY, DOC_URI)}
    return document_name(others) or ""


def _joined(chunks: Sequence[OwnChunk]) -> str:
    """The texts in the order of their places, what overlaps only once."""
    placed = []
    for chunk in chunks:
        keys = (PART_INDEX, CHAR_START, CHAR_END)
        part, start, end = (as_number(chunk.metadata.get(key)) or 0 for key in keys)
        version = str(chunk.metadata.get(DOC_VERSION))
        placed.append(((version, part), start, end, chunk.text))
    texts = []
    before, reach = None, 0
    for part_of, start, end, text in sorted(placed, key=itemgetter(0, 1, 2)):
        if part_of != before:
            texts.append("\0")  # which no chunk reaches over
            before, reach = part_of, 0
        texts.append(text[max(reach - start, 0) :])
        reach = max(reach, end)
    return "".join(texts)
