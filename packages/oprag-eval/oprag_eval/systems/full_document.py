"""The whole documents: what retrieval is measured against (long context)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from oprag.chunk import Chunk
from oprag.context import ContextOptions
from oprag.routing import (
    FullDocument,
    RouteOptions,
    chunks_of_documents,
    context_of_documents,
)
from oprag_eval.bench import Bench
from oprag_eval.contexts import Context
from oprag_eval.data import Question
from oprag_eval.reading import Reader
from oprag_eval.splittings import Splitting
from oprag_eval.system import Count, Piece
from oprag_eval.systems.dialogue import BenchModel
from oprag_eval.systems.middle_cut import CUTS, WindowOverflow

REPLY_TOKENS = 1024
"""Tokens of the window that are kept for the reply."""

BASELINE_OVERFLOW: WindowOverflow = "truncate_middle"
"""What long context reads of documents that do not fit; ∞Bench's."""

_CHUNKS = Splitting("sentences", 100)
"""What is ranked where the documents do not fit; any will do."""


@dataclass(frozen=True, kw_only=True)
class FullDocuments(Reader):
    """Reads the documents whole, or as much of them as the model's window takes.

    They stand in the order of the set. Without a known window (`Bench.window`)
    everything is sent, and it is for the provider to refuse it. Whether a text was
    read whole stands with every answer.
    """

    name: str = "full-document"
    window_overflow: WindowOverflow = BASELINE_OVERFLOW
    """As a baseline it cuts out the middle, as ∞Bench does. `"order_preserving"`
    retrieves what is kept, and so is no long context but retrieval."""
    reserved: Count = REPLY_TOKENS
    """Tokens of the window that are kept for the reply."""

    budgeted = False
    """What is read is decided by the window."""

    def context(
        self,
        question: Question,
        budget: int | None,  # noqa: ARG002 -- it has none
        bench: Bench,
    ) -> Context:
        """Return what is read.

        Raises:
            ContextWindowError: Nothing of them fits.
        """
        options = ContextOptions(token_counter=bench.counter)
        size = BenchModel(question, bench, self.reserved).size("full")
        documents = [FullDocument(d.doc_id, d.text) for d in bench.documents(question)]
        chunks: list[Chunk] = []
        whole = options.separator.join(document.text for document in documents)
        if self.window_overflow == "order_preserving" and size.excess(whole):
            ranked = bench.ranked(question, _CHUNKS)
            chunks = chunks_of_documents(ranked, options)
        route = RouteOptions(
            rungs=(),
            context=options,
            named=False,  # as in the papers
            cut=CUTS[self.window_overflow],
        )
        read_of = context_of_documents(documents, chunks, route, size)
        pieces = pieces_of(read_of.excerpts)
        tokens = bench.counter(read_of.text)
        return Context(read_of.text, pieces, tokens, "", whole=read_of.whole)


def pieces_of(excerpts: Any) -> tuple[Piece, ...]:
    """Return which slices of which documents were read."""
    return tuple(Piece(each.document.name, *each.span) for each in excerpts)
