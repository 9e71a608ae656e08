"""One question to Self-Route in LlamaIndex, and the synthesizer that answers it."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, NoReturn, Self

from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.callbacks import CallbackManager
from llama_index.core.llms import LLM
from llama_index.core.llms.structured_llm import StructuredLLM
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.prompts import BasePromptTemplate
from llama_index.core.prompts.mixin import PromptDictType
from llama_index.core.schema import NodeWithScore, QueryBundle

from llamaindex_oprag._answers import (
    EMPTY_RESPONSE,
    Answering,
    DrivenSynthesizer,
    ModelCall,
)
from llamaindex_oprag._convert import (
    make_hits,
    make_node,
    make_text_node,
    write_sent_text,
)
from llamaindex_oprag._llms import check_llm
from llamaindex_oprag._options import default_tokenizer, set_tokenizer
from llamaindex_oprag._prompts import check_template
from llamaindex_oprag._searched import search_filter
from llamaindex_oprag.documents import source_or_none
from llamaindex_oprag.postprocessors import OrderPreservingPostprocessor
from llamaindex_oprag.retrievers import OrderPreservingRetriever, RetrieverFetch
from oprag.calls import CallModel, Dialogue, qa_prompt
from oprag.context import ContextOptions, Problems, single_passage
from oprag.documents import DocumentSource
from oprag.errors import InvalidOptionError, ModelCallError
from oprag.metadata import DOC_URI, RESULT_KEYS, make_named_id
from oprag.retrieving import FetchPlan
from oprag.routing import (
    Routed,
    RouteOptions,
    StepContext,
    check_route,
    no_text,
    no_tools,
    route,
    tokens_to_retrieve,
)
from oprag.tokens import NamedTokenCounter, resolve_token_counter


class SelfRouteOptions:
    """The arguments of `SelfRouteQueryEngine.from_args`, checked.

    Args:
        llm: The model for steps without another one.
        context: How retrieved nodes become the context of a step.
        **given: The other options.

    Raises:
        InvalidOptionError: An option is not possible, by itself or with the others.
    """

    def __init__(self, llm: LLM, context: ContextOptions, **given: Any) -> None:
        steps = check_route(**given)
        self.llm, self.context = llm, context
        self.decline = given["decline"]
        self.prices, self.answer_tokens = given["prices"], given["answer_tokens"]
        self.max_context_tokens = given["max_context_tokens"]
        self.route = RouteOptions(
            steps=steps, context=context, sent_text=write_sent_text
        )
        self.llms: dict[str, LLM] = {step.name: llm for step in steps} | {
            step: check_llm(f"step_llms[{step!r}]", each)
            for step, each in (given["step_llms"] or {}).items()
        }
        for name, each in self.llms.items():
            option = "llm" if each is llm else f"step_llms[{name!r}]"
            if isinstance(each, StructuredLLM):
                raise no_text(option, each)
            if self.decline == "tool" and not (
                each.metadata.is_chat_model
                and each.metadata.is_function_calling_model
                and hasattr(each, "chat_with_tools")
            ):
                raise no_tools(option, each)
        self.source = source_or_none(given["documents"])
        self.problems = Problems("SelfRouteQueryEngine")
        prompts = {} if given["prompts"] is None else given["prompts"]
        if not isinstance(prompts, Mapping):
            prompts = dict.fromkeys(self.llms, prompts)
        self.templates = {
            name: self.check_prompt(name, prompts.get(name, qa_prompt(self.decline)))
            for name in self.llms
        }

    @property
    def counter(self) -> NamedTokenCounter:
        """The counter of tokens, loaded when it is first used."""
        return resolve_token_counter(default_tokenizer(self.context.token_counter))

    def check_prompt(
        self, name: str, prompt: str | BasePromptTemplate
    ) -> BasePromptTemplate:
        """Return the template of a step's prompt, if it can be used."""
        if name not in self.llms:
            message = f"There is no prompt {name!r}. They are {', '.join(self.llms)}."
            raise InvalidOptionError(message, option="prompts", value=prompt)
        last = name == self.route.steps[-1].name
        return check_template(
            prompt,
            f"prompts[{name!r}]",
            llm=self.llms[name],
            must_decline=self.decline == "word" and not last,
        )


class SelfRouting(Answering):
    """One question on its way through the steps; its nodes are best first."""

    def __init__(
        self,
        synthesizer: SelfRouteSynthesizer,
        query: QueryBundle,
        nodes: Sequence[NodeWithScore],
        additional: Sequence[NodeWithScore],
    ) -> None:
        self._options = options = synthesizer.options
        super().__init__(options, nodes, additional)
        self.decline = options.decline
        self.source = synthesizer.full_texts()
        self._query = query
        self._route = replace(
            options.route,
            context=set_tokenizer(options.context),
            fills=synthesizer.choose_retriever().fills,
            source=self.source,
        )
        self._templates = dict(options.templates)
        self._routed: Routed | None = None
        self._nodes: list[NodeWithScore] = []

    def begin_dialogue(self) -> Dialogue[Routed]:
        """Run Self-Route, step by step."""
        hits = make_hits(self.retrieved)
        return route(hits, self._route, self, ledger=self.ledger)

    def llm(self, prompt: str) -> LLM:
        """Return the model of a step."""
        return self._options.llms[prompt]

    def template(self, prompt: str) -> BasePromptTemplate:
        """Return the prompt of a step."""
        return self._templates[prompt]

    def start_call(self, request: CallModel) -> ModelCall:
        """Begin a call of a model."""
        self._nodes = _nodes_of(request.context)
        return super().start_call(request)

    def fill_values(self, values: Mapping[str, str]) -> Mapping[str, str]:
        """Add the question."""
        return {**values, "question": self._query.query_str}

    def format_end(self, result: Routed) -> Iterable[str]:
        """Take note of the end; return the answer if none was shown.

        It is an earlier refusal if the last step was skipped, and LlamaIndex's own
        words if there was nothing to read.
        """
        self._routed = result
        if result.problems:
            self._options.problems.warn(result.problems)
        if self.has_output:
            return ()
        return (EMPTY_RESPONSE if result.step is None else result.text or "",)

    def nodes_read(self) -> list[NodeWithScore]:
        """Return the nodes read for the answer so far, in reading order."""
        return list(self._nodes)

    def facts(self) -> dict[str, Any]:
        """Return the route when it has ended: see `oprag.routing.Routed.described`."""
        return {} if self._routed is None else {"route": self._routed.described()}


