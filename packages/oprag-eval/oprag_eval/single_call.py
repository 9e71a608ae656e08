"""Systems that choose a context and have it read in one call: most of them."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping

from oprag.calls import TokenUsage
from oprag_eval.bench import Bench
from oprag_eval.data import Question
from oprag_eval.requests import answer_call, read_reply
from oprag_eval.system import Attempt, Context, Step, System

_NO_USAGE: Mapping[str, TokenUsage] = {}


async def read(
    question: Question,
    context: Context,
    bench: Bench,
    *,
    step: Step | None = None,
    usage: Mapping[str, TokenUsage] = _NO_USAGE,
) -> Attempt:
    """Have a context read, and the question answered from it."""
    style = bench.answer_style
    call = answer_call(question, context.text, style, bench.wording)
    completion = await bench.model.complete(call)
    reading = read_reply(completion.text, question, style)
    last = Step("answer", completion.text, not reading.answered, completion.usage)
    return Attempt(
        prediction=reading.prediction,
        answered=reading.answered,
        reply=completion.text,
        pieces=context.pieces,
        context_tokens=context.tokens,
        steps=() if step is None else (step, last),
        whole=context.whole,
        usage={**usage, "answer": completion.usage},
    )


class Reader(System):
    """A system that chooses a context, has it read and the question answered."""

    @abstractmethod
    def context(self, question: Question, budget: int | None, bench: Bench) -> Context:
        """Choose what is read and order it; no model is asked."""

    async def attempt(
        self, question: Question, budget: int | None, bench: Bench
    ) -> Attempt:
        """Read what was chosen and answer."""
        return await read(question, self.context(question, budget, bench), bench)
