"""Self-Route as a response synthesizer: nodes in, the answer of some rung out."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Generator, Sequence
from contextlib import aclosing
from typing import Any, NoReturn

from llama_index.core.callbacks import CallbackManager
from llama_index.core.prompts.mixin import PromptDictType, PromptMixinType
from llama_index.core.schema import NodeWithScore, QueryBundle

from llamaindex_oprag._question import Question
from llamaindex_oprag._self_route_options import SelfRouteOptions
from llamaindex_oprag._stepwise import StepwiseSynthesizer
from oprag.errors import InvalidOptionError, RoutingError
from oprag.routing import Fetch, Routed, RoutingCostMonitor, advance


class SelfRouteSynthesizer(StepwiseSynthesizer[Question]):
    """Answers from retrieved nodes, or from their documents.

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

    def _question(
        self,
        query: QueryBundle,
        nodes: Sequence[NodeWithScore],
        additional: Sequence[NodeWithScore],
    ) -> Question:
        return Question(self.options, query, nodes, self._known_tokens, additional)

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
        """Async version of `_pieces`."""
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
