"""Pieces of an answer as LlamaIndex's responses, whole or streamed."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Generator, Sequence
from contextlib import aclosing, closing
from dataclasses import dataclass
from typing import Any, Protocol

from llama_index.core.base.response.schema import (
    AsyncStreamingResponse,
    Response,
    StreamingResponse,
)
from llama_index.core.schema import NodeWithScore


class Answering(Protocol):
    """A question that is being answered."""

    @property
    def retrieved(self) -> Sequence[NodeWithScore]:
        """What was retrieved for it."""

    def source_nodes(self) -> list[NodeWithScore]:
        """What was read for the answer, as far as is known, in reading order."""

    def metadata(self) -> dict[str, Any]:
        """The response's metadata, as far as is known."""


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
        """Read the rest of the stream; give the whole answer."""
        self._drain()
        return super().get_response()

    def _drain(self) -> None:
        for _ in self.response_gen:
            pass


def respond(
    question: Answering, pieces: Generator[str, None, None], *, streaming: bool
) -> Response | StreamingResponse:
    """Return the answer as a response.

    Args:
        question: Whose answer it is.
        pieces: The answer; nothing has been asked before the first is.
        streaming: Whether to return as soon as the first piece is there. Metadata
            and source nodes are complete when the last one is.
    """
    if not streaming:
        text = "".join(pieces)
        return Response(text, question.source_nodes(), question.metadata())
    first = next(pieces, None)
    response = _RecordedResponse(pieces, question.source_nodes(), question.metadata())
    response.response_gen = _recorded(question, first, pieces, response)
    return response


def _recorded(
    question: Answering,
    first: str | None,
    pieces: Generator[str, None, None],
    response: StreamingResponse,
) -> Generator[str, None, None]:
    with closing(pieces):
        text = first or ""
        if first is not None:
            yield first
        for piece in pieces:
            text += piece
            yield piece
        _complete(question, response, text)


async def arespond(
    question: Answering, pieces: AsyncGenerator[str, None], *, streaming: bool
) -> Response | AsyncStreamingResponse:
    """Async version of `respond`.

    A stream asks nothing before it is read: LlamaIndex reads that of a tool in
    another event loop, and a reply that was begun in one cannot be read on in
    another. Until then the source nodes are those that were retrieved.
    """
    if not streaming:
        text = "".join([piece async for piece in pieces])
        return Response(text, question.source_nodes(), question.metadata())
    response = AsyncStreamingResponse(
        pieces, list(question.retrieved), question.metadata()
    )
    response.response_gen = _arecorded(question, pieces, response)
    return response


async def _arecorded(
    question: Answering,
    pieces: AsyncGenerator[str, None],
    response: AsyncStreamingResponse,
) -> AsyncGenerator[str, None]:
    async with aclosing(pieces):
        text = ""
        async for piece in pieces:
            text += piece
            yield piece
        _complete(question, response, text)


def _complete(
    question: Answering,
    response: StreamingResponse | AsyncStreamingResponse,
    text: str,
) -> None:
    """Write what is known at the end into the response, which others may hold."""
    response.response_txt = text
    metadata = question.metadata()
    response.metadata = response.metadata or {}
    response.metadata.update(metadata)
    read: list[NodeWithScore] = question.source_nodes()
    response.source_nodes[:] = read
