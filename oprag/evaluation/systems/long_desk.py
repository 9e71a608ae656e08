"""What the core's long reader has to know of an evaluation's model and prompts."""

from __future__ import annotations

from oprag.calls import Ledger, Reply, fill_prompt
from oprag.evaluation.asking import answer_call
from oprag.evaluation.bench import Bench
from oprag.evaluation.data import Question
from oprag.evaluation.models import Call
from oprag.units import (
    DIRECT_PROMPT,
    LONG_PROMPT,
    SHORT_PROMPT,
    LongReadDesk,
    PromptLength,
)
from oprag.units import Call as LongCall


class LongReadingDesk(LongReadDesk):
    """The desk of one question; it also carries out the calls.

    Args:
        question: The question. With options, the call that gives the final answer is
            a multiple-choice question.
        bench: Model, counter, window.
        reserved: Tokens kept free for a reply.
    """

    def __init__(self, question: Question, bench: Bench, reserved: int) -> None:
        self.ledger = Ledger()
        self._question = question
        self._bench = bench
        self._reserved = reserved

    def length(self, call: LongCall) -> PromptLength:
        """Return the length of a call's prompt."""
        tokens = self._bench.counter(self._call(call).prompt)
        return PromptLength(tokens, self._bench.window, self._reserved)

    def model(self) -> str:
        """Name the model."""
        return self._bench.model.name

    async def reply(self, call: LongCall) -> Reply:
        """Have a call made."""
        completion = await self._bench.model.complete(self._call(call))
        # Seconds differ from run to run, and no answer holds them.
        return Reply(completion.text, declined=False, usage=completion.usage, seconds=0)

    def _call(self, call: LongCall) -> Call:
        values, options = call.values, self._question.options
        if call.name == "long":
            facts = {**values, "options": options}
            return Call("long_answer", fill_prompt(LONG_PROMPT, **values), facts)
        if options:
            key = "context" if call.name == "direct" else "long_answer"
            return answer_call(self._question, values[key], self._bench.answer_style)
        if call.name == "direct":
            return Call("answer", fill_prompt(DIRECT_PROMPT, **values), values)
        return Call("short_answer", fill_prompt(SHORT_PROMPT, **values), values)
