"""Carry out a dialogue with a model: sync or async, whole or streamed.

An adapter adds how its framework calls models and what its output looks like: it has a
subclass of `Answering` for each method, and one of `ModelCall`.
"""

from __future__ import annotations

import inspect
import json
import time
from abc import ABC, abstractmethod
from collections.abc import (
    AsyncGenerator,
    AsyncIterator,
    Awaitable,
    Callable,
    Generator,
    Iterable,
    Mapping,
)
from contextlib import aclosing, closing
from dataclasses import dataclass
from functools import partial
from typing import Any, Generic, TypeVar

from oprag.calls.decline import DeclineDetector
from oprag.calls.dialogue import CallModel, Dialogue, PromptSize, ReadDocuments, Reply
from oprag.calls.ledger import Ledger, TokenUsage
from oprag.calls.prompts import DECLINE_TOOL, Decline
from oprag.calls.replies import Finish, StreamEnd
from oprag.documents import DocumentSource
from oprag.effects import Finished, advance, run_in_thread
from oprag.tokens import NamedTokenCounter

OutT = TypeVar("OutT")

_ANSWER_TOKENS = 256
_WINDOW_DIVISOR = 8
"""A small window keeps one eighth for the answer."""


def run_dialogue(
    answering: Answering[OutT], *, streaming: bool
) -> Generator[OutT, None, None]:
    """Carry out the dialogue of a question; yield the output.

    The dialogue is a generator: it yields a request, and is sent its result or has the
    error thrown into it, until it ends.

    Args:
        answering: The question.
        streaming: Whether to ask models for streams, so that output begins early.
    """
    dialogue = answering.begin_dialogue()
    request = advance(dialogue)
    while not isinstance(request, Finished):
        result: Any = None
        failure = None
        try:
            if isinstance(request, ReadDocuments):
                source: Any = answering.source
                result = [source.read(name) for name in request.names]
            else:
                call = answering.start_call(request)
                with closing(call.stream_outputs(streaming=streaming)) as outputs:
                    yield from outputs
                result = call.make_reply()
        except Exception as error:  # noqa: BLE001 -- the dialogue decides
            failure = error
        request = advance(dialogue, result, failure)
    yield from answering.format_end(request.result)


async def arun_dialogue(
    answering: Answering[OutT], *, streaming: bool
) -> AsyncGenerator[OutT, None]:
    """Async version of `run_dialogue`; work on long texts blocks no event loop."""
    dialogue = await run_in_thread(answering.begin_dialogue)
    request = await run_in_thread(partial(advance, dialogue))
    while not isinstance(request, Finished):
        result: Any = None
        failure = None
        try:
            if isinstance(request, ReadDocuments):
                source: Any = answering.source
                result = await source.aread_all(request.names)
            else:
                call = await run_in_thread(partial(answering.start_call, request))
                async with aclosing(
                    call.astream_outputs(streaming=streaming)
                ) as outputs:
                    async for output in outputs:
                        yield output
                result = await run_in_thread(call.make_reply)
        except Exception as error:  # noqa: BLE001 -- the dialogue decides
            failure = error
        request = await run_in_thread(partial(advance, dialogue, result, failure))
    for output in answering.format_end(request.result):
        yield output


