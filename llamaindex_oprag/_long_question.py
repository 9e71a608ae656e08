"""One question to the long reader: its calls, what was said, what it took."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from llama_index.core.llms import LLM
from llama_index.core.prompts import BasePromptTemplate
from llama_index.core.schema import MetadataMode, NodeWithScore

from llamaindex_oprag._asking import aask, ask
from llamaindex_oprag._llms import answer_tokens_of, name_of, window_of
from llamaindex_oprag._metering import Meter
from llamaindex_oprag._prompts import Sent, fill_in, frame_tokens, sent_text
from oprag.calls import Ledger, Reply, TokenUsage
from oprag.routing import DeclineDetector
from oprag.tokens import NamedTokenCounter
from oprag.units import Call, PromptLength, Reading, read_long

NAMES = {
    "long": {"context_str": "context", "query_str": "question"},
    "short": {
        "examples": "examples",
        "query_str": "question",
        "long_answer": "long_answer",
    },
    "direct": {"context_str": "context", "query_str": "question"},
}
"""LlamaIndex's names of the prompts' variables, and those in oprag's."""


@dataclass(frozen=True, slots=True)
class LongReaderOptions:
    """What the reader was told, checked."""

    llm: LLM
    templates: dict[str, BasePromptTemplate]
    """By the call's name; they may be replaced."""
    examples: int
    one_call_below: int
    max_context_tokens: int | None
    answer_tokens: int | None
    prices: Mapping[str, Sequence[float]] | None
    separator: str
    counter: NamedTokenCounter

    def sent(self, call: Call) -> Sent:
        """The prompt of a call, as it is sent."""
        values = {theirs: call.values[own] for theirs, own in NAMES[call.name].items()}
        return fill_in(self.llm, self.templates[call.name], values)


class LongQuestion:
    """One question, as the calls of `oprag.units.read_long`.

    Args:
        options: See `LongReaderOptions`.
        query: The question.
        texts: What is read.
        nodes: The nodes that it is of.
        additional: Nodes to name as sources besides.
    """

    def __init__(
        self,
        options: LongReaderOptions,
        query: str,
        texts: Sequence[str],
        nodes: Sequence[NodeWithScore] = (),
        additional: Sequence[NodeWithScore] = (),
    ) -> None:
        self.retrieved = nodes
        self.ledger = Ledger(options.prices)
        self._options = options
        self._additional = additional
        self._long_answer: str | None = None
        self._steps = read_long(
            options.separator.join(texts),
            query,
            self,
            ledger=self.ledger,
            token_counter=options.counter,
            examples=options.examples,
            one_call_below=options.one_call_below,
        )

    def first(self) -> Call | Reading:
        """Return the first call, or how it ended."""
        return self._go_on(None, None)

    def take(self, listening: Listening, failure: Exception | None) -> Call | Reading:
        """Tell what came of a call; give the next, or how it ended."""
        if failure is not None:
            return self._go_on(None, failure)
        reply = listening.reply()
        if not listening.call.final:
            self._long_answer = reply.text
        return self._go_on(reply, None)

    def _go_on(self, reply: Reply | None, failure: Exception | None) -> Call | Reading:
        try:
            if failure is not None:
                return self._steps.throw(failure)
            return self._steps.send(reply)  # type: ignore[arg-type]  # None begins
        except StopIteration as end:
            reading: Reading = end.value
            return reading

    def listen(self, call: Call) -> Listening:
        """Begin to listen to the reply of a call."""
        return Listening(self._options, call)

    def length(self, call: Call) -> PromptLength:
        """Say how long the prompt of a call is, and may be."""
        options = self._options
        sent = options.sent(call)
        window = options.max_context_tokens or window_of(options.llm)
        reserved = options.answer_tokens or answer_tokens_of(options.llm, window)
        tokens = options.counter(sent_text(sent)) + frame_tokens(sent)
        return PromptLength(tokens, window, reserved)

    def model(self) -> str | None:
        """Name the model."""
        return name_of(self._options.llm)

    def source_nodes(self) -> list[NodeWithScore]:
        """What was read, in reading order."""
        return [*self.retrieved, *self._additional]

    def metadata(self) -> dict[str, Any]:
        """The response's metadata, as far as is known.

        Returns:
            `long_answer`, `usage` (the ledger), and the metadata of the nodes by their
            ids, as LlamaIndex writes them.
        """
        nodes = {each.node.node_id: each.node.metadata for each in self.source_nodes()}
        usage = self.ledger.to_dict()
        return {**nodes, "long_answer": self._long_answer, "usage": usage}


class Listening:
    """Listens to the reply of one call; a reasoning block before it is left out."""

    def __init__(self, options: LongReaderOptions, call: Call) -> None:
        self.call = call
        self._options = options
        self._sent = options.sent(call)
        self._meter = Meter()
        self._text = DeclineDetector(final=True)
        self._began = time.perf_counter()

    def ask(self, *, streaming: bool) -> Iterator[str]:
        """Make the call; give the reply piece by piece."""
        streaming = streaming and self.call.final
        for piece in ask(
            self._options.llm, self._sent, self._meter, streaming=streaming
        ):
            yield self._text.feed(piece)
        yield self._text.finish()

    async def aask(self, *, streaming: bool) -> AsyncGenerator[str, None]:
        """Async version of `ask`."""
        streaming = streaming and self.call.final
        pieces = aask(self._options.llm, self._sent, self._meter, streaming=streaming)
        try:
            async for piece in pieces:
                yield self._text.feed(piece)
        finally:
            # A stream that is left must be closed here, not whenever it is collected.
            await pieces.aclose()
        yield self._text.finish()

    def reply(self) -> Reply:
        """Return the whole reply."""
        text = self._text.text
        usage = self._meter.reported or TokenUsage.counted(
            sent_text(self._sent), text, self._options.counter
        )
        seconds = time.perf_counter() - self._began
        return Reply(text, False, usage, seconds, self._meter.calls)  # noqa: FBT003 -- it cannot decline


def texts_of(nodes: Sequence[NodeWithScore]) -> list[str]:
    """What LlamaIndex sends for nodes."""
    return [each.node.get_content(metadata_mode=MetadataMode.LLM) for each in nodes]
