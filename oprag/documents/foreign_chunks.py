"""Chunks of a document that another program than oprag wrote.

A vector store is often filled twice: by a framework's own loader and splitter, and by
oprag. Nothing in the store says so, but the names of the files and the texts show it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import PurePosixPath

from oprag.chunk import Hit
from oprag.documents.whole_text import rebuild
from oprag.errors import OpragError
from oprag.locating import held, squeeze
from oprag.metadata import DOC_KEY, DOC_URI
from oprag.positions import document_name
from oprag.stores import StoredChunk, is_own


class ForeignChunks:
    """Finds the chunks of a document that another program than oprag wrote.

    Args:
        hits: Chunks of a store as `make_hit` reads them; those that oprag wrote are
            passed over.
    """

    def __init__(self, hits: Iterable[Hit]) -> None:
        self._hits: dict[str, list[Hit]] = {}
        for hit in hits:
            for name in () if is_own(hit.metadata) else _collect_names(hit):
                self._hits.setdefault(name, []).append(hit)
        self._by_file: dict[str, list[str]] = {}
        for name in sorted(self._hits):
            self._by_file.setdefault(_split_path(name)[-1], []).append(name)

    def of(self, name: str, chunks: Sequence[StoredChunk]) -> list[Hit]:
        """Return those of one document, those by its own name first.

        A chunk is of the document if it has the same name: `file_path`, `source`,
        `ref_doc_id` or another known key holds it. It also is if one of the two names
        is a path that ends like the other (`/home/ann/a.txt`, `docs/a.txt` and
        `a.txt`), and the document holds the text of more than half of all chunks by
        that name. White space does not count.
        """
        found = {id(hit): hit for hit in self._hits.get(name, ())}
        first = chunks[0].metadata if chunks else {}
        users = {k: v for k, v in first.items() if k not in (DOC_KEY, DOC_URI)}
        for own in dict.fromkeys(filter(None, [name, document_name(users)])):
            flat = ""
            for other in self._by_file.get(_split_path(own)[-1], ()):
                if other == name or not _is_end(_split_path(own), _split_path(other)):
                    continue
                flat = flat or _squeeze_document(name, chunks)
                pieces = [squeeze(hit.text) for hit in self._hits[other]]
                if 2 * len(held(flat, pieces)) > sum(map(bool, pieces)):
                    found |= {id(hit): hit for hit in self._hits[other]}
        return [*found.values()]


def _split_path(name: str) -> tuple[str, ...]:
    return PurePosixPath(name.replace("\\", "/")).parts or (name,)


def _is_end(one: tuple[str, ...], other: tuple[str, ...]) -> bool:
    """Return whether one of two paths is the end of the other."""
    size = min(len(one), len(other))
    return one[-size:] == other[-size:]


def _collect_names(hit: Hit) -> set[str]:
    named = (document_name(hit.metadata), hit.document, hit.metadata.get("ref_doc_id"))
    return {str(name) for name in named} - {"None", ""}


def _squeeze_document(name: str, chunks: Sequence[StoredChunk]) -> str:
    """Return a document without its white space; empty if it is not there whole."""
    with suppress(OpragError):
        return squeeze(rebuild(name, chunks, exact=False, warns=False).text)
    return ""
