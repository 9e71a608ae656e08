"""The driver of evaluations: a bench's model with the prompts of one question."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any, TypeVar

from oprag.calls import (
    SENTINEL,
    Decline,
    Dialogue,
    PromptedModel,
    PromptSize,
    ReadDocuments,
    Reply,
    declines,
)
from oprag.chunk import FullText
from oprag.effects import Finished, advance
from oprag_eval.bench import Bench
from oprag_eval.data import Question
from oprag_eval.models import Call
from oprag_eval.requests import answer_call, read_reply
from oprag_eval.system import Step

_ResultT = TypeVar("_ResultT")


class BenchModel(PromptedModel):
    """The model of a bench, asked one question.

    `calls` makes the call of a prompt out of its values; without it the question is
    asked of the `context`. The model may decline the prompts of `routing`. `said`
    gives the part of a reply that counts.
    """

    def __init__(
        self,
        question: Question,
        bench: Bench,
        calls: Callable[[str, Mapping[str, str]], Call] | None = None,
        *,
        routing: Collection[str] = (),
        decline: Decline = "word",
        said: Callable[[str], str] = str,
    ) -> None:
        self._question = question
        self._bench = bench
        self._said = said
        self._routing = routing
        self.steps: list[Step] = []
        """The calls, with their replies."""
        self._call = calls or (
            lambda prompt, values: answer_call(
                question,
                values["context"],
                bench.answer_style,
                bench.wording,
                routing=prompt in routing,
                decline=decline,
            )
        )

    def measure_prompt(self, prompt: str) -> PromptSize:
        """Say how long a prompt is, and may be."""

        def tokens(values: Mapping[str, str]) -> int:
            return self._bench.counter(self._call(prompt, values).sent)

        return PromptSize(tokens, self._bench.window, self._bench.max_reply)

    def name_model(self, prompt: str) -> str:  # noqa: ARG002 -- of every prompt the same
        """Name the model."""
        return self._bench.model.name

    async def carry_out(self, dialogue: Dialogue[_ResultT]) -> _ResultT:
        """Carry out the requests of a dialogue, and return its result."""
        bench = self._bench
        request = advance(dialogue)
        while not isinstance(request, Finished):
            answer: Any
            if isinstance(request, ReadDocuments):
                documents = bench.dataset.documents
                answer = [FullText(documents[name].text) for name in request.names]
            else:
                call = self._call(request.prompt, request.values)
                completion = await bench.model.complete(call)
                text, usage = self._said(completion.text), completion.usage
                answers = read_reply(
                    text,
                    self._question,
                    bench.answer_style,
                    routing=request.prompt in self._routing,
                )
                declined = bool(text.strip()) and not answers
                if call.tool:
                    declined = declines(text, "tool", called=completion.called)
                    text = SENTINEL if declined else text
                self.steps.append(Step(request.prompt, text, declined, usage))
                # Seconds differ from run to run, and no answer holds them.
                answer = Reply(text, declined, usage, seconds=0)
            request = advance(dialogue, answer)
        return request.result
