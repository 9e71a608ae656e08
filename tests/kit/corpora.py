"""Hypothesis strategies: documents, the chunks made of them, and what was retrieved."""

from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

from oprag.metadata import text_hash

ALPHABET = "ab .,\n\r\té漢字🙂👩‍🚀\u0301"
"""Letters, white space, an accent, CJK, emoji with a joiner, a combining mark."""

texts = (
    st.text(ALPHABET, max_size=60) | st.text(max_size=40) | st.just("same line\n" * 6)
)


@dataclass(frozen=True)
class Piece:
    """A chunk by construction: its document, its span, its text."""

    document: str
    start: int
    end: int
    text: str
    ordinal: int


@dataclass(frozen=True)
class Retrieval:
    """Sources, and pieces of them in the order a retriever gave (best first)."""

    sources: dict[str, str]
    pieces: tuple[Piece, ...]

    @property
    def texts(self) -> list[str]:
        return [piece.text for piece in self.pieces]

    def metadatas(self, style: str = "own") -> list[dict[str, Any]]:
        return [metadata(piece, style) for piece in self.pieces]


STYLES = ("own", "langchain", "llamaindex", "ordinal", "float", "digits")


def metadata(piece: Piece, style: str) -> dict[str, Any]:
    """The piece's position as different writers put it."""
    if style == "own":
        return {
            "doc_key": piece.document,
            "char_start": piece.start,
            "char_end": piece.end,
            "chunk_hash": text_hash(piece.text),
        }
    if style == "langchain":
        return {"source": piece.document, "start_index": piece.start}
    if style == "llamaindex":
        return {
            "ref_doc_id": piece.document,
            "start_char_idx": piece.start,
            "end_char_idx": piece.end,
        }
    if style == "ordinal":
        return {"source": piece.document, "chunk_index": piece.ordinal}
    if style == "float":
        return {"source": piece.document, "start_index": float(piece.start)}
    return {"source": piece.document, "start_index": str(piece.start)}


@st.composite
def chunkings(draw: st.DrawFn, document: str, text: str) -> list[Piece]:
    """Consecutive windows of a text, with or without overlap, perhaps with gaps."""
    size = draw(st.integers(1, 12))
    overlap = draw(st.integers(0, size - 1))
    skip = draw(st.integers(0, 3))
    step = size - overlap + skip
    starts = range(0, max(len(text), 1), step)
    spans = [(start, min(start + size, len(text))) for start in starts]
    return [
        Piece(document, start, end, text[start:end], ordinal)
        for ordinal, (start, end) in enumerate(spans)
        if end > start
    ]


@st.composite
def retrievals(draw: st.DrawFn, *, min_pieces: int = 0) -> Retrieval:
    """One to three documents, and a ranked sample of their chunks with duplicates."""
    sources: dict[str, str] = {}
    pool: list[Piece] = []
    for name in ("b.txt", "a.txt", "10.txt")[: draw(st.integers(1, 3))]:
        text = draw(texts)
        sources[name] = text
        pool += draw(chunkings(name, text))
    if not pool:
        sources["b.txt"] = "filler"
        pool = [Piece("b.txt", 0, 6, "filler", 0)]
    picked = draw(st.lists(st.sampled_from(pool), min_size=min_pieces, max_size=20))
    return Retrieval(sources, tuple(picked))
