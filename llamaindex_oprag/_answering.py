"""One question on its way to an answer: its models with their prompts, its calls."""

from __future__ import annotations

import asyncio
import time
from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, Generator, Iterator, Mapping, Sequence
from typing import Any

from llama_index.core.llms import LLM
from llama_index.core.prompts import BasePromptTemplate
from llama_index.core.schema import NodeWithScore

from llamaindex_oprag._llms import answer_tokens_of, name_of, window_of
from llamaindex_oprag._metering import reported_usage
from llamaindex_oprag._prompts import fill, sent_text
from oprag.calls import (
    CallModel,
    Dialogue,
    Ledger,
    PromptSize,
    Reply,
    StreamEnd,
    TokenUsage,
    frame_tokens,
)
from oprag.chunk import FullText
from oprag.documents import DocumentSource
from oprag.routing import Decline, DeclineDetector
from oprag.tokens import NamedTokenCounter

EMPTY_RESPONSE = "Empty Response"
"""What LlamaIndex's synthesizers say where they have no answer."""


class Answering(ABC):
    """One question: what it asks for, and who answers (`oprag.calls.PromptedModel`).

    Args:
        options: With `prices`, `counter`, `max_context_tokens` and `answer_tokens`.
        nodes: What was retrieved.
        additional: Nodes to name as sources besides.
    """

    decline: Decline = "word"
    """How a refusal is recognised."""
    source: DocumentSource | None = None
    """Full texts by name."""

    def __init__(
        self,
        options: Any,
        nodes: Sequence[NodeWithScore],
        additional: Sequence[NodeWithScore],
    ) -> None:
        self.ledger = Ledger(options.prices)
        self.counter: NamedTokenCounter = options.counter
        self.retrieved = nodes
        self.call: ModelCall | None = None
        """The last one that was begun."""
        self._additional = additional
        self._limits = options

    @abstractmethod
    def dialogue(self) -> Dialogue[Any]:
        """Begin the dialogue of the method."""

    @abstractmethod
    def llm(self, prompt: str) -> LLM:
        """The model that a prompt is for."""

    @abstractmethod
    def template(self, prompt: str) -> BasePromptTemplate:
        """The prompt of that name."""

    @abstractmethod
    def end(self, result: Any) -> str:
        """Take note of the end; return what of the answer was not handed on."""

    @abstractmethod
    def nodes_read(self) -> list[NodeWithScore]:
        """What was read for the answer, as far as is known, in reading order."""

    @abstractmethod
    def facts(self) -> dict[str, Any]:
        """Metadata of the response beside nodes and usage, as far as is known."""

    def filled(self, values: Mapping[str, str]) -> Mapping[str, str]:
        """All values of a prompt, from those that the method knows."""
        return values

    def size(self, prompt: str) -> PromptSize:
        """Say how long a prompt is, and may be."""
        llm = self.llm(prompt)

        def tokens(values: Mapping[str, str]) -> int:
            sent = fill(llm, self.template(prompt), self.filled(values))
            messages = 0 if isinstance(sent, str) else len(sent)
            return self.counter(sent_text(sent)) + frame_tokens(messages)

        return PromptSize.told(
            tokens,
            prompt,
            windows=(self._limits.max_context_tokens, window_of(llm)),
            reserved=(self._limits.answer_tokens, answer_tokens_of(llm)),
        )

    def model(self, prompt: str) -> str | None:
        """Name the model; None when it does not say."""
        return name_of(self.llm(prompt))

    def begin(self, request: CallModel) -> ModelCall:
        """Begin a call of a model."""
        self.call = ModelCall(self, request)
        return self.call

    def read(self, names: Sequence[str]) -> list[FullText]:
        """Read full texts."""
        source = self.source
        return [] if source is None else [source.read(name) for name in names]

    async def aread(self, names: Sequence[str]) -> list[FullText]:
        """Async version of `read`."""
        if self.source is None:
            return []
        return await asyncio.gather(*map(self.source.aread, names))

    def source_nodes(self) -> list[NodeWithScore]:
        """What was read, and the additional nodes."""
        return [*self.nodes_read(), *self._additional]

    def metadata(self) -> dict[str, Any]:
        """The response's metadata, as far as is known.

        Returns:
            The facts, `usage` (see `oprag.calls.Ledger.to_dict`), and the metadata of
            the nodes by their ids, as LlamaIndex writes them.
        """
        nodes = {each.node.node_id: each.node.metadata for each in self.source_nodes()}
        return {**nodes, **self.facts(), "usage": self.ledger.to_dict()}