class Answering(ABC, Generic[OutT]):
    """The answering of one question: its dialogue, its models and its output.

    A `prompt` is a name everywhere here. Each may be for a separate model.

    Args:
        options: With `prices`, `answer_tokens` and `max_context_tokens`, which is a
            number of tokens or has one for each prompt.
        counter: Counts tokens.
    """

    decline: Decline = "word"
    """The rule to recognise a refusal."""
    source: DocumentSource | None = None
    """Full texts by name, for dialogues that read documents."""
    streams_drafts = True
    """Whether drafts of the answer are streamed too."""

    def __init__(self, options: Any, counter: NamedTokenCounter) -> None:
        self.ledger = Ledger(options.prices)
        self.counter = counter
        self.has_output = False
        """Whether any text of a reply has been output."""
        self._call_options = options

    @abstractmethod
    def begin_dialogue(self) -> Dialogue[Any]:
        """Begin the dialogue of the method."""

    @abstractmethod
    def start_call(self, request: CallModel) -> ModelCall:
        """Begin a call of a model."""

    @abstractmethod
    def format_text(self, request: CallModel, text: str) -> Iterable[OutT]:
        """Return the output for text of a reply that may be shown."""

    @abstractmethod
    def format_end(self, result: Any) -> Iterable[OutT]:
        """Return the output at the end of the dialogue, from its result."""

    @abstractmethod
    def name_model(self, prompt: str) -> str | None:
        """Name the model that a prompt is for; None if the model does not say."""

    @abstractmethod
    def count_prompt(self, prompt: str, values: Mapping[str, str]) -> int:
        """Count the tokens of a prompt as sent, filled with values."""

    @abstractmethod
    def read_window(self, prompt: str) -> int | None:
        """Return the window that the prompt's model states, in tokens."""

    @abstractmethod
    def read_longest_answer(self, prompt: str) -> int | None:
        """Return the longest answer that the prompt's model states, in tokens."""

    def measure_prompt(self, prompt: str) -> PromptSize:
        """Return how long a prompt is, and how long it may be."""
        window = self._call_options.max_context_tokens
        if isinstance(window, Mapping):
            window = window.get(prompt)
        if not window:
            window = self.read_window(prompt)
        answer_tokens = self._call_options.answer_tokens
        if not answer_tokens:
            answer_tokens = self.read_longest_answer(prompt)
        if not answer_tokens:
            answer_tokens = _ANSWER_TOKENS
            if window:
                answer_tokens = min(answer_tokens, window // _WINDOW_DIVISOR)
        tool_tokens = 0
        if self.decline == "tool":
            tool_tokens = self.counter(json.dumps(DECLINE_TOOL))

        def count_tokens(values: Mapping[str, str]) -> int:
            return self.count_prompt(prompt, values) + tool_tokens

        return PromptSize(count_tokens, window, answer_tokens)


@dataclass(frozen=True)
class ClientCalls:
    """Four ways to send one prompt by a framework's client."""

    ask: Callable[[], Any]
    """Returns the whole reply."""
    aask: Callable[[], Awaitable[Any]]
    """Async version of `ask`."""
    stream: Callable[[], Iterable[Any]]
    """Returns the pieces of the reply."""
    astream: Callable[[], AsyncIterator[Any] | Awaitable[AsyncIterator[Any]]]
    """Async version of `stream`."""


class ModelCall(ABC):
    """A model call in progress, and the reply received so far.

    Args:
        answering: The question that this call belongs to.
        request: The prompt, its values and their purpose.
        client: Sends the prompt.
    """

    def __init__(
        self, answering: Answering[Any], request: CallModel, client: ClientCalls
    ) -> None:
        self.usage: TokenUsage | None = None
        """As the provider reported it so far; `read_piece` sets it."""
        self.called: set[str] = set()
        """Names of the tools that the reply calls; `read_piece` adds them."""
        self._answering = answering
        self._request = request
        self._client = client
        self._may_stream = answering.streams_drafts or request.purpose != "draft"
        self._end = StreamEnd()
        # Self-Route first attempts an answer from the chunks (`CallModel.purpose`).
        # Only an attempt may end in a refusal, so only its text is held back.
        final = request.purpose != "attempt"
        self._detector = DeclineDetector(answering.decline, final=final)
        self._began = time.perf_counter()
        # If the call breaks off, the ledger still gets the reply until then.
        answering.ledger.reply_so_far = self.make_reply

    @abstractmethod
    def read_piece(self, piece: Any, *, whole: bool) -> str:
        """Return the text of a piece of the reply; note the usage and calls in it.

        Args:
            piece: The piece, as the client gives it.
            whole: Whether it is the whole reply.
        """

    def is_empty_stream(self, error: Exception) -> bool:  # noqa: ARG002 -- for subclasses
        """Return whether a client's error only says that a stream had no piece."""
        return False

    def stream_outputs(self, *, streaming: bool) -> Generator[Any, None, None]:
        """Call the model; yield the output for its reply.

        Args:
            streaming: Whether to ask for a stream, if this call may be streamed.
        """
        streaming = streaming and self._may_stream
        try:
            for piece in self._receive(streaming=streaming):
                yield from self._take_piece(piece, whole=not streaming)
        except Exception as error:  # of any client; all but one kind is raised
            if not self.is_empty_stream(error):
                raise
        yield from self._end_reply(streaming=streaming)

    async def astream_outputs(self, *, streaming: bool) -> AsyncGenerator[Any, None]:
        """Async version of `stream_outputs`."""
        streaming = streaming and self._may_stream
        try:
            async with aclosing(self._areceive(streaming=streaming)) as pieces:
                async for piece in pieces:
                    for output in self._take_piece(piece, whole=not streaming):
                        yield output
        except Exception as error:  # of any client; all but one kind is raised
            if not self.is_empty_stream(error):
                raise
        for output in self._end_reply(streaming=streaming):
            yield output

    def _receive(self, *, streaming: bool) -> Generator[Any, None, None]:
        """Yield the pieces of a stream, or the whole reply as the only piece."""
        if streaming:
            yield from self._client.stream()
        else:
            yield self._client.ask()

    async def _areceive(self, *, streaming: bool) -> AsyncGenerator[Any, None]:
        """Async version of `_receive`."""
        if not streaming:
            yield await self._client.aask()
            return
        pieces = self._client.astream()
        if inspect.isawaitable(pieces):
            pieces = await pieces
        try:
            async for piece in pieces:
                yield piece
        finally:
            # If the caller stops early, close the stream now, not when it is
            # garbage-collected.
            if isinstance(pieces, AsyncGenerator):
                await pieces.aclose()

    def _take_piece(self, piece: Any, *, whole: bool) -> list[Any]:
        self._end.see(piece)
        text = self.read_piece(piece, whole=whole)
        return self._format(self._detector.feed(text, called=self.called))

    def _end_reply(self, *, streaming: bool) -> list[Any]:
        if streaming:
            self._end.check_complete()
        was_cut = self._end.cut is not None
        return self._format(self._detector.finish(cut=was_cut, called=self.called))

    def _format(self, released: str) -> list[Any]:
        """Return the output for text that the detector releases."""
        if not released:
            return []
        output = list(self._answering.format_text(self._request, released))
        if output:
            self._answering.has_output = True
        return output

    def make_reply(self) -> Reply:
        """Return the reply: all of it, or as much as came before a call broke off."""
        seconds = time.perf_counter() - self._began
        return Reply(
            self._detector.text,
            self._has_declined,
            self._read_usage(),
            seconds,
            finish=self._find_finish(),
            shown=self._detector.shown,
        )

    @property
    def _has_declined(self) -> bool:
        return self._detector.declined is True

    def _read_usage(self) -> TokenUsage:
        """Return the tokens as the provider reported them, or else counted here."""
        if self.usage is not None:
            return self.usage
        size = self._answering.measure_prompt(self._request.prompt)
        sent = size.tokens(self._request.values)
        received = self._answering.counter(self._detector.text)
        return TokenUsage(sent, received, estimated=True)

    def _find_finish(self) -> Finish | None:
        """Return how the reply ended, if not normally; a refusal is a normal end."""
        if self._has_declined:
            return self._end.cut
        if self.called:
            return "call"
        if self._end.cut is None and not self._detector.text.strip():
            return "empty"
        return self._end.cut
