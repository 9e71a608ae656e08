"""`SelfRouteChain`: the retrieved chunks first, the full documents if needed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar

from langchain_core.documents import Document
from langchain_core.messages import BaseMessage
from langchain_core.runnables import Runnable, RunnableConfig
from langchain_core.runnables.utils import AddableDict
from pydantic import ConfigDict, Field, SkipValidation, field_validator, model_validator

from langchain_oprag._answers import Answering, DrivenRunnable, ModelCall
from langchain_oprag._convert import make_document, make_hits
from langchain_oprag._models import bind_tool, gives_objects
from langchain_oprag._options import (
    A_MODEL,
    CheckedOptions,
    Model,
    Retriever,
    check_runnable,
    option_field,
    rewrap,
    unwrap,
)
from langchain_oprag._prompts import (
    Prompt,
    Question,
    fill_prompt,
    read_question,
    step_prompts,
)
from langchain_oprag._searched import list_verified_stores, search_filter
from langchain_oprag.documents import SourceLike
from langchain_oprag.retrievers import OrderPreservingRetriever, RetrieverFetch
from oprag.calls import (
    CALL_DESCRIPTIONS,
    SENTINEL,
    CallModel,
    Decline,
    Dialogue,
    qa_prompt,
)
from oprag.chunk import Hit
from oprag.context import ContextOptions, OnProblem, Order, single_passage
from oprag.diagnosing import Verifiable, Verification
from oprag.effects import Effects
from oprag.positions import DocumentKey, PositionKeys
from oprag.retrieving import FetchPlan
from oprag.routing import (
    DEFAULT_STEPS,
    OF_RETRIEVERS,
    Routed,
    RouteOptions,
    Step,
    check_route,
    no_text,
    no_tools,
    route,
    tokens_to_retrieve,
)
from oprag.tokens import TokenizerSpec, resolve_token_counter

_call_field = partial(option_field, descriptions=CALL_DESCRIPTIONS)


class SelfRouteChain(Verifiable, DrivenRunnable, CheckedOptions):
    """Answers from the retrieved chunks; from the full documents if they fail.

    The model reads the retrieved chunks, in document order, and may refuse. Only
    then does it read the full documents of those chunks. From a store they are read
    through the retriever's filter: a document with hidden chunks is left out, and
    named in the step's `note`. `steps=` puts other steps in between. The chain takes
    the place of `create_retrieval_chain`.

    The input is a question, or `{"input": question}`, perhaps with `chat_history`
    (messages in any form that LangChain takes); or `{"messages": …}`, as LangGraph
    keeps them: the user's last message is the question. The output has

    - `input`: the question;
    - `context`: the documents that were read for the answer, in reading order: the
      retrieved ones, or one for each slice of a full document that was read;
    - `answer`: the model's words as a string, also if it refuses at the last step;
      "unanswerable" without any context;
    - `route`: `step`, the name of the step that the answer is from (None without
      any context); `answered`, True only for an answer, not for a refusal, an empty
      reply or a call of a tool; and `finish`, if the answer did not end as it should:
      `"length"` or `"filter"` if it was cut, `"empty"`, or `"call"` if the model called
      a tool that nobody carried out;
    - `usage`: the calls and their tokens, see `oprag.calls.Ledger.to_dict`;
    - `messages`, if the input has them: the answer as an `AIMessage`, with the
      tokens of all steps in `usage_metadata` and the route in `response_metadata`.

    A stream gives these keys in this order, `answer` in pieces that join to it. A
    refusal is not shown, unless it is the final reply. LangGraph's
    `stream_mode="messages"` and `astream_events` show the same, as one run of a chat
    model; with the tag `nostream` they show nothing. The calls of the model carry the
    tag `step:<name>`.

    Args:
        **options: The fields below.
        name: The name of runs in traces; None for the class's name.

    Raises:
        InvalidOptionError: On construction and assignment, for an option that does
            not exist or cannot have this value. It is a `ValueError`.
        ModelCallError: When invoked: the model failed for good. It carries
            the usage of the steps before.
        OpragError: When invoked: a prompt does not fit the window, `documents` lacks a
            document, or an error of `OrderPreservingRetriever`.

    Source:
        Self-Route (arXiv 2407.16833). We differ: document order by default, and
        any number of steps.

    Example:
        >>> from langchain_core.documents import Document
        >>> from langchain_core.language_models import FakeListChatModel
        >>> from langchain_core.runnables import RunnableLambda
        >>> chunk = Document("It rained.", metadata={"source": "a", "start_index": 0})
        >>> chain = SelfRouteChain(
        ...     llm=FakeListChatModel(responses=["unanswerable", "In May."]),
        ...     retriever=RunnableLambda(lambda query: [chunk]),
        ...     documents={"a": "It rained. That was in May."},
        ... )
        >>> result = chain.invoke("When did it rain?")
        >>> result["answer"], result["route"]
        ('In May.', {'step': 'full', 'answered': True})
    """

    model_config = ConfigDict(use_attribute_docstrings=True)
    advice: ClassVar[Mapping[str, str]] = OF_RETRIEVERS

    llm: Model
    """The chat model that reads the context and answers, or refuses."""
    retriever: Retriever
    """Any `Runnable` from a query to documents, best first."""
    documents: SourceLike | None = Field(default=None, repr=False)
    """Full texts by document name: anything that `document_source` takes. Needed if a
    step is `"full"`. A store is read through the filter of the search; other texts are
    given to anyone who asks."""
    steps: SkipValidation[Sequence[str | int | Step]] = DEFAULT_STEPS
    """The texts that the model reads in turn until it answers: `"retrieved"` (as
    many chunks as the retriever is set to return, by its own count or budget; else
    about 2,000 tokens of them), numbers of tokens, `"full"`; see
    `oprag.routing.read_steps`."""
    step_llms: SkipValidation[Mapping[str, Model] | None] = None
    """Other models, by the step's name: `{"full": long_context_model}`."""
    decline: Decline = "word"
    """How a refusal is recognised. `"word"`: the word *unanswerable* is in the first
    two sentences of the reply, or 200 characters. `"tool"`: the model calls a tool; for
    models with tool calling, and an answer streams from its first character. Or a
    function from the reply to a bool, such as `oprag.routing.word_in_reply`, the
    paper's rule; a stream is then held back until the reply ends."""
    prompts: SkipValidation[Prompt | Mapping[str, Prompt] | None] = None
    """Prompts in the place of the built-in one: one for all steps, or prompts by the
    step's name. A format string or a prompt template, with `{context}` and
    `{question}`."""
    max_context_tokens: SkipValidation[int | Mapping[str, int] | None] = None
    """Tokens of prompt and answer that the model takes, or one number by the step's
    name; None for the number in the model's profile, if it has one."""
    answer_tokens: SkipValidation[int | None] = _call_field("answer_tokens")
    prices: SkipValidation[Mapping[str, Sequence[float]] | None] = _call_field("prices")
    order: Order = "document"
    """Order of the retrieved chunks: `"document"`, or `"rank"`: best first, each after
    its number, as in the paper."""
    on_problem: OnProblem = option_field("on_problem")
    position_keys: PositionKeys | None = option_field("position_keys")
    document_key: DocumentKey | None = option_field("document_key")
    token_counter: TokenizerSpec = option_field("token_counter")

    # A function has no JSON schema; the value is checked with the others.
    @field_validator("decline", mode="plain")
    @classmethod
    def _any(cls, value: Any) -> Any:
        return value

    @model_validator(mode="after")
    def _check_together(self) -> SelfRouteChain:
        self._read_options()
        self._full_texts().within(search_filter(self.retriever, {}, {}))
        return self

    def _read_options(self) -> tuple[RouteOptions, dict[str, Prompt]]:
        """Return the options as the core takes them, and the prompts by step.

        Every question calls this as well, because pydantic keeps an assigned value that
        only a validator of the whole model refuses.

        Raises:
            InvalidOptionError: The options contradict one another.
        """
        steps = check_route(**vars(self))
        models = {"llm": self.llm}
        for name, llm in (self.step_llms or {}).items():
            models[f"step_llms[{name!r}]"] = llm
        for option, llm in models.items():
            check_runnable(option, llm, A_MODEL)
            if gives_objects(llm):
                raise no_text(option, llm)
            if self.decline == "tool" and bind_tool(llm, {}) is None:
                raise no_tools(option, llm)
        names = "order", "on_problem", "position_keys", "document_key", "token_counter"
        given: Any = {name: getattr(self, name) for name in names}
        context = ContextOptions(**given)
        by_word = self.decline == "word"
        must_decline = {step.name: by_word and step != steps[-1] for step in steps}
        prompts = step_prompts(self.prompts, must_decline, qa_prompt(self.decline))
        return RouteOptions(steps=steps, context=context), prompts

    def _verification(self) -> Verification:
        route, _ = self._read_options()
        inside, full = unwrap(self.retriever, {})[:1], None
        if any(step.full for step in route.steps):
            full = self._full_texts().within(search_filter(self.retriever, {}, {}))
        stores = list_verified_stores(self.retriever)
        return Verification(stores, route.context, full, inside=inside)

    def _inside(self) -> list[Runnable[Any, Any]]:
        return [self.retriever, self.llm, *(self.step_llms or {}).values()]

    def _begin_answering(self, given: Any, config: RunnableConfig) -> _SelfRouting:
        options, prompts = self._read_options()
        return _SelfRouting(self, read_question(given), config, options, prompts)


