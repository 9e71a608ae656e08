"""One question to Self-Route in LlamaIndex, and the synthesizer that answers it."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, NoReturn, Self

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

from llamaindex_oprag._answering import EMPTY_RESPONSE, Answering, ModelCall
from llamaindex_oprag._best_first import Filling
from llamaindex_oprag._convert import hit_of, node_of, sent_text
from llamaindex_oprag._driver import DrivenSynthesizer
from llamaindex_oprag._llms import check_llm
from llamaindex_oprag._prompts import check_template
from llamaindex_oprag._wrapping import search_filter
from llamaindex_oprag.documents import SourceLike, source_or_none
from oprag.calls import QA_PROMPT, CallModel, Dialogue
from oprag.chunk import Chunk
from oprag.context import ContextOptions, Problems, single_passage
from oprag.documents import DocumentSource
from oprag.errors import InvalidOptionError, ModelCallError
from oprag.metadata import DOC_URI, RESULT_KEYS, named_id
from oprag.routing import (
    FIRST_TOKENS,
    Decline,
    Excerpt,
    Routed,
    RouteOptions,
    Rung,
    RungContext,
    check_route,
    route,
)
from oprag.tokens import NamedTokenCounter, resolve_token_counter


@dataclass(kw_only=True)
class SelfRouteOptions:
    """The arguments of `SelfRouteQueryEngine.from_args`, checked.

    Raises:
        InvalidOptionError: Something is not possible, by itself or together.
    """

    llm: LLM
    documents: SourceLike | None
    rungs: Sequence[str | int | Rung]
    rung_llms: Mapping[str, LLM] | None
    decline: Decline
    prompts: Any
    max_context_tokens: int | Mapping[str, int] | None
    answer_tokens: int | None
    prices: Mapping[str, Sequence[float]] | None
    context: ContextOptions
    """How retrieved nodes become the context of a rung."""

    def __post_init__(self) -> None:
        """Check everything, each by itself and together."""
        given = {each.name: getattr(self, each.name) for each in fields(self)}
        del given["llm"], given["context"]
        rungs = check_route(**given)
        self.route = RouteOptions(
            rungs=rungs, context=self.context, sent_text=sent_text
        )
        self.llms = {rung.name: self.llm for rung in rungs} | {
            rung: check_llm(f"rung_llms[{rung!r}]", llm)
            for rung, llm in (self.rung_llms or {}).items()
        }
        self.source = source_or_none(self.documents)
        self.problems = Problems("SelfRouteQueryEngine")
        given = self.prompts or {}
        if not isinstance(given, Mapping):
            given = dict.fromkeys(self.llms, given)
        self.templates: dict[str, BasePromptTemplate] = {}
        for name in self.llms:
            self.replace_prompt(name, given.get(name, QA_PROMPT))

    @property
    def counter(self) -> NamedTokenCounter:
        """Counts tokens; loaded when it is first asked for."""
        return resolve_token_counter(self.context.token_counter)

    def replace_prompt(self, name: str, prompt: str | BasePromptTemplate) -> None:
        """Put a prompt in the place of a rung's, if it can be used."""
        if name not in self.llms:
            message = f"There is no prompt {name!r}. They are {', '.join(self.llms)}."
            raise InvalidOptionError(message, option="prompts", value=prompt)
        last = name == self.route.rungs[-1].name
        self.templates[name] = check_template(
            prompt,
            f"prompts[{name!r}]",
            llm=self.llms[name],
            must_decline=self.decline == "word" and not last,
        )


class SelfRouting(Answering):
    """One question on its way up the rungs; its nodes are best first."""

    def __init__(
        self,
        options: SelfRouteOptions,
        query: QueryBundle,
        nodes: Sequence[NodeWithScore],
        additional: Sequence[NodeWithScore],
        *,
        route: RouteOptions,
        source: DocumentSource | None,
    ) -> None:
        super().__init__(options, nodes, additional)
        self.decline = options.decline
        self.source = source
        self._options = options
        self._query = query
        self._route = route
        self._templates = dict(options.templates)
        self._routed: Routed | None = None
        self._nodes: list[NodeWithScore] = []

    def dialogue(self) -> Dialogue[Routed]:
        """Self-Route, rung by rung."""
        hits = [hit_of(node) for node in self.retrieved]
        return route(hits, self._route, self, ledger=self.ledger)

    def llm(self, prompt: str) -> LLM:
        """The model of a rung."""
        return self._options.llms[prompt]

    def template(self, prompt: str) -> BasePromptTemplate:
        """The prompt of a rung."""
        return self._templates[prompt]

    def begin(self, request: CallModel) -> ModelCall:
        """Begin a call of a model."""
        self._nodes = _nodes_of(request.context)
        return super().begin(request)

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
        return EMPTY_RESPONSE if result.rung is None else result.text or ""

    def nodes_read(self) -> list[NodeWithScore]:
        """What was read for the answer, as far as is known, in reading order."""
        return list(self._nodes)

    def facts(self) -> dict[str, Any]:
        """The route, at the end: see `oprag.routing.Routed.described`."""
        return {} if self._routed is None else {"route": self._routed.described()}


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
        for llm in options.llms.values():
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
        route = replace(
            self.options.route,
            retrieved_tokens=None if filling.chosen else FIRST_TOKENS,
        )
        return SelfRouting(
            self.options, query, nodes, additional, route=route, source=source
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
        raise ModelCallError(message)

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
