"""One question to Self-Route in LlamaIndex, and the synthesizer that answers it."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NoReturn, Self

import llama_index.core.instrumentation as instrument
from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.callbacks import CallbackManager
from llama_index.core.llms import LLM
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.prompts import BasePromptTemplate
from llama_index.core.prompts.mixin import PromptDictType
from llama_index.core.schema import (
    NodeRelationship,
    NodeWithScore,
    QueryBundle,
    TextNode,
)

from llamaindex_oprag._answering import EMPTY_RESPONSE, Answering
from llamaindex_oprag._best_first import Filling
from llamaindex_oprag._convert import hit_of, node_of
from llamaindex_oprag._driver import DrivenSynthesizer
from llamaindex_oprag._self_route_options import SelfRouteOptions
from llamaindex_oprag._wrapping import search_filter
from llamaindex_oprag.events import SelfRouteEvent
from oprag.calls import Dialogue, Ledger, RungEntry
from oprag.chunk import Chunk
from oprag.context import single_passage
from oprag.documents import DocumentSource
from oprag.errors import RoutingError
from oprag.metadata import DOC_URI, RESULT_KEYS, named_id
from oprag.routing import (
    FIRST_TOKENS,
    Excerpt,
    Routed,
    RungContext,
    only_document,
    route,
)

_dispatcher = instrument.get_dispatcher(__name__)  # type: ignore[attr-defined]  # re-exported there without an __all__


class SelfRouting(Answering):
    """One question on its way up the rungs.

    Args:
        options: See `SelfRouteOptions`.
        query: The question.
        nodes: What was retrieved, best first. Not written to.
        additional: Nodes to name as sources besides.
        chosen: Whether somebody said how many nodes to retrieve.
        widened: Whether there are neighbours behind them.
        source: Full texts by name; None where no rung is full.
    """

    def __init__(
        self,
        options: SelfRouteOptions,
        query: QueryBundle,
        nodes: Sequence[NodeWithScore],
        additional: Sequence[NodeWithScore],
        source: DocumentSource | None,
        *,
        chosen: bool,
        widened: bool,
    ) -> None:
        ledger = Ledger(options.prices, on_entry=self._tell)
        super().__init__(
            ledger,
            options.counter,
            nodes,
            additional,
            max_context_tokens=options.max_context_tokens,
            answer_tokens=options.answer_tokens,
        )
        self.structured = options.structured_output
        self.rules = options.rules
        self.source = source
        self._options = options
        self._query = query
        self._tokens = None if chosen else FIRST_TOKENS
        self._widened = widened
        self._templates = dict(options.templates)
        self._routed: Routed | None = None
        self._made: tuple[RungContext, list[NodeWithScore]] | None = None
        # The context that was read, and the nodes that were made of it.

    def dialogue(self) -> Dialogue[Routed]:
        """Self-Route, rung by rung."""
        source = self.source
        hits = [hit_of(node) for node in self.retrieved]
        names = () if hits or source is None else source.names()
        options = replace(
            self._options.route,
            default_documents=only_document(names),
            retrieved_tokens=self._tokens,
            widened=self._widened,
        )
        return route(hits, options, self, ledger=self.ledger)

    def llm(self, prompt: str) -> LLM:
        """The model of a rung."""
        return self._options.rung_llms.get(prompt, self._options.llm)

    def template(self, prompt: str) -> BasePromptTemplate:
        """The prompt of a rung."""
        full = any(r.full and r.name == prompt for r in self._options.route.rungs)
        return self._templates["full_prompt" if full else "rag_prompt"]

    def filled(self, values: Mapping[str, str]) -> Mapping[str, str]:
        """Add the question."""
        return {**values, "question": self._query.query_str}

    def end(self, result: Routed) -> str:
        """Take note of the end; return what of the answer was not handed on.

        That is an earlier refusal where the last rung was skipped, and LlamaIndex's
        own words where there was nothing to read.
        """
        self._routed = result
        self._options.problems.tell(result.problems)
        if self.call is not None and self.call.handed_on:
            return ""
        outcome = result.outcome
        return EMPTY_RESPONSE if outcome.rung is None else outcome.text or ""

    def nodes_read(self) -> list[NodeWithScore]:
        """What was read for the answer, as far as is known, in reading order."""
        if self._routed is not None:
            context = self._routed.context
        elif self.call is not None:
            context = self.call.request.context
        else:
            return []
        if self._made is None or self._made[0] is not context:
            self._made = context, _nodes_of(context)
        return list(self._made[1])

    def facts(self) -> dict[str, Any]:
        """The route, as far as is known: see `oprag.routing.Routed.described`."""
        if self._routed is not None:
            return {"route": self._routed.described()}
        route: dict[str, Any] = {"rung": None, "answered": None}
        if self.call is not None:
            request = self.call.request
            route = {"rung": request.prompt, "answered": self.call.answered}
            if not request.context.exact:
                route["exact"] = False
        return {"route": route}

    def _tell(self, entry: RungEntry) -> None:
        """Tell LlamaIndex's instrumentation what happened on a rung."""
        event = SelfRouteEvent(
            query=self._query.query_str,
            rung=entry.rung,
            decision=entry.decision,
            model=entry.model,
            input_tokens=entry.usage.input_tokens,
            output_tokens=entry.usage.output_tokens,
            note=entry.note,
        )
        _dispatcher.event(event)


