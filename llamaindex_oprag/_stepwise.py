"""A response synthesizer whose answer comes in pieces, however it is asked."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import AsyncGenerator, Generator, Sequence
from typing import Any, Generic, TypeVar

import llama_index.core.instrumentation as instrument
from llama_index.core.base.response.schema import RESPONSE_TYPE
from llama_index.core.callbacks import CBEventType, EventPayload
from llama_index.core.instrumentation.events.synthesis import (
    SynthesizeEndEvent,
    SynthesizeStartEvent,
)
from llama_index.core.response_synthesizers import BaseSynthesizer
from llama_index.core.schema import NodeWithScore, QueryBundle, QueryType

from llamaindex_oprag._responding import Answering, arespond, respond

_dispatcher = instrument.get_dispatcher(__name__)  # type: ignore[attr-defined]  # re-exported there without an __all__

_Asked = TypeVar("_Asked", bound=Answering)


class StepwiseSynthesizer(BaseSynthesizer, Generic[_Asked]):
    """What LlamaIndex's query engines hold and chat engines reach into.

    They set `_streaming` to say how the next answer is wanted.
    """

    @abstractmethod
    def _question(
        self,
        query: QueryBundle,
        nodes: Sequence[NodeWithScore],
        additional: Sequence[NodeWithScore],
    ) -> _Asked:
        """Begin with a question on nodes."""

    @abstractmethod
    def _pieces(
        self, question: _Asked, *, streaming: bool
    ) -> Generator[str, None, None]:
        """Answer it; give what may be handed on of the answer."""

    @abstractmethod
    def _apieces(
        self, question: _Asked, *, streaming: bool
    ) -> AsyncGenerator[str, None]:
        """Async version of `_pieces`."""

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
        question = self._question(bundle, nodes, additional_source_nodes or ())
        payload: dict[str, Any] = {EventPayload.QUERY_STR: bundle.query_str}
        with self._callback_manager.event(CBEventType.SYNTHESIZE, payload) as event:
            pieces = self._pieces(question, streaming=self._streaming)
            response = respond(question, pieces, streaming=self._streaming)
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
        question = self._question(bundle, nodes, additional_source_nodes or ())
        payload: dict[str, Any] = {EventPayload.QUERY_STR: bundle.query_str}
        with self._callback_manager.event(CBEventType.SYNTHESIZE, payload) as event:
            pieces = self._apieces(question, streaming=self._streaming)
            response = await arespond(question, pieces, streaming=self._streaming)
            event.on_end(payload={EventPayload.RESPONSE: response})
        _dispatcher.event(SynthesizeEndEvent(query=query, response=response))
        return response


def _bundle(query: QueryType) -> QueryBundle:
    return QueryBundle(query) if isinstance(query, str) else query
