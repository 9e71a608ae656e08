"""LlamaIndex's driver: carries out what a question asks for, however it is asked.

Sync and async, whole and streamed, for every method whose dialogue the core writes.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import AsyncGenerator, Callable, Generator, Sequence
from contextlib import aclosing, closing
from dataclasses import dataclass
from functools import partial
from typing import Any
from weakref import ref

import llama_index.core.instrumentation as instrument
from llama_index.core.base.response.schema import (
    RESPONSE_TYPE,
    AsyncStreamingResponse,
    Response,
    StreamingResponse,
)
from llama_index.core.callbacks import CBEventType, EventPayload
from llama_index.core.instrumentation.events.synthesis import (
    SynthesizeEndEvent,
    SynthesizeStartEvent,
)
from llama_index.core.response_synthesizers import BaseSynthesizer
from llama_index.core.schema import NodeWithScore, QueryBundle, QueryType

from llamaindex_oprag._answering import Answering
from oprag.calls import Finished, ReadDocuments, advance
from oprag.tokens import in_thread

_dispatcher = instrument.get_dispatcher(__name__)  # type: ignore[attr-defined]  # re-exported there without an __all__


def answer(answering: Answering, *, streaming: bool) -> Generator[str, None, None]:
    """Do what a question asks for; give the pieces of its answer."""
    dialogue = answering.dialogue()
    request = advance(dialogue)
    while not isinstance(request, Finished):
        result: Any = None
        failure = None
        try:
            if isinstance(request, ReadDocuments):
                result = answering.read(request.names)
            else:
                call = answering.begin(request)
                with closing(call.pieces(streaming=streaming)) as replying:
                    for piece in replying:
                        yield from call.take(piece)
                yield from call.finish()
                result = call.reply()
        except Exception as error:  # noqa: BLE001 -- the dialogue decides
            failure = error
        request = advance(dialogue, result, failure)
    if rest := answering.end(request.result):
        yield rest


async def aanswer(
    answering: Answering, *, streaming: bool
) -> AsyncGenerator[str, None]:
    """Async version of `answer`; what is done with long texts blocks no event loop."""
    dialogue = answering.dialogue()
    request = await in_thread(partial(advance, dialogue))
    while not isinstance(request, Finished):
        result: Any = None
        failure = None
        try:
            if isinstance(request, ReadDocuments):
                result = await answering.aread(request.names)
            else:
                call = await in_thread(partial(answering.begin, request))
                async with aclosing(call.apieces(streaming=streaming)) as replying:
                    async for piece in replying:
                        for released in call.take(piece):
                            yield released
                for released in call.finish():
                    yield released
                result = await in_thread(call.reply)
        except Exception as error:  # noqa: BLE001 -- the dialogue decides
            failure = error
        work = partial(advance, dialogue, result, failure)
        request = await in_thread(work)
    if rest := answering.end(request.result):
        yield rest


@dataclass
class _RecordedResponse(StreamingResponse):
    """A `StreamingResponse` whose text is there after it was iterated over.

    LlamaIndex's own gives the text "None" then, and part of it when iterating was
    broken off.
    """

    def __str__(self) -> str:
        self._drain()
        return super().__str__()

    def get_response(self) -> Response:
        """Read the rest of the stream; return the whole answer."""
        self._drain()
        return super().get_response()

    def _drain(self) -> None:
        for _ in self.response_gen:
            pass


def respond(
    answering: Answering, pieces: Generator[str, None, None], *, streaming: bool
) -> Response | StreamingResponse:
    """Return the answer as a response.

    Args:
        answering: Whose answer it is.
        pieces: The answer; nothing has been asked before the first is.
        streaming: Whether to return as soon as the first piece is there. Metadata
            and source nodes are complete when the last one is.
    """
    if not streaming:
        text = "".join(pieces)
        return Response(text, answering.source_nodes(), answering.metadata())
    first = next(pieces, None)
    response = _RecordedResponse(pieces, answering.source_nodes(), answering.metadata())
    complete = _completing(answering, response)
    response.response_gen = _recorded(first, pieces, complete)
    return response


def _recorded(
    first: str | None,
    pieces: Generator[str, None, None],
    complete: Callable[[str], None],
) -> Generator[str, None, None]:
    with closing(pieces):
        text = first or ""
        if first is not None:
            yield first
        for piece in pieces:
            text += piece
            yield piece
        complete(text)


async def arespond(
    answering: Answering, pieces: AsyncGenerator[str, None], *, streaming: bool
) -> Response | AsyncStreamingResponse:
    """Async version of `respond`.

    A stream asks nothing before it is read: LlamaIndex reads that of a tool in
    another event loop, and a reply that was begun in one cannot be read on in
    another. Until then the source nodes are those that were retrieved.
    """
    if not streaming:
        text = "".join([piece async for piece in pieces])
        await in_thread(answering.source_nodes)
        return Response(text, answering.source_nodes(), answering.metadata())
    response = AsyncStreamingResponse(
        pieces, list(answering.retrieved), answering.metadata()
    )
    complete = _completing(answering, response)
    response.response_gen = _arecorded(answering, pieces, complete)
    return response


async def _arecorded(
    answering: Answering,
    pieces: AsyncGenerator[str, None],
    complete: Callable[[str], None],
) -> AsyncGenerator[str, None]:
    async with aclosing(pieces):
        text = ""
        async for piece in pieces:
            text += piece
            yield piece
        await in_thread(answering.source_nodes)
        complete(text)


def _completing(
    answering: Answering, response: StreamingResponse | AsyncStreamingResponse
) -> Callable[[str], None]:
    """What writes the end of an answer into the response, of which others hold parts.

    The response is not held: it holds the generator that does this, and what only
    refers to itself stays open until Python looks for it.
    """
    held, nodes = ref(response), response.source_nodes
    metadata = response.metadata = response.metadata or {}

    def complete(text: str) -> None:
        metadata.update(answering.metadata())
        nodes[:] = answering.source_nodes()
        if (alive := held()) is not None:
            alive.response_txt = text

    return complete


class DrivenSynthesizer(BaseSynthesizer):
    """What LlamaIndex's query engines hold and chat engines reach into.

    They set `_streaming` to say how the next answer is wanted.
    """

    @abstractmethod
    def _answering(
        self,
        query: QueryBundle,
        nodes: Sequence[NodeWithScore],
        additional: Sequence[NodeWithScore],
    ) -> Answering:
        """Begin to answer a question from nodes."""

    @property
    def streaming(self) -> bool:
        """Whether the next answer is streamed."""
        return self._streaming

    @streaming.setter
    def streaming(self, streaming: bool) -> None:
        self._streaming = streaming

    def synthesize(
        self,
        query: QueryType,
        nodes: list[NodeWithScore],
        additional_source_nodes: Sequence[NodeWithScore] | None = None,
        **response_kwargs: Any,
    ) -> RESPONSE_TYPE:
        """Answer from nodes.

        Raises:
            OpragError: The model failed, or what else the class says.
        """
        _dispatcher.event(SynthesizeStartEvent(query=query))
        bundle = _bundle(query)
        answering = self._answering(bundle, nodes, additional_source_nodes or ())
        payload: dict[str, Any] = {EventPayload.QUERY_STR: bundle.query_str}
        with self._callback_manager.event(CBEventType.SYNTHESIZE, payload) as event:
            pieces = answer(answering, streaming=self._streaming)
            response = respond(answering, pieces, streaming=self._streaming)
            event.on_end(payload={EventPayload.RESPONSE: response})
        _dispatcher.event(SynthesizeEndEvent(query=query, response=response))
        return response

    async def asynthesize(
        self,
        query: QueryType,
        nodes: list[NodeWithScore],
        additional_source_nodes: Sequence[NodeWithScore] | None = None,
        **response_kwargs: Any,
    ) -> RESPONSE_TYPE:
        """Async version of `synthesize`."""
        _dispatcher.event(SynthesizeStartEvent(query=query))
        bundle = _bundle(query)
        begin = partial(self._answering, bundle, nodes, additional_source_nodes or ())
        answering = await in_thread(begin)
        payload: dict[str, Any] = {EventPayload.QUERY_STR: bundle.query_str}
        with self._callback_manager.event(CBEventType.SYNTHESIZE, payload) as event:
            pieces = aanswer(answering, streaming=self._streaming)
            response = await arespond(answering, pieces, streaming=self._streaming)
            event.on_end(payload={EventPayload.RESPONSE: response})
        _dispatcher.event(SynthesizeEndEvent(query=query, response=response))
        return response


def _bundle(query: QueryType) -> QueryBundle:
    return QueryBundle(query) if isinstance(query, str) else query