class SelfRouteSynthesizer(DrivenSynthesizer):
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
        self.before: tuple[BaseRetriever, Sequence[BaseNodePostprocessor]]
        """What the nodes come from and go through, see `after`."""

    def _answering(
        self,
        query: QueryBundle,
        nodes: Sequence[NodeWithScore],
        additional: Sequence[NodeWithScore],
    ) -> SelfRouting:
        filling, source = self.filling(), self.full_texts()
        return SelfRouting(
            self.options,
            query,
            nodes,
            additional,
            source,
            chosen=filling.chosen,
            widened=filling.widened,
        )

    def after(
        self, retriever: BaseRetriever, postprocessors: Sequence[BaseNodePostprocessor]
    ) -> Self:
        """Return the same synthesizer for the nodes of an engine.

        Args:
            retriever: Where they come from: its filter binds full texts too.
            postprocessors: What they go through then; others may be appended later.

        Raises:
            InvalidOptionError: Full texts are put together from a store, and what
                the search is filtered by cannot be carried over to it.
        """
        following = copy.copy(self)
        following.before = (retriever, postprocessors)
        following.full_texts()
        return following

    def filling(self) -> Filling:
        """Begin to retrieve for a question."""
        return Filling(*self.before, self.options.route)

    def full_texts(self) -> DocumentSource | None:
        """Full texts, as far as the search's filter admits them."""
        source = self.options.source
        return source and source.within(search_filter(self.before[0]))

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
        return dict(self.options.templates)

    def _update_prompts(self, prompts_dict: PromptDictType) -> None:
        for name, prompt in prompts_dict.items():
            self.options.replace_prompt(name, prompt)


def _nodes_of(context: RungContext) -> list[NodeWithScore]:
    """Return what was read, in reading order.

    Returns:
        Copies of the retrieved nodes with their place; of a rung that read full
        documents, a new node for each document, or for each part of it that was sent.
        Such a node has no score, a stable id, its characters as `start_char_idx` and
        `end_char_idx`, the source of the retrieved nodes, and the metadata that all of
        them agree on.
    """
    if not context.excerpts:
        return [node_of(single_passage(chunk)) for chunk in context.chunks]
    return [
        NodeWithScore(node=_node(excerpt, chunks, metadata))
        for excerpt, chunks, metadata in context.described()
    ]


def _node(
    excerpt: Excerpt, chunks: Sequence[Chunk], metadata: dict[str, Any]
) -> TextNode:
    name, (start, end) = excerpt.document.name, excerpt.span
    unseen = [key for key in metadata if key == DOC_URI or key in RESULT_KEYS]
    node = TextNode(
        id_=named_id(f"{name}\n{start}-{end}"),
        text=excerpt.text,
        start_char_idx=start,
        end_char_idx=end,
        metadata=metadata,
        excluded_llm_metadata_keys=unseen,
        excluded_embed_metadata_keys=[*unseen],
    )
    source = chunks[0].source.node.source_node if chunks else None
    if source is not None:
        node.relationships[NodeRelationship.SOURCE] = source
    return node
