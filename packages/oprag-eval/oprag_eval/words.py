"""BM25 over the chunks of an evaluation: what `bm25=True` is in a retriever."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from oprag.chunk import Hit
from oprag.documents import (
    Bm25,
    ChunkStore,
    SearchedChunks,
    SearchFilter,
    StoredChunk,
    Wanted,
)


class WordSearch:
    """Ranks chunks by the words of a question.

    Args:
        hits: The chunks; they are named by their places in this list.
    """

    def __init__(self, hits: Sequence[Hit]) -> None:
        self._chunks = _Chunks(hits)
        self._bm25 = Bm25(self._chunks)

    def fused(self, question: str, found: Sequence[int], k: int) -> list[int]:
        """Fuse what a vector search found with what the question's words find.

        Returns:
            Places, best first; see `oprag.documents.Bm25.fused`.
        """
        known = [(str(place), self._chunks.text(place)) for place in found]
        searched = SearchedChunks(self._chunks, SearchFilter(), "bm25")
        fused = self._bm25.fused(question, known, k, searched)
        return [
            found[each] if isinstance(each, int) else int(each.id) for each in fused
        ]


class _Chunks(ChunkStore):
    name = "the chunks of an evaluation"

    def __init__(self, hits: Sequence[Hit]) -> None:
        self._all = [
            StoredChunk(hit.text, hit.metadata, str(place))
            for place, hit in enumerate(hits)
        ]

    def text(self, place: int) -> str:
        return self._all[place].text

    def read(
        self,
        wanted: Wanted | None = None,  # noqa: ARG002 -- nobody asks for documents
        ids: Collection[str] | None = None,
    ) -> Iterable[StoredChunk]:
        return self._all if ids is None else [self._all[int(each)] for each in ids]

    def count(self) -> int:
        return len(self._all)
