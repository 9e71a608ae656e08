"""What a store holds of a document besides: chunks of others, copies by other names.

A vector store is often filled twice: by a framework's own loader and splitter, and by
oprag. Nothing in the store says so; the names of the files do, and the texts.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from operator import itemgetter
from pathlib import PurePosixPath
from typing import Any, NamedTuple, Protocol

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
    version_text,
)
from oprag.positions import as_number, document_name

_NO_NAME = (None, "", "None")
_NO_CHARACTER = "\0"
"""Between the texts of two parts or versions, which no chunk reaches over; and after
each part of a path."""


class OwnChunk(Protocol):
    """A chunk of oprag's, in a store or on its way there."""

    @property
    def text(self) -> str:
        """Its text."""

    @property
    def metadata(self) -> Mapping[str, Any]:
        """Its metadata, with oprag's keys."""


class Copies(NamedTuple):
    """What else a store holds of one document, in the order of the store."""

    foreign: list[Hit]
    """Chunks without oprag's keys, which LlamaIndex or LangChain wrote."""
    renamed: list[Hit]
    """Chunks of oprag's, of the same text by another name of the same file."""


class StoredCopies:
    """Finds what a store holds of a document besides oprag's chunks of its name.

    Args:
        hits: All chunks of the store, or all that are looked at, as `stored_hit` reads
            them. They are kept; a sequence that reads them where they lie stays one.
    """

    def __init__(self, hits: Iterable[Hit]) -> None:
        self._hits = hits if isinstance(hits, Sequence) else list(hits)
        self._foreign: dict[str, array[int]] = {}
        self._own: dict[str, array[int]] = {}
        for number, hit in enumerate(self._hits):
            own = is_own(hit.metadata)
            for name in _own_names(hit) if own else _foreign_names(hit):
                groups = self._own if own else self._foreign
                if name not in groups:
                    groups[name] = array("I")
                groups[name].append(number)
        self._ends: dict[tuple[str, ...], list[str]] = {}
        for name in sorted({*self._own, *self._foreign}):
            for end in _ends(name):
                self._ends.setdefault(end, []).append(name)

    def of(self, name: str, chunks: Sequence[OwnChunk]) -> Copies:
        """Return what else there is of one document.

        A chunk without oprag's keys is of the document if it has the same name:
        `file_path`, `source`, `ref_doc_id` or another known key holds it. So it is if
        one of the two names is a path that ends like the other (`/home/ann/a.txt`,
        `docs/a.txt` and `a.txt`), and the document holds the text of more than half of
        all chunks by that name; white space does not count. By such names are also
        oprag's chunks of the same text, as the second half of `doc_version` says.

        Args:
            name: The document's own name.
            chunks: Its chunks as oprag makes them, in any order.
        """
        foreign = {*self._foreign.get(name, ())}
        renamed: set[int] = set()
        others = self._other_names(name, chunks)
        flat = squeeze(_joined(chunks)) if self._foreign.keys() & others else ""
        texts = {_text_of(chunk) for chunk in chunks} - {""}
        for other in others:
            found: Sequence[int] = self._foreign.get(other, ())
            pieces = [squeeze(self._hits[i].text) for i in found]
            if 2 * len(held(flat, pieces)) > sum(map(bool, pieces)):
                foreign.update(found)
            own: Sequence[int] = self._own.get(other, ())
            renamed.update(i for i in own if _text_of(self._hits[i]) in texts)
        return Copies(
            [self._hits[i] for i in sorted(foreign)],
            [self._hits[i] for i in sorted(renamed)],
        )

    def may_hold(self, name: str, chunks: Sequence[OwnChunk]) -> bool:
        """Whether `of` may find anything.

        Args:
            name: The document's own name.
            chunks: Its first chunk, if it has any; the text is not read.
        """
        return name in self._foreign or bool(self._other_names(name, chunks))

    def _other_names(self, name: str, chunks: Sequence[OwnChunk]) -> set[str]:
        """Other names in the store that the document may have."""
        names = {name, *(n for c in chunks[:1] if (n := _users_name(c.metadata)))}
        return {other for each in names for other in self._alike(each)} - {name}

    def _alike(self, name: str) -> Iterator[str]:
        """Yield the names that are the end of a path, or of which it is the end."""
        whole, *shorter = _ends(name)
        yield from self._ends.get(whole, ())
        for end in shorter:
            yield from (n for n in self._ends.get(end, ()) if _ends(n)[0] == end)


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


def _own_names(hit: Hit) -> list[str]:
    name = hit.metadata.get(DOC_URI)
    return [name] if isinstance(name, str) else []


def _foreign_names(hit: Hit) -> list[str]:
    named = (document_name(hit.metadata), hit.document, hit.metadata.get("ref_doc_id"))
    return [*dict.fromkeys(str(name) for name in named if name not in _NO_NAME)]


def _users_name(metadata: Mapping[str, Any]) -> str | None:
    """What the document would be called without oprag's name of it."""
    others = {k: v for k, v in metadata.items() if k not in (DOC_KEY, DOC_URI)}
    return document_name(others)


def _ends(name: str) -> list[tuple[str, ...]]:
    """Return the parts of a path, then those without the first, and so on."""
    parts = PurePosixPath(name.replace("\\", "/")).parts or (name,)
    return [parts[at:] for at in range(len(parts))]


def _text_of(chunk: OwnChunk) -> str:
    return version_text(chunk.metadata.get(DOC_VERSION))


def _joined(chunks: Sequence[OwnChunk]) -> str:
    """The texts in the order of their places, what overlaps only once."""
    placed = []
    for chunk in chunks:
        keys = (PART_INDEX, CHAR_START, CHAR_END)
        part, start, end = (as_number(chunk.metadata.get(key)) or 0 for key in keys)
        scope = (str(chunk.metadata.get(DOC_VERSION)), part)
        placed.append((scope, start, end, chunk.text))
    texts = []
    before, reach = None, 0
    for scope, start, end, text in sorted(placed, key=itemgetter(0, 1, 2)):
        if scope != before:
            texts.append(_NO_CHARACTER)
            before, reach = scope, 0
        texts.append(text[max(reach - start, 0) :])
        reach = max(reach, end)
    return "".join(texts)