class ModelCall:
    """A call of a model that is under way, and its reply as it comes."""

    def __init__(self, answering: Answering, request: CallModel) -> None:
        self.handed_on = False
        """Whether anything of the reply was."""
        self._answering = answering
        self._llm = answering.llm(request.prompt)
        template = answering.template(request.prompt)
        self._sent = fill(self._llm, template, answering.filled(request.values))
        self._draft = request.purpose == "draft"
        final = request.purpose != "attempt"
        self._detector = DeclineDetector(answering.decline, final=final)
        self._end = StreamEnd()
        self._usage: TokenUsage | None = None
        self._began = time.perf_counter()

    @property
    def text(self) -> str:
        """The reply up to now, a refusal included, without reasoning."""
        return self._detector.text

    def pieces(self, *, streaming: bool) -> Generator[str, None, None]:
        """Call the model; give its reply piece by piece, or whole. Drafts are whole."""
        llm, sent = self._llm, self._sent
        streaming = streaming and not self._draft
        responses: Any
        if isinstance(sent, str):
            complete = llm.stream_complete if streaming else llm.complete
            responses = complete(sent, formatted=True)
        else:
            responses = llm.stream_chat(sent) if streaming else llm.chat(sent)
        if not streaming:
            yield self._seen(responses, streaming=False)
            return
        for response in responses:
            yield self._seen(response, streaming=True)
        self._end.check()

    async def apieces(self, *, streaming: bool) -> AsyncGenerator[str, None]:
        """Async version of `pieces`."""
        llm, sent = self._llm, self._sent
        streaming = streaming and not self._draft
        responses: Any
        if isinstance(sent, str):
            complete: Any = llm.astream_complete if streaming else llm.acomplete
            responses = await complete(sent, formatted=True)
        else:
            responses = await (llm.astream_chat(sent) if streaming else llm.achat(sent))
        if not streaming:
            yield self._seen(responses, streaming=False)
            return
        try:
            async for response in responses:
                yield self._seen(response, streaming=True)
            self._end.check()
        finally:
            # A stream that is left must be closed here, not whenever it is collected.
            if isinstance(responses, AsyncGenerator):
                await responses.aclose()

    def take(self, piece: str) -> Iterator[str]:
        """Take a piece of the reply; give what may be handed on."""
        return self._released(self._detector.feed(piece))

    def finish(self) -> Iterator[str]:
        """End the reply; give what else may be handed on."""
        return self._released(self._detector.finish(cut=self._end.cut is not None))

    def reply(self) -> Reply:
        """Return the whole reply, after `finish`."""
        seconds = time.perf_counter() - self._began
        usage, text = self._usage, self.text
        if usage is None:
            counter = self._answering.counter
            usage = TokenUsage.counted(sent_text(self._sent), text, counter)
        declined = self._detector.declined is True
        return Reply(text, declined, usage, seconds, cut=self._end.cut)

    def _released(self, text: str) -> Iterator[str]:
        if text and not self._draft:
            self.handed_on = True
            yield text

    def _seen(self, response: Any, *, streaming: bool) -> str:
        """Take note of a response, or a part of a streamed one; return its text.

        Of a stream the last part that reports tokens counts: servers that report in
        every part report the sum so far.
        """
        self._end.see(response)
        self._usage = reported_usage(response) or self._usage
        if streaming:
            return response.delta or ""
        message = getattr(response, "message", None)
        return (response.text if message is None else message.content) or ""
