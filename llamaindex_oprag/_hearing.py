"""One reply: what of it may be handed on, and what it took."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, Iterator

from llama_index.core.schema import QueryBundle

from llamaindex_oprag._metering import Meter
from llamaindex_oprag._reading import Reader
from oprag.calls import Reply, TokenUsage
from oprag.routing import Ask, DeclineDetector, Fetch, Routed, Steps, advance


class Hearing:
    """Listens to the reply of one rung.

    Args:
        reader: Who replies.
        ask: What was asked for.
        query: The question.
    """

    def __init__(self, reader: Reader, ask: Ask, query: QueryBundle) -> None:
        self.reader = reader
        self.query = query
        self.rung = ask.rung.name
        self.context = ask.context
        self.handed_on = False
        """Whether anything of it was."""
        self._meter = Meter()
        self._detector = DeclineDetector(rules=reader.rules, final=ask.final)
        self._began = time.perf_counter()
        self._seconds = 0.0

    @property
    def answered(self) -> bool | None:
        """Whether it answers; None when that is not known yet."""
        decision = self._detector.decision
        return None if decision == "undecided" else decision == "answering"

    def ask(self, *, streaming: bool) -> Iterator[str]:
        """Have the context read; give the reply piece by piece."""
        return self.reader.ask(
            self.query, self.context.text, self._meter, streaming=streaming
        )

    def aask(self, *, streaming: bool) -> AsyncGenerator[str, None]:
        """Async version of `ask`."""
        return self.reader.aask(
            self.query, self.context.text, self._meter, streaming=streaming
        )

    def feed(self, piece: str) -> str:
        """Take the next piece; give what may be handed on."""
        return self._released(self._detector.feed(piece))

    def finish(self) -> str:
        """End the reply; give what else may be handed on."""
        self._seconds = time.perf_counter() - self._began
        return self._released(self._detector.finish())

    def _released(self, text: str) -> str:
        self.handed_on = self.handed_on or bool(text)
        return text

    def answer(self, steps: Steps, failure: Exception | None) -> Fetch | Ask | Routed:
        """Tell the steps what was said, or that the model failed; give the next."""
        if failure is not None:
            return advance(steps, error=failure)
        text = self._detector.text
        reply = Reply(
            text,
            self._detector.decision == "declined",
            self._meter.reported or self._counted(),
            self._seconds,
            self._meter.calls,
        )
        return advance(steps, reply)

    def _counted(self) -> TokenUsage:
        prompt = self.reader.prompt(self.context.text, self.query.query_str)
        return TokenUsage.counted(prompt, self._detector.text, self.reader.counter)
