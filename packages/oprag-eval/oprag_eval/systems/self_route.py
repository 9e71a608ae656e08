"""Self-Route (arXiv 2407.16833): chunks first, the full documents if they fail."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from oprag.calls import Ledger, strip_reasoning
from oprag.chunk import Hit
from oprag.context import ContextOptions, Order
from oprag.routing import Excerpt, RouteOptions, StepContext, read_steps, route
from oprag.tokens import resolve_token_counter
from oprag_eval.bench import Bench
from oprag_eval.data import Question
from oprag_eval.splittings import Splitting, SplitUnit
from oprag_eval.system import Attempt, Count, Piece, System
from oprag_eval.systems.dialogue import BenchModel


@dataclass(frozen=True, kw_only=True)
class SelfRoute(System):
    """Asks with the best chunks, and climbs while the model declines.

    The steps, the fit to the window and the account are the core's
    (`oprag.routing.route`). The last step's reply is final. The defaults are the
    paper's two steps: 5 chunks of 300 words, then the full documents they are of.

    The last step alone reads all documents of a question, in the order of the set:
    the baseline of retrieval. Without a known window (`Bench.window`) everything is
    sent, and it is for the provider to refuse it. Else the middle of a text that is
    too long is left out.
    """

    name: str = "self-route"
    k: Count = 5
    """Best chunks that the first step reads; the paper has 1, 5, 10, 50 and 100."""
    order: Order = "document"
    """`"rank"` as in the paper: best first, each chunk after its number."""
    unit: SplitUnit = "words"
    """The unit of the chunks' size."""
    size: Count = 300
    """The size of the chunks, in that unit."""
    steps: tuple[Literal["retrieved", "full"], ...] = ("retrieved", "full")
    """The steps; `retrieved` alone is plain retrieval, `full` alone is no route."""
    decline: Literal["word", "tool"] = "word"
    """How the model declines: by a word, or by a call, if it calls tools."""

    budgeted = False
    """`k` and the window decide how much is read."""

    def __post_init__(self) -> None:
        read_steps(self.steps)

    async def attempt(
        self,
        question: Question,
        budget: int | None,  # noqa: ARG002 -- it has none
        bench: Bench,
    ) -> Attempt:
        """Climb the ladder."""
        ledger = Ledger()
        options = RouteOptions(
            steps=read_steps(self.steps),
            context=ContextOptions(order=self.order, token_counter=bench.counter),
            cut=cut_middle,
            named=False,  # as in the papers
        )
        alone = self.steps == ("full",)
        if alone:
            hits = _whole(question, bench)
        else:
            hits = bench.ranked(question, Splitting(self.unit, self.size))[: self.k]
        routing, decline = self.steps[:-1], self.decline
        model = BenchModel(question, bench, routing=routing, decline=decline)
        steps = route(hits, options, model, ledger=ledger)
        routed = await model.carry_out(steps)
        said = strip_reasoning(routed.text or "").strip() if routed.answered else ""
        return Attempt(
            prediction=said,
            reply=routed.text or "",
            pieces=_pieces(routed.context),
            context_tokens=bench.counter(routed.context.text),
            route="" if alone else getattr(routed.step, "name", self.steps[-1]),
            steps=() if alone else tuple(model.steps),
            whole=routed.context.whole if routed.context.excerpts else None,
            usage={"answer": ledger.usage},
        )


def _whole(question: Question, bench: Bench) -> list[Hit]:
    """Return every document of a question as a hit."""
    return [
        Hit(d.text, {"document_id": d.doc_id})
        for d in bench.dataset.documents_of(question)
    ]


def _pieces(context: StepContext) -> tuple[Piece, ...]:
    if context.excerpts:
        return tuple(Piece(each.name, *each.span) for each in context.excerpts)
    return tuple(
        Piece(chunk.text_id, *(chunk.span or (None, None))) for chunk in context.chunks
    )


def cut_middle(
    documents: Sequence[Excerpt], _: Sequence[Hit], room: int, options: RouteOptions
) -> list[Excerpt]:
    """Select the beginning and the end of the documents, read as one text."""
    counter = resolve_token_counter(options.context.token_counter)
    separator = options.context.separator
    if room <= counter(separator):
        return []
    text = separator.join(document.text for document in documents)
    head, tail = middle_of(text, room, counter, mark=separator)
    found = []
    for start, end in ((0, head), (tail, len(text))):
        begin = 0
        for document in documents:
            first, last = max(start - begin, 0), min(end - begin, len(document.text))
            if first < last:
                found.append(document.cut(first, last))
            begin += len(document.text) + len(separator)
    return found


def middle_of(
    text: str, limit: int, token_counter: Callable[[str], int], *, mark: str = ""
) -> tuple[int, int]:
    """Return the middle to leave out, so that a limit of tokens holds.

    Beginning and end get half of the limit each, the mark in the place of the middle
    its share. The counter need not be additive: the result was counted as a whole.

    Source:
        ∞Bench (arXiv 2402.13718) cuts its prompts to the first and last half of the
        window, in tokens. We differ: the cuts fall between characters, so that any
        counter will do.
    """
    room = limit - token_counter(mark)
    while True:
        head = _largest(lambda n: token_counter(text[:n]), len(text), room // 2)
        left = room - token_counter(text[:head])
        most = len(text) - head
        tail = len(text) - _largest(
            lambda n: token_counter(text[len(text) - n :]), most, left
        )
        excess = token_counter(text[:head] + mark + text[tail:]) - limit
        if excess <= 0 or room == 0:
            return head, tail
        # Where the pieces meet, tokens may be cut differently.
        room = max(0, room - excess)


def _largest(tokens: Callable[[int], int], most: int, room: int) -> int:
    """Find how many characters take at most `room` tokens."""
    return bisect_right(range(most + 1), room, key=tokens) - 1
