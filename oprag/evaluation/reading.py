"""A context read in one call: the last step of most systems."""

from __future__ import annotations

from collections.abc import Mapping

from oprag.calls import TokenUsage
from oprag.evaluation.asking import answer_call, read_reply
from oprag.evaluation.bench import Bench
from oprag.evaluation.contexts import Context
from oprag.evaluation.data import Question
from oprag.evaluation.system import Attempt

_NO_USAGE: Mapping[str, TokenUsage] = {}
_NO_CALLS: Mapping[str, int] = {}


async def read(
    question: Question,
    context: Context,
    bench: Bench,
    *,
    choice: str = "",
    usage: Mapping[str, TokenUsage] = _NO_USAGE,
    calls: Mapping[str, int] = _NO_CALLS,
) -> Attempt:
    """Have a context read, and the question answered from it.

    Args:
        question: With options it is asked as a multiple-choice question.
        context: What is read.
        bench: Holds the model.
        choice: See `Attempt`.
        usage: Of the stages before, by name.
        calls: Of the stages before, by name.
    """
    style = bench.answer_style
    completion = await bench.model.complete(answer_call(question, context.text, style))
    reading = read_reply(completion.text, question, style)
    return Attempt(
        prediction=reading.prediction,
        answered=reading.answered,
        reply=completion.text,
        pieces=context.pieces,
        context_tokens=context.tokens,
        chunk_set=context.chunk_set,
        choice=choice,
        usage={**usage, "answer": completion.usage},
        calls={**calls, "answer": 1},
    )
