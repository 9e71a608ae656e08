"""The source of a chunk: by the names that it carries, else by its text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache, lru_cache

from oprag.chunk import Hit
from oprag.documents import SourceLike, document_source
from oprag.errors import DocumentNotFoundError, UnreadableFileError
from oprag.locating import held, squeeze
from oprag.metadata import DOC_KEY, DOC_VERSION, uri_of
from oprag.metadata import document_key as key_of
from oprag.positions import DocumentKey, identify_document
from oprag.stores import is_own

_NAMES = ("file_path", "source", "file_name", "filename", "url", "title")
"""Keys that may hold a name that the source knows, if the identity is another one."""

_KEPT = 64
"""The number of documents whose texts are kept, those read last."""
_LISTED = 3
"""The most names of given documents that are shown."""


class Sources:
    """Full texts, found for chunks.

    Args:
        documents: The texts. If they can be listed (`DocumentSource.names`), they are
            searched for chunks that carry no name. A source with a `readings(name)`
            method may give several texts of one document, such as the raw and the
            displayed text of an HTML file.
    """

    def __init__(self, documents: SourceLike) -> None:
        self._source = document_source(documents)
        self.texts = lru_cache(_KEPT)(self._find_texts)
        """The candidate texts of each name, the likeliest first."""
        self._knows = cache(lambda name: bool(self.texts(name)))

    def group(
        self, chunks: Sequence[Hit], document_key: DocumentKey | None
    ) -> tuple[dict[str, list[int]], list[int]]:
        """Group chunks by the document that they are from.

        Chunks that oprag indexed stay with the document that they name. Other chunks
        without a known name are looked for in all texts, if these can be listed. They
        belong to a document if no other holds their text.

        Returns:
            The numbers of the chunks of each document, in the order of `chunks`, and
            those of the chunks for which none was found.
        """
        found = [self._find_known_name(chunk, document_key) for chunk in chunks]
        pairs = enumerate(zip(found, chunks, strict=True))
        nameless = [i for i, (n, c) in pairs if n is None and not is_own(c.metadata)]
        for i, holder in self._match_by_text(chunks, nameless):
            found[i] = holder
        groups: dict[str, list[int]] = {}
        for i, name in enumerate(found):
            if name is not None:
                groups.setdefault(name, []).append(i)
        return groups, [i for i, name in enumerate(found) if name is None]

    def sought(self, hit: Hit, document_key: DocumentKey | None) -> str:
        """List the names by which a chunk's source was looked for, and the known names.

        If the documents cannot be listed, the known names are left out.
        """
        tried = dict.fromkeys(_list_names(hit, document_key))
        tried.pop(str(hit.metadata.get(DOC_KEY)), None)  # says nothing to people
        names = " and ".join(map(repr, tried))
        wanted = f"looked for {names}" if names else "names no document"
        there = sorted(map(str, self._source.names()))
        if not there:
            return wanted
        more = f" and {len(there) - _LISTED:,} more" if len(there) > _LISTED else ""
        return f"{wanted}; given are {', '.join(map(repr, there[:_LISTED]))}{more}"

    def _find_known_name(self, chunk: Hit, key: DocumentKey | None) -> str | None:
        """Return the first of a chunk's names that the source knows."""
        stored = chunk.source.metadata
        own = is_own(stored) and DOC_VERSION in stored
        for name in _list_names(chunk, key):
            if own and key_of(name) != stored[DOC_KEY]:
                continue
            if self._knows(name):
                return name
        return None

    def _find_texts(self, name: str) -> tuple[str, ...]:
        readings = getattr(self._source, "readings", None)
        try:
            return tuple(readings(name)) if readings else (self._source.get(name),)
        except (DocumentNotFoundError, UnreadableFileError):
            return ()

    def _match_by_text(
        self, chunks: Sequence[Hit], nameless: Sequence[int]
    ) -> Iterator[tuple[int, str]]:
        """Yield chunks, and the only document that holds their text."""
        pieces = [squeeze(chunks[i].text) for i in nameless]
        holders: list[list[str]] = [[] for _ in nameless]
        for name in sorted(map(str, self._source.names())) if any(pieces) else ():
            texts = self.texts(name)
            for at in set().union(*(held(squeeze(text), pieces) for text in texts)):
                holders[at].append(name)
        for i, found in zip(nameless, holders, strict=True):
            if len(found) == 1:
                yield i, found[0]


def _list_names(hit: Hit, document_key: DocumentKey | None) -> Iterator[str]:
    identity = identify_document(hit, document_key)
    key = identity.key if identity else ""
    yield from (name for name in (uri_of(hit.metadata, key), key) if name)
    for other in _NAMES:
        value = hit.metadata.get(other)
        if isinstance(value, str) and value not in {"", "None"}:
            yield value
