"""The whole documents: what retrieval is measured against (long context)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from oprag.chunk import FullText
from oprag.context import ContextOptions
from oprag.routing import Excerpt, RouteOptions, context_of_documents
from oprag_eval.bench import Bench
from oprag_eval.data import Question
from oprag_eval.single_call import Reader
from oprag_eval.system import Context, Piece
from oprag_eval.systems.dialogue import BenchModel
from oprag_eval.systems.middle_cut import cut_middle


@dataclass(frozen=True, kw_only=True)
class FullDocuments(Reader):
    """Reads the documents whole, or without their middle where the window is too small.

    They come in the order of the set. Without a known window (`Bench.window`)
    everything is sent, and it is for the provider to refuse it. Every answer says
    whether the texts were read whole.
    """

    name: str = "full-document"

    budgeted = False
    """The window decides how much is read."""

    def context(
        self,
        question: Question,
        budget: int | None,  # noqa: ARG002 -- it has none
        bench: Bench,
    ) -> Context:
        """Return what is read."""
        size = BenchModel(question, bench).size("full")
        documents = [
            Excerpt.whole(d.doc_id, FullText(d.text)) for d in bench.documents(question)
        ]
        route = RouteOptions(
            rungs=(),
            context=ContextOptions(token_counter=bench.counter),
            named=False,  # as in the papers
            cut=cut_middle,
        )
        read_of = context_of_documents(documents, [], route, size)
        text, pieces = read_of.text, pieces_of(read_of.excerpts)
        return Context(text, pieces, bench.counter(text), whole=read_of.whole)


def pieces_of(excerpts: Any) -> tuple[Piece, ...]:
    """Return the slices of documents that were read."""
    return tuple(Piece(each.name, *each.span) for each in excerpts)
