"""One question on its way to an answer: its models with their prompts, its calls."""

from __future__ import annotations

import asyncio
import functools
import time
from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, TypeAlias

from langchain_core.messages import BaseMessage
from langchain_core.messages.ai import UsageMetadata, add_usage
from langchain_core.runnables import Runnable, RunnableConfig
from langchain_core.runnables.utils import AddableDict

from langchain_oprag._answer_run import AnswerRun
from langchain_oprag._models import facts_of
from langchain_oprag._prompts import Question
from oprag.calls import (
    CallModel,
    Ledger,
    PromptSize,
    ReadDocuments,
    Reply,
    StreamEnd,
    TokenUsage,
    frame_tokens,
    text_of,
)
from oprag.documents import DocumentSource
from oprag.routing import Decline, DeclineDetector
from oprag.tokens import NamedTokenCounter


@dataclass(frozen=True, slots=True)
class Retrieve:
    """A request for documents of the retriever."""

    retriever: Runnable[Any, Any]
    query: Any
    config: RunnableConfig
    arguments: Mapping[str, Any]


Step: TypeAlias = Retrieve | ReadDocuments | CallModel | AddableDict
"""What is to be done; an `AddableDict` is a piece of the chain's output."""
Steps: TypeAlias = Generator[Step, Any, None]
"""What came of a step is sent into the generator, an error is thrown into it."""


class Answering(ABC):
    """One question: what it asks for, and who answers (`oprag.calls.PromptedModel`).

    Args:
        options: The chain.
        question: What was asked.
        config: It decides configurable fields, and makes calls children of the run.
        counter: Counts tokens.
    """

    kind: ClassVar[str]
    """What its prompts are called in the tags of the calls."""
    source: DocumentSource
    """Full texts by name, for dialogues that read documents."""
    decline: Decline = "word"
    """How a refusal is recognised."""

    def __init__(
        self,
        options: Any,
        question: Question,
        config: RunnableConfig,
        counter: NamedTokenCounter,
    ) -> None:
        self.ledger = Ledger(options.prices)
        self.question = question
        self.config = config
        self.run = AnswerRun(config, options.get_name(), question.text)
        self.counter = counter
        self.facts: dict[str, Any] = {}
        """What the answer's message says of it, in `response_metadata`."""
        self.reported: dict[str, str] = {}
        """Names of the models as the providers reported them, by prompt."""
        self._chain = options
        self._facts = functools.cache(lambda name: facts_of(self.llm(name), config))

    @abstractmethod
    def steps(self) -> Steps:
        """Answer the question, step by step, in pieces whose sum is the output."""

    @abstractmethod
    def messages(self, prompt: str, values: Mapping[str, str]) -> list[BaseMessage]:
        """Fill a prompt in."""

    @abstractmethod
    def output(self, call: CallModel, text: str) -> Iterator[AddableDict]:
        """Return what is output for a piece of a reply, which may be empty."""

    def begin(self, call: CallModel) -> ModelCall:
        """Begin a call of a model."""
        return ModelCall(self, call)

    def llm(self, prompt: str) -> Runnable[Any, Any]:
        """The model that a prompt is for."""
        llm: Runnable[Any, Any] = self._chain.llm
        return llm

    def model(self, prompt: str) -> str | None:
        """Name the model as the user does, or as it has a price."""
        name, reported = self._facts(prompt).name, self.reported.get(prompt)
        prices = self._chain.prices or {}
        return reported if name is None or reported in prices else name

    def size(self, prompt: str) -> PromptSize:
        """Say how long a prompt is, and may be."""
        facts, chain = self._facts(prompt), self._chain
        return PromptSize.told(
            lambda values: self.tokens(self.messages(prompt, values)),
            prompt,
            windows=(chain.max_context_tokens, facts.window),
            reserved=(chain.answer_tokens, facts.answer_tokens),
        )

    def tokens(self, messages: Sequence[BaseMessage]) -> int:
        """Tokens of a prompt, with what the chat format puts around its messages."""
        tokens = sum(self.counter(text_of(message)) for message in messages)
        return tokens + frame_tokens(len(messages))

    def fetch(self, request: Retrieve | ReadDocuments) -> Any:
        """Retrieve, or read full texts."""
        if isinstance(request, Retrieve):
            return request.retriever.invoke(
                request.query, request.config, **request.arguments
            )
        return [self.source.read(name) for name in request.names]

    async def afetch(self, request: Retrieve | ReadDocuments) -> Any:
        """Async version of `fetch`."""
        if isinstance(request, Retrieve):
            return await request.retriever.ainvoke(
                request.query, request.config, **request.arguments
            )
        return await asyncio.gather(*map(self.source.aread, request.names))


class ModelCall:
    """A call of a model that is under way, and its reply as it comes."""

    def __init__(self, answering: Answering, call: CallModel) -> None:
        tags = [f"{answering.kind}:{call.prompt}"]
        answering.run.tags = tags
        self._answering = answering
        self._call = call
        final = call.purpose != "attempt"
        self._detector = DeclineDetector(answering.decline, final=final)
        self._end = StreamEnd()
        self._usage: UsageMetadata | None = None
        self._model = answering.llm(call.prompt)
        self._messages = answering.messages(call.prompt, call.values)
        # Not `merge_configs`, which brings back the callbacks of the run around it.
        config = answering.run.config
        tags = [*(config.get("tags") or []), *tags]
        self._config: RunnableConfig = {**config, "tags": tags}
        self._began = time.perf_counter()

    def pieces(self, *, streaming: bool) -> Generator[Any, None, None]:
        """Call the model; give its reply piece by piece, or whole."""
        if not streaming:
            yield self._model.invoke(self._messages, self._config)
            return
        yield from self._model.stream(self._messages, self._config)
        self._end.check()

    async def apieces(self, *, streaming: bool) -> AsyncGenerator[Any, None]:
        """Async version of `pieces`."""
        if not streaming:
            yield await self._model.ainvoke(self._messages, self._config)
            return
        pieces = self._model.astream(self._messages, self._config)
        try:
            async for piece in pieces:
                yield piece
            self._end.check()
        finally:
            # A stream that is left must be closed here, not whenever it is collected.
            if isinstance(pieces, AsyncGenerator):
                await pieces.aclose()

    def take(self, piece: Any) -> Iterator[AddableDict]:
        """Take a piece of the reply; return what is output for it."""
        self._end.see(piece)
        if usage := getattr(piece, "usage_metadata", None):
            # The pieces of a stream add up to the whole call.
            self._usage = add_usage(self._usage, usage)
        metadata = getattr(piece, "response_metadata", None) or {}
        if name := metadata.get("model_name"):
            self._answering.reported[self._call.prompt] = name
        return self._answering.output(self._call, self._detector.feed(text_of(piece)))

    def finish(self) -> Iterator[AddableDict]:
        """End the reply; return what else is output."""
        rest = self._detector.finish(cut=self._end.cut is not None)
        return self._answering.output(self._call, rest)

    def reply(self) -> Reply:
        """Return the whole reply, after `finish`."""
        seconds = time.perf_counter() - self._began
        text, answering = self._detector.text, self._answering
        if self._usage is None:
            sent = answering.tokens(self._messages)
            usage = TokenUsage(sent, answering.counter(text), estimated=True)
        else:
            usage = TokenUsage.reported(self._usage)
        declined = self._detector.declined is True
        return Reply(text, declined, usage, seconds, cut=self._end.cut)