class _SelfRouting(Answering):
    """One question on its way through the steps."""

    kind = "step"

    def __init__(
        self,
        chain: SelfRouteChain,
        question: Question,
        config: RunnableConfig,
        options: RouteOptions,
        prompts: Mapping[str, Prompt],
    ) -> None:
        counter = resolve_token_counter(chain.token_counter)
        super().__init__(chain, question, config, counter)
        self.source: Any = chain._full_texts()  # noqa: SLF001 -- of this module
        if not self.source.at_hand:
            self.source = self.source.within(search_filter(chain.retriever, config, {}))
        self.decline = chain.decline
        self._context: list[Document] = []
        self._hits: list[Hit] = []
        self._options = replace(options, source=self.source)
        self._prompts = prompts
        self._llms = dict.fromkeys(prompts, chain.llm) | dict(chain.step_llms or {})

    def retrieve(self) -> Effects[list[AddableDict]]:
        """Retrieve once for all steps, best first.

        A vector store is asked for as many chunks as fill the largest step, unless a
        number is set on its retriever or on an `OrderPreservingRetriever` around that.
        Any other retriever is asked as it is, also one with a compressor inside.
        """
        tokens = tokens_to_retrieve(self._options.steps)
        plan = None if tokens is None else FetchPlan.to_fill(tokens)
        retriever, kind = self._chain.retriever, OrderPreservingRetriever
        ours = rewrap(retriever, kind, lambda r: r.best_first(tokens), self.config)
        ranking = ours or retriever
        retriever, config, bound = unwrap(ranking, self.config)
        if ours and not (retriever.k or retriever.token_budget):
            retriever = retriever.base_retriever
        fetch = RetrieverFetch(retriever, config, bound, plan=plan)
        fetch.search = ranking, self.config, {}
        found = yield fetch.ask(self.question.text)
        self._hits = make_hits(found, "retriever")
        self._options = replace(self._options, fills=fetch.chooses_k)
        return []

    def begin_dialogue(self) -> Dialogue[Routed]:
        """Run Self-Route, step by step."""
        return route(self._hits, self._options, self, ledger=self.ledger)

    def llm(self, prompt: str) -> Runnable[Any, Any]:
        """Return the model of a step."""
        return self._llms[prompt]

    def messages(self, prompt: str, values: Mapping[str, str]) -> list[BaseMessage]:
        """Fill the prompt of a step in.

        The conversation comes after the context, so that the prompt up to there is the
        same for every question on a document.
        """
        question = self.question.in_conversation
        filled = fill_prompt(self._prompts[prompt], {**values, "question": question})
        return self.question.put_after_system(filled)

    def start_call(self, request: CallModel) -> ModelCall:
        """Begin a call of a model; the output shows the context with the answer."""
        context, options = request.context, ContextOptions()
        self._context = [
            Document(excerpt.text, metadata=metadata)
            for excerpt, _, metadata in context.described()
        ] or [make_document(single_passage(c), options) for c in context.chunks]
        return super().start_call(request)

    def format_text(self, request: CallModel, text: str) -> Iterator[AddableDict]:
        """Return a piece of the answer, the first one after the context read for it."""
        if not self.has_output:
            yield AddableDict(context=self._context)
        yield AddableDict(answer=text)

    def format_end(self, result: Routed) -> Iterator[AddableDict]:
        """Return `route` and `usage`, and context and answer if they were not shown.

        They were not if a refusal is the answer after all, or if no model was asked.
        """
        if not self.has_output:
            yield AddableDict(context=self._context)
            yield AddableDict(answer=SENTINEL if result.text is None else result.text)
        if result.problems:
            self._chain._problems.warn(result.problems)  # noqa: SLF001 -- the chain's own
        self.facts = {"route": result.described()}
        yield AddableDict(self.facts)
        yield AddableDict(usage=self.ledger.to_dict())
