"""Carry out a dialogue with a model: sync or async, whole or streamed.

An adapter adds how its framework calls models and what its output looks like.
"""

from __future__ import annotations

import inspect
import json
import math
import time
from abc import ABC, abstractmethod
from collections.abc import (
    AsyncGenerator,
    Awaitable,
    Callable,
    Generator,
    Iterable,
    Mapping,
)
from contextlib import aclosing, closing
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


class ModelCall(ABC):
    """A model call in progress, and the reply received so far.

    Args:
        answering: The question that this call belongs to.
        request: The prompt, its values and their purpose.
        ways: Four functions that call the model: for the whole reply (sync, async),
            then for a stream (sync, async).
    """

    def __init__(
        self,
        answering: Answering[Any],
        request: CallModel,
        ways: Iterable[Callable[[], Any]],
    ) -> None:
        self.usage: TokenUsage | None = None
        """As the provider reported it."""
        self.called: set[str] = set()
        """Names of the tools that the reply calls."""
        self._answering = answering
        self._request = request
        self._may_stream = answering.streams_drafts or request.purpose != "draft"
        self._ask, self._aask, self._stream, self._astream = ways
        self._end = StreamEnd()
        # Self-Route first attempts an answer from the chunks (`CallModel.purpose`).
        # Only an attempt may end in a refusal, so only its text is held back.
        final = request.purpose != "attempt"
        self._detector = DeclineDetector(answering.decline, final=final)
        self._began = time.perf_counter()
        # If the call breaks off, the ledger still gets what came until then.
        answering.ledger.under_way = self.reply

    @abstractmethod
    def read(self, piece: Any, *, whole: bool) -> str:
        """Return the text of a reply or a piece; note the usage and calls in it."""

    def means_empty(self, error: Exception) -> bool:  # noqa: ARG002 -- of clients
        """Return whether an error only says that a stream had no piece."""
        return False

    def stream_outputs(self, *, streaming: bool) -> Generator[Any, None, None]:
        """Call the model; yield the output for its reply."""
        streaming &= self._may_stream
        try:
            for piece in self._stream() if streaming else [self._ask()]:
                yield from self._take_piece(piece, whole=not streaming)
        except Exception as error:
            if not self.means_empty(error):
                raise
        yield from self._end_reply(streaming=streaming)

    async def astream_outputs(self, *, streaming: bool) -> AsyncGenerator[Any, None]:
        """Async version of `stream_outputs`."""
        streaming &= self._may_stream
        pieces = self._astream() if streaming else _yield_only(self._aask())
        if inspect.isawaitable(pieces):
            pieces = await pieces
        try:
            async for piece in pieces:
                for output in self._take_piece(piece, whole=not streaming):
                    yield output
        except Exception as error:
            if not self.means_empty(error):
                raise
        finally:
            # If the caller stops early, close the stream now, not when it is
            # garbage-collected.
            if isinstance(pieces, AsyncGenerator):
                await pieces.aclose()
        for output in self._end_reply(streaming=streaming):
            yield output

    def _take_piece(self, piece: Any, *, whole: bool) -> list[Any]:
        self._end.see(piece)
        text = self.read(piece, whole=whole)
        return self._emit(self._detector.feed(text, called=self.called))

    def _end_reply(self, *, streaming: bool) -> list[Any]:
        if streaming:
            self._end.check_complete()
        cut = self._end.cut is not None
        return self._emit(self._detector.finish(cut=cut, called=self.called))

    def _emit(self, text: str) -> list[Any]:
        output = [*self._answering.format_piece(self._request, text)] if text else []
        self._answering.shown |= bool(output)
        return output

    def reply(self) -> Reply:
        """Return the reply: all of it, or as much as came before a call broke off."""
        seconds, usage = time.perf_counter() - self._began, self.usage
        answering, request, text = self._answering, self._request, self._detector.text
        if usage is None:
            sent = answering.measure_prompt(request.prompt).tokens(request.values)
            usage = TokenUsage(sent, answering.counter(text), estimated=True)
        declined = self._detector.declined is True
        finish: Finish | None = self._end.cut
        if self.called and not declined:
            finish = "call"
        elif finish is None and not declined and not text.strip():
            finish = "empty"
        shown = self._detector.shown
        return Reply(text, declined, usage, seconds, finish=finish, shown=shown)


async def _yield_only(reply: Awaitable[Any]) -> AsyncGenerator[Any, None]:
    yield await reply


class Answering(ABC, Generic[OutT]):
    """One question: its dialogue, and its model (`oprag.calls.PromptedModel`).

    Args:
        options: With `prices`, `max_context_tokens` and `answer_tokens`.
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
        self.shown = False
        """Whether any text of a reply has been output."""
        self._limits = options

    @abstractmethod
    def dialogue(self) -> Dialogue[Any]:
        """Begin the dialogue of the method."""

    @abstractmethod
    def start_call(self, request: CallModel) -> ModelCall:
        """Begin a call of a model."""

    @abstractmethod
    def format_piece(self, request: CallModel, text: str) -> Iterable[OutT]:
        """Return the output for a piece of a reply that may be shown."""

    @abstractmethod
    def format_end(self, result: Any) -> Iterable[OutT]:
        """Return the output at the end of the dialogue."""

    @abstractmethod
    def model(self, prompt: str) -> str | None:
        """Name the model that a prompt is for; None if the model does not say."""

    @abstractmethod
    def count_prompt(self, prompt: str, values: Mapping[str, str]) -> int:
        """Count the tokens of a prompt as sent, filled with values."""

    @abstractmethod
    def read_limits(self, prompt: str) -> tuple[int | None, int | None]:
        """Return the window and the longest answer that the prompt's model states."""

    def measure_prompt(self, prompt: str) -> PromptSize:
        """Return how long a prompt is, and how long it may be."""
        window, answer = self.read_limits(prompt)
        given = self._limits.max_context_tokens
        window = (given.get(prompt) if isinstance(given, Mapping) else given) or window
        usual = min(_ANSWER_TOKENS, (window or math.inf) // _WINDOW_DIVISOR)
        tool = self.counter(json.dumps(DECLINE_TOOL)) if self.decline == "tool" else 0
        return PromptSize(
            lambda values: self.count_prompt(prompt, values) + tool,
            window,
            self._limits.answer_tokens or answer or int(usual),
        )


def answer(
    answering: Answering[OutT], *, streaming: bool
) -> Generator[OutT, None, None]:
    """Carry out the dialogue of a question; yield the pieces of the output."""
    dialogue = answering.dialogue()
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
                result = call.reply()
        except Exception as error:  # noqa: BLE001 -- the dialogue decides
            failure = error
        request = advance(dialogue, result, failure)
    yield from answering.format_end(request.result)


async def aanswer(
    answering: Answering[OutT], *, streaming: bool
) -> AsyncGenerator[OutT, None]:
    """Async version of `answer`; work on long texts blocks no event loop."""
    dialogue = await run_in_thread(answering.dialogue)
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
                result = await run_in_thread(call.reply)
        except Exception as error:  # noqa: BLE001 -- the dialogue decides
            failure = error
        request = await run_in_thread(partial(advance, dialogue, result, failure))
    for piece in answering.format_end(request.result):
        yield piece
