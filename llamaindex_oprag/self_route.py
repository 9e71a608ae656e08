"""`SelfRouteQueryEngine`: answers from the chunks, from full documents if needed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Never, Self, TypeAlias

from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.callbacks import CallbackManager
from llama_index.core.indices.base import BaseIndex
from llama_index.core.llms import LLM
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.prompts import BasePromptTemplate
from llama_index.core.prompts.mixin import PromptDictType, PromptMixinType
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.response_synthesizers import BaseSynthesizer
from llama_index.core.schema import NodeWithScore, QueryBundle
from llama_index.core.settings import Settings

from llamaindex_oprag._llms import check_llm
from llamaindex_oprag._searched import list_verified_stores, require_retriever
from llamaindex_oprag._self_route import SelfRouteOptions, SelfRouteSynthesizer
from llamaindex_oprag.documents import SourceLike
from oprag.calls import Decline
from oprag.context import ContextOptions, OnProblem, Order
from oprag.diagnosing import Verifiable, Verification
from oprag.errors import InvalidOptionError, refuse_unknown, refuse_unnamed
from oprag.positions import DocumentKey, PositionKeys
from oprag.routing import DEFAULT_STEPS, OF_RETRIEVERS, Step
from oprag.tokens import TokenizerSpec

Prompt: TypeAlias = str | BasePromptTemplate

_OPTIONS = (
    "documents",
    "steps",
    "step_llms",
    "decline",
    "prompts",
    "max_context_tokens",
    "answer_tokens",
    "prices",
    "order",
    "on_problem",
    "position_keys",
    "document_key",
    "token_counter",
    "node_postprocessors",
    "callback_manager",
    "streaming",
)
_CALL = ".from_args(retriever, llm=llm, documents=documents)"


class SelfRouteQueryEngine(Verifiable, RetrieverQueryEngine):
    """Answers from the retrieved nodes; from their full documents if they fail.

    The model reads the retrieved nodes, in document order, and may refuse. Only
    then does it read the full documents of those nodes. From an index they are read
    through the retriever's filter: a document with hidden nodes is left out, and
    named in the step's `note`. `steps=` puts other steps in between. Make the engine
    with `from_args`.

    It is a `RetrieverQueryEngine`: node postprocessors are applied, also those appended
    later, and it can be used in chat engines, routers and tools. The engine itself puts
    the nodes in order, as the last step; an `OrderPreservingRetriever` or
    `OrderPreservingPostprocessor` before it only selects them.

    A response has

    - `response`: the answer in the LLM's words, also if it refuses at the last step;
      LlamaIndex's "Empty Response" if nothing was retrieved;
    - `source_nodes`: the nodes read for the answer, in reading order: the retrieved
      ones, or a new node for each part of a full document that was read;
    - `metadata["route"]`: `step`, the step that the answer is from (None without any);
      `answered`, True only for an answer, not for a refusal, an empty reply or a call
      of a tool; and `finish`, if the answer did not end as it should: `"length"` or
      `"filter"` if it was cut, `"empty"`, or `"call"` if the LLM called a tool that
      nobody carried out;
    - `metadata["usage"]`: the calls and their tokens, see `oprag.calls.Ledger.to_dict`.
      With OpenAI and servers like it a stream is counted by the provider only if the
      LLM has `additional_kwargs={"stream_options": {"include_usage": True}}`.

    A refusal is not shown, unless it is the final reply: text is streamed once two
    sentences or 200 characters say that it is none. `metadata` and `source_nodes` are
    complete when the stream has ended. An async stream calls the LLM when it is read,
    and errors of the LLM come from there.

    Args:
        retriever: See `from_args`, also for the other arguments.
        response_synthesizer: The one that `from_args` makes.
        node_postprocessors: Applied to the nodes before anything is read.
        callback_manager: Gets an event for every question.

    Raises:
        InvalidOptionError: The synthesizer is none that `from_args` made.
        ModelCallError: When queried: the model failed for good. It carries
            the usage of the steps before.
        OpragError: When queried: a prompt does not fit the window, `documents` lacks a
            document, or an error of `OrderPreservingRetriever`.

    Source:
        Self-Route (arXiv 2407.16833). We differ: document order by default, and any
        number of steps.
    """

    def __init__(
        self,
        retriever: BaseRetriever,
        response_synthesizer: BaseSynthesizer | None = None,
        node_postprocessors: list[BaseNodePostprocessor] | None = None,
        callback_manager: CallbackManager | None = None,
    ) -> None:
        if not isinstance(response_synthesizer, SelfRouteSynthesizer):
            name = type(self).__name__
            message = f"{name} is not called itself. Write {name}{_CALL}."
            raise InvalidOptionError(
                message, option="response_synthesizer", value=response_synthesizer
            )
        postprocessors = list(node_postprocessors or [])
        self._self_route = response_synthesizer.follow_engine(retriever, postprocessors)
        super().__init__(
            retriever=retriever,
            response_synthesizer=self._self_route,
            node_postprocessors=postprocessors,
            callback_manager=callback_manager,
        )
        # The base class makes another list of an empty one.
        self._node_postprocessors = postprocessors

    @classmethod
    def from_args(  # type: ignore[override]  # the base's options of response modes have no meaning here
        cls,
        retriever: BaseIndex[Any] | BaseRetriever,
        llm: LLM | None = None,
        *unnamed: Never,
        documents: SourceLike | None = None,
        steps: Sequence[str | int | Step] = DEFAULT_STEPS,
        step_llms: Mapping[str, LLM] | None = None,
        decline: Decline = "word",
        prompts: Prompt | Mapping[str, Prompt] | None = None,
        max_context_tokens: int | Mapping[str, int] | None = None,
        answer_tokens: int | None = None,
        prices: Mapping[str, Sequence[float]] | None = None,
        order: Order = "document",
        on_problem: OnProblem = "error",
        position_keys: PositionKeys | None = None,
        document_key: DocumentKey | None = None,
        token_counter: TokenizerSpec = None,
        node_postprocessors: list[BaseNodePostprocessor] | None = None,
        callback_manager: CallbackManager | None = None,
        streaming: bool = False,
        **unknown: Never,
    ) -> Self:
        """Make an engine.

        Args:
            retriever: An index, or a retriever that returns nodes best first. A
                retriever of an index that was left at LlamaIndex's default of 2 nodes
                is asked for as many as fill the largest number of tokens in `steps`,
                2,000 for `"retrieved"`; any other `similarity_top_k` holds.
            llm: Reads and answers, or refuses; None for `Settings.llm`.
            documents: Full texts by document name: anything that `document_source`
                takes. Needed if a step is `"full"`. An index or a store is read
                through the filter of the search; other texts are given to anyone who
                asks.
            steps: The texts that the LLM reads in turn until it answers:
                `"retrieved"`, numbers of tokens, `"full"`; see
                `oprag.routing.read_steps`.
            step_llms: Other LLMs, by the step's name: `{"full": long_context_llm}`.
            decline: How a refusal is recognised. `"word"`: the word *unanswerable* is
                in the first two sentences of the reply, or 200 characters. `"tool"`:
                the LLM calls a tool; for LLMs with tool calling, and an answer streams
                from its first character. Or a function from the reply to a
                bool, such as `oprag.routing.word_in_reply`, the paper's rule; a
                stream is then held back until the reply ends.
            prompts: Prompts in the place of the built-in one: one for all steps, or
                prompts by the step's name. A template, or the text of one, with
                `{context_str}` and `{query_str}`.
            max_context_tokens: Tokens of prompt and answer that the LLM takes, or
                one number by step; None for the number in the LLM's metadata, unless
                it is only the default of its class.
            answer_tokens: Tokens of the window that are kept free for the answer; None
                for the LLM's own limit, else 256, or an eighth of a smaller window.
            prices: Price of a million tokens by model: input, cached input, output.
            order: Order of the retrieved nodes: `"document"`, or `"rank"`: best first,
                each after its number, as in the paper.
            on_problem: For nodes that cannot be put in order: `"error"`, or `"warn"`
                and go on.
            position_keys: Keys of the position, as in `OrderPreservingRetriever`.
            document_key: Key of the document's identity, as there.
            token_counter: A function, a tokenizer, or its name; None for cl100k.
            node_postprocessors: Applied to the nodes before anything is read.
            callback_manager: None for `Settings.callback_manager`. As everywhere in
                LlamaIndex it is set on the LLMs.
            streaming: Whether to return as soon as an answer begins. LlamaIndex's chat
                engines decide it for each message.

        Returns:
            The engine. Nothing is read or asked yet.

        Raises:
            InvalidOptionError: An option cannot have this value.
        """
        refuse_unnamed(f"{cls.__name__}.from_args", unnamed, _OPTIONS)
        refuse_unknown(unknown, _OPTIONS, OF_RETRIEVERS)
        options = SelfRouteOptions(
            check_llm("llm", Settings.llm if llm is None else llm),
            ContextOptions(
                order=order,
                on_problem=on_problem,
                position_keys=position_keys,
                document_key=document_key,
                token_counter=token_counter,
            ),
            documents=documents,
            steps=steps,
            step_llms=step_llms,
            decline=decline,
            prompts=prompts,
            max_context_tokens=max_context_tokens,
            answer_tokens=answer_tokens,
            prices=prices,
        )
        manager = callback_manager or Settings.callback_manager
        return cls(
            retriever=require_retriever("retriever", retriever),
            response_synthesizer=SelfRouteSynthesizer(
                options, callback_manager=manager, streaming=streaming
            ),
            node_postprocessors=node_postprocessors,
            callback_manager=manager,
        )

    def _verification(self) -> Verification:
        route = self._self_route
        full = any(step.full for step in route.options.route.steps)
        source = route.full_texts() if full else None
        stores, context = list_verified_stores(self._retriever), route.options.context
        inside = self._retriever, *self._node_postprocessors
        return Verification(stores, context, source, inside=inside)

    def retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        """Retrieve and postprocess; the nodes are best first, as from the retriever."""
        retriever = self._self_route.choose_retriever().retriever
        nodes = retriever.retrieve(query_bundle)
        return self._apply_node_postprocessors(nodes, query_bundle=query_bundle)

    async def aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        """Async version of `retrieve`."""
        retriever = self._self_route.choose_retriever().retriever
        nodes = await retriever.aretrieve(query_bundle)
        return await self._async_apply_node_postprocessors(
            nodes, query_bundle=query_bundle
        )

    def with_retriever(self, retriever: BaseRetriever) -> Self:
        """Return an engine with another retriever and everything else the same."""
        return type(self)(
            retriever=retriever,
            response_synthesizer=self._self_route,
            node_postprocessors=self._node_postprocessors,
            callback_manager=self.callback_manager,
        )

    def _get_prompts(self) -> PromptDictType:
        return self._self_route._get_prompts()  # noqa: SLF001 -- so that the keys have no prefix

    def _get_prompt_modules(self) -> PromptMixinType:
        return {}  # else the keys had the synthesizer's name before them

    def _update_prompts(self, prompts_dict: PromptDictType) -> None:
        self._self_route._update_prompts(prompts_dict)  # noqa: SLF001 -- as above
