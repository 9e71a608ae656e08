"""Self-Route as a response synthesizer: nodes in, the answer of some rung out."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Generator, Sequence
from contextlib import aclosing
from typing import Any, NoReturn

import llama_index.core.instrumentation as instrument
from llama_index.core.base.response.schema import RESPONSE_TYPE
from llama_index.core.callbacks import CallbackManager, CBEventType, EventPayload
from llama_index.core.instrumentation.events.synthesis import (
    SynthesizeEndEvent,
    SynthesizeStartEvent,
)
from llama_index.core.prompts.mixin import PromptDictType, PromptMixinType
from llama_index.core.response_synthesizers import BaseSynthesizer
from llama_index.core.schema import NodeWithScore, QueryBundle, QueryType

from llamaindex_oprag._question import Question
from llamaindex_oprag._responding import arespond, respond
from llamaindex_oprag._self_route_options import SelfRouteOptions
from oprag.driving import Fetch, Routed, advance
from oprag.errors import InvalidOptionError, RoutingError
from oprag.routing_cost import RoutingCostMonitor

__all__ = ["SelfRouteSynthesizer"]

_dispatcher = instrument.get_dispatcher(__name__)  # type: ignore[attr-defined]  # re-exported there without an __all__


class SelfRouteSynthesizer(BaseSynthesizer):
    """Answers from retrieved nodes, or from their documents.

    What LlamaIndex's query engines hold and chat engines reach into: they set
    `_streaming` to say how the next answer is wanted.

    Args:
        options: See `SelfRouteOptions`.
        callback_manager: Set on every model, as LlamaIndex's synthesizers do.
        streaming: Whether to return as soon as an answer begins.
    """

    def __init__(
        self,
        options: SelfRouteOptions,
        *,
        callback_manager: CallbackManager,
        streaming: bool = False,
    ) -> None:
        super().__init__(
            llm=options.llm, callback_manager=callback_manager, streaming=streaming
        )
        for llm in options.rung_llms.values():
            llm.callback_manager = callback_manager
        self.options = options
        self._monitor = RoutingCostMonitor()
        self._known_tokens: dict[str, int] = {}

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
        """Answer from nodes, best first.

        Raises:
            RungFailedError: The model failed on a rung.
            OpragError: As `oprag.driving.route` raises it.
        """
        _dispatcher.event(SynthesizeStartEvent(query=query))
        question = self._question(query, nodes, additional_source_nodes)
        payload: dict[str, Any] = {EventPayload.QUERY_STR: question.query.query_str}
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
        """Do the same as `synthesize`, awaiting models and documents."""
        _dispatcher.event(SynthesizeStartEvent(query=query))
        question = self._question(query, nodes, additional_source_nodes)
        payload: dict[str, Any] = {EventPayload.QUERY_STR: question.query.query_str}
        with self._callback_manager.event(CBEventType.SYNTHESIZE, payload) as event:
            pieces = self._apieces(question, streaming=self._streaming)
            response = await arespond(question, pieces, streaming=self._streaming)
            event.on_end(payload={EventPayload.RESPONSE: response})
        _dispatcher.event(SynthesizeEndEvent(query=query, response=response))
        return response

    def _question(
        self,
        query: QueryType,
        nodes: Sequence[NodeWithScore],
        additional: Sequence[NodeWithScore] | None,
    ) -> Question:
        bundle = QueryBundle(query) if isinstance(query, str) else query
        return Question(
            self.options, bundle, nodes, self._known_tokens, additional or ()
        )

    def _pieces(
        self, question: Question, *, streaming: bool
    ) -> Generator[str, None, None]:
        """Take the steps of a question; give what may be handed on of its answer."""
        request = advance(question.steps)
        while not isinstance(request, Routed):
            if isinstance(request, Fetch):
                request = advance(question.steps, question.texts(request))
                continue
            hearing = question.hear(request)
            failure = None
            try:
                for piece in hearing.ask(streaming=streaming):
                    if released := hearing.feed(piece):
                        yield released
            except Exception as error:  # noqa: BLE001 -- the steps raise it again
                failure = error
            if failure is None and (released := hearing.finish()):
                yield released
            request = hearing.answer(question.steps, failure)
        if rest := question.end(request):
            yield rest
        self._monitor.observe(question.ledger)

    async def _apieces(
        self, question: Question, *, streaming: bool
    ) -> AsyncGenerator[str, None]:
        """Do the same as `_pieces`, awaiting models and documents."""
        request = advance(question.steps)
        while not isinstance(request, Routed):
            if isinstance(request, Fetch):
                request = advance(question.steps, await question.atexts(request))
                continue
            hearing = question.hear(request)
            failure = None
            try:
                async with aclosing(hearing.aask(streaming=streaming)) as pieces:
                    async for piece in pieces:
                        if released := hearing.feed(piece):
                            yield released
            except Exception as error:  # noqa: BLE001 -- the steps raise it again
                failure = error
            if failure is None and (released := hearing.finish()):
                yield released
            request = hearing.answer(question.steps, failure)
        if rest := question.end(request):
            yield rest
        self._monitor.observe(question.ledger)

    def get_response(
        self, query_str: str, text_chunks: Sequence[str], **response_kwargs: Any
    ) -> NoReturn:
        """Refuse: bare texts say nothing of their documents."""
        message = (
            "Self-Route answers from nodes, whose documents it may have to read: call "
            "query, or synthesize with nodes, instead of get_response with texts."
        )
        raise RoutingError(message)

    async def aget_response(
        self, query_str: str, text_chunks: Sequence[str], **response_kwargs: Any
    ) -> NoReturn:
        """Refuse, as `get_response` does."""
        self.get_response(query_str, text_chunks)

    def _get_prompts(self) -> PromptDictType:
        return dict(self.options.prompts.templates)

    def _get_prompt_modules(self) -> PromptMixinType:
        outside = self.options.outside
        return {} if outside is None else {"response_synthesizer": outside.synthesizer}

    def _update_prompts(self, prompts_dict: PromptDictType) -> None:
        names = list(self._get_prompts())
        for name, prompt in prompts_dict.items():
            if ":" in name:  # of the synthesizer from outside
                continue
            if name not in names:
                message = (
                    f"There is no prompt {name!r}. The prompts are {', '.join(names)}."
                )
                raise InvalidOptionError(message, option=name, value=prompt)
            self.options.prompts.replace(name, prompt)
