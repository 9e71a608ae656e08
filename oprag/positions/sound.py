"""Chunks of which nothing is doubtful, read by columns: sooner than one by one.

Those of oprag's own splitters mostly are: each has its document and its span, those of
one document are of one text, and where two overlap they agree. Then there is nothing to
decide, and of thousands few have to become a `Chunk`. Where anything is otherwise, the
chunks are read as `reading.py` says, with the same result.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import compress, repeat
from operator import contains, eq, itemgetter, not_, sub
from types import NoneType
from typing import Any, overload

from oprag.chunk import Chunk, Hit
from oprag.metadata import (
    CHAR_END,
    CHAR_SPANS,
    CHAR_START,
    DOC_KEY,
    DOC_VERSION,
    PART_INDEX,
    version_text,
)
from oprag.positions.keys import HIGHEST, NO_NAME, as_number, read_documents
from oprag.positions.reading import placed_chunks
from oprag.positions.validity import overlaps_agree


class SoundChunks(Sequence[Chunk]):
    """Checked chunks without duplicates, best first, each made when it is asked for.

    It is made anew each time: equal, and not the same object.
    """

    def __init__(
        self,
        hits: Sequence[Hit],
        ranks: Sequence[int],
        scopes: Sequence[Any],
        starts: Sequence[int],
        ends: Sequence[int],
    ) -> None:
        self.ranks = ranks
        """The rank of each: its place among the hits."""
        self.scopes = scopes
        """Of which text each is: the document's key, with the part where there are
        parts."""
        self.starts = starts
        """Its first character in that text."""
        self.ends = ends
        """One past its last."""
        self._hits = hits

    def __len__(self) -> int:
        return len(self.ranks)

    def __iter__(self) -> Iterator[Chunk]:
        return iter(self.chosen(range(len(self))))

    @overload
    def __getitem__(self, at: int) -> Chunk: ...
    @overload
    def __getitem__(self, at: slice) -> SoundChunks: ...
    def __getitem__(self, at: int | slice) -> Chunk | SoundChunks:
        if isinstance(at, slice):
            columns = self.ranks[at], self.scopes[at], self.starts[at], self.ends[at]
            return SoundChunks(self._hits, *columns)
        return self.chosen([at])[0]

    def chosen(self, numbers: Sequence[int]) -> list[Chunk]:
        """Make some of them together, which is quicker than one by one."""
        ranks = [self.ranks[number] for number in numbers]
        hits = [self._hits[rank] for rank in ranks]
        parts = [hit.metadata.get(PART_INDEX) for hit in hits]
        starts = [self.starts[number] for number in numbers]
        ends = [self.ends[number] for number in numbers]
        documents = read_documents(hits)
        return placed_chunks(
            hits, ranks, documents, parts=parts, starts=starts, ends=ends
        )


def sound_chunks(hits: Sequence[Hit]) -> SoundChunks | None:
    """Read hits of which nothing is doubtful; else return None.

    Args:
        hits: Best first; the index becomes the rank.

    Returns:
        The same chunks as `read_chunks` gives, checked and without duplicates.
    """
    metadatas, texts = [hit.metadata for hit in hits], [hit.text for hit in hits]
    spans = _spans(metadatas, [*map(len, texts)])
    scopes = None if spans is None else _scopes(metadatas)
    if spans is None or scopes is None:
        return None
    starts, ends = spans
    ranks: Sequence[int] = range(len(hits))
    places = [*zip(scopes, starts, ends, strict=True)]
    best = dict(zip(reversed(places), reversed(ranks), strict=True))
    if len(best) < len(places):
        first = [*map(best.__getitem__, places)]
        once = [*map(eq, first, ranks)]
        again = compress(ranks, map(not_, once))
        if any(texts[rank] != texts[first[rank]] for rank in again):
            return None
        ranks, scopes, starts, ends, texts = (
            [*compress(column, once)] for column in (ranks, scopes, starts, ends, texts)
        )
    if not overlaps_agree(scopes, starts, ends, texts):
        return None
    return SoundChunks(hits, ranks, scopes, starts, ends)


def _spans(
    metadatas: Sequence[Mapping[str, Any]], lengths: Sequence[int]
) -> tuple[list[int], list[int]] | None:
    """First characters and ends, where each text has one span of its length."""
    # What else may be a mapping may make up values, or keep them.
    if {*map(type, metadatas)} != {dict}:
        return None
    try:
        starts = [*map(itemgetter(CHAR_START), metadatas)]
        ends = [*map(itemgetter(CHAR_END), metadatas)]
    except KeyError:
        return None
    plain = (
        {*map(type, starts), *map(type, ends)} == {int}
        and 0 not in lengths
        and [*map(sub, ends, starts)] == lengths
        and min(starts) >= 0
        and max(ends) <= HIGHEST
        and not any(map(contains, metadatas, repeat(CHAR_SPANS)))
    )
    return (starts, ends) if plain else None


def _scopes(metadatas: Sequence[Mapping[str, Any]]) -> Sequence[Any] | None:
    """Of which text each is, where all say it in the same way, and of one version."""
    scopes: Sequence[Any] = [metadata.get(DOC_KEY) for metadata in metadatas]
    if {*map(type, scopes)} != {str} or not {*scopes}.isdisjoint(NO_NAME):
        return None
    if any(map(contains, metadatas, repeat(PART_INDEX))):
        parts = [metadata.get(PART_INDEX) for metadata in metadatas]
        if {*map(type, parts)} != {int} or {*map(as_number, {*parts})} != {*parts}:
            return None
        scopes = [*zip(scopes, parts, strict=True)]
    versions = [metadata.get(DOC_VERSION) for metadata in metadatas]
    return scopes if _of_one_version(scopes, versions) else None


def _of_one_version(scopes: Sequence[Any], versions: Sequence[Any]) -> bool:
    """Whether the chunks of each text are of one version, where they say of which."""
    # Others may be equal and be written in two ways, or raise when they are compared.
    if not {*map(type, versions)} <= {str, NoneType}:
        return False
    said = {*zip(scopes, versions, strict=True)}
    texts = {(scope, version_text(version)) for scope, version in said}
    told = [scope for scope, text in texts if text]
    return len(told) == len({*told})
