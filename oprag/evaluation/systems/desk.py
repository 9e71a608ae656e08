"""What Self-Route's steps have to know of an evaluation's model and prompts."""

from __future__ import annotations

from oprag.calls import RungEntry
from oprag.evaluation.asking import answer_call
from oprag.evaluation.bench import Bench
from oprag.evaluation.data import Question
from oprag.routing import Desk, PromptSize, Rung


def prompt_size(question: Question, bench: Bench, reserved: int) -> PromptSize:
    """Say how long the prompt of a question is, and may be.

    Args:
        question: The question that it asks.
        bench: Its counter counts, its window bounds.
        reserved: Tokens kept free for the reply.
    """

    def tokens(context: str) -> int:
        call = answer_call(question, context, bench.answer_style)
        return bench.counter(call.prompt)

    return PromptSize(tokens, bench.window, reserved)


class QuestionDesk(Desk):
    """The desk of one question: one model reads every rung, with the same prompt.

    Args:
        question: The question.
        bench: Model, counter, window.
        reserved: Tokens kept free for the reply.
    """

    sent_text = None

    def __init__(self, question: Question, bench: Bench, reserved: int) -> None:
        self._size = prompt_size(question, bench, reserved)
        self._model = bench.model.name

    def size(self, rung: Rung) -> PromptSize:  # noqa: ARG002 -- of every rung the same
        """Return the size of the question's prompt."""
        return self._size

    def model(self, rung: Rung) -> str:  # noqa: ARG002 -- of every rung the same
        """Name the model."""
        return self._model

    def decided(self, entry: RungEntry) -> None:
        """Take no note: the ledger holds it."""