class ChosenRetriever(NamedTuple):
    """The retriever that Self-Route asks."""

    retriever: BaseRetriever
    fills: bool
    """Whether nobody chose how many nodes come, see `RouteOptions.fills`."""


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
        """The retriever and the postprocessors of the nodes, see `follow_engine`."""

    def _begin_answering(
        self,
        query: QueryBundle,
        nodes: Sequence[NodeWithScore],
        additional: Sequence[NodeWithScore],
    ) -> SelfRouting:
        return SelfRouting(self, query, nodes, additional)

    def follow_engine(
        self, retriever: BaseRetriever, postprocessors: Sequence[BaseNodePostprocessor]
    ) -> Self:
        """Return the same synthesizer for the nodes of an engine.

        Args:
            retriever: The retriever of the nodes, whose filter binds full texts too.
            postprocessors: The nodes' postprocessors; others may be appended later.

        Raises:
            InvalidOptionError: Full texts are put together from a store, and the
                search's filter cannot be carried over to it.
        """
        following = copy.copy(self)
        following.before = (retriever, postprocessors)
        following.options = copy.copy(self.options)
        following.full_texts()
        return following

    def choose_retriever(self) -> ChosenRetriever:
        """Choose the retriever that is asked, best first, once for all steps.

        An index retriever at LlamaIndex's default is asked for as many nodes as fill
        the largest step, unless somebody chose a number, for it or for a component of
        oprag around it. An `OrderPreservingPostprocessor` with a larger budget gets as
        many as fill that: the engine knows its postprocessors. LangChain's compressors
        are inside a retriever, which is asked as it is.
        """
        retriever, postprocessors = self.before
        tokens = tokens_to_retrieve(self.options.route.steps)
        is_limited = False
        for each in postprocessors:
            if isinstance(each, OrderPreservingPostprocessor):
                budget = each.token_budget
                is_limited = is_limited or bool(each.top_n or budget)
                if tokens is not None and budget is not None:
                    tokens = max(tokens, budget)
        plan = None if tokens is None else FetchPlan.to_fill(tokens)
        if not isinstance(retriever, OrderPreservingRetriever):
            fetch = RetrieverFetch(retriever, plan=plan)
            fills = fetch.chooses_k and not is_limited
            return ChosenRetriever(fetch.retriever(), fills)
        ranking = retriever.best_first(tokens)
        if ranking.is_limited:
            return ChosenRetriever(ranking, fills=False)
        fetch = RetrieverFetch(ranking.base_retriever, plan=plan)
        if fetch.chooses_k:
            ranking.similarity_top_k = fetch.k_to_ask
        return ChosenRetriever(ranking, fetch.chooses_k and not is_limited)

    def full_texts(self) -> DocumentSource | None:
        """Return the full texts, as far as the search's filter admits them."""
        source = self.options.source
        return source and source.within(search_filter(self.before[0]))

    def get_response(
        self, query_str: str, text_chunks: Sequence[str], **response_kwargs: Any
    ) -> NoReturn:
        """Refuse: bare texts do not name their documents."""
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
        check = self.options.check_prompt
        checked = {name: check(name, prompt) for name, prompt in prompts_dict.items()}
        self.options.templates = {**self.options.templates, **checked}


def _nodes_of(context: StepContext) -> list[NodeWithScore]:
    """Return the nodes that were read, in reading order.

    Returns:
        Copies of the retrieved nodes with their place. For a step that read full
        documents, a new node for each document, or for each part of it that was sent.
        Such a node has no score, a stable id, its characters as `start_char_idx` and
        `end_char_idx`, the source of the retrieved nodes, and the metadata that all of
        them agree on.
    """
    if not context.excerpts:
        options = ContextOptions()
        return [make_node(single_passage(each), options) for each in context.chunks]
    nodes = []
    for excerpt, chunks, metadata in context.described():
        name, (start, end) = excerpt.name, excerpt.span
        hidden_keys = [key for key in metadata if key == DOC_URI or key in RESULT_KEYS]
        own_id = make_named_id(f"{name}\n{start}-{end}")
        beside = chunks[0] if chunks else None
        node = make_text_node(own_id, excerpt.text, metadata, hidden_keys, beside)
        nodes.append(NodeWithScore(node=node))
    return nodes
