"""`SelfRouteChain`: the retrieved chunks first, the full documents if needed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from langchain_core.runnables import Runnable, RunnableConfig
from pydantic import ConfigDict, Field, SkipValidation, field_validator, model_validator

from langchain_oprag._driver import DrivenRunnable
from langchain_oprag._options import CheckedOptions, Model, Retriever, option_field
from langchain_oprag._prompts import Prompt, read_question, rung_prompts
from langchain_oprag._self_routing import SelfRouting
from langchain_oprag._wrapping import search_filter
from langchain_oprag.documents import SourceLike
from oprag.calls import CALL_DESCRIPTIONS
from oprag.context import ContextOptions, OnProblem, Order
from oprag.diagnosing import Verifiable
from oprag.errors import InvalidOptionError, named
from oprag.positions import DocumentKey, PositionKeys
from oprag.routing import DEFAULT_RUNGS, Decline, RouteOptions, Rung, check_route
from oprag.tokens import TokenizerSpec, resolve_token_counter

if TYPE_CHECKING:
    from oprag.diagnosing import Verification

_call_field = partial(option_field, descriptions=CALL_DESCRIPTIONS)


class SelfRouteChain(Verifiable, DrivenRunnable, CheckedOptions):
    """Answers from the retrieved chunks; from the full documents if they fail.

    The model reads the retrieved chunks, in document order, and may refuse. Only
    then does it read the full documents of those chunks. Out of a store they are read
    through the retriever's filter: a document of which it hides chunks is left out, and
    named in the step's `note`. `rungs=` puts other steps in between. It takes the place
    of `create_retrieval_chain`.

    The input is a question, or `{"input": question}`, perhaps with `chat_history`
    (messages in any form that LangChain takes); or `{"messages": …}`, as LangGraph
    keeps them: the last one of the user is the question. The output has

    - `input`: the question;
    - `context`: the documents that were read for the answer, in reading order: the
      retrieved ones, or of full documents one for each slice that was read;
    - `answer`: a string. If the model refuses at the last step, what it said;
      without any context "unanswerable";
    - `route`: `rung`, the name of the step that the answer is from (None without
      any context), and `answered`, False for a refusal; `finish`, where the answer
      was cut: `"length"` or `"filter"`;
    - `usage`: what it took, see `oprag.calls.Ledger.to_dict`;
    - `messages`, where the input has them: the answer as an `AIMessage`, with the
      tokens of all steps in `usage_metadata` and the route in `response_metadata`.

    A stream gives these keys in this order, `answer` in pieces that join to it. A
    refusal is not shown, unless it is the final reply: text is streamed once two
    sentences or 200 characters say that it is none (see `decline`). LangGraph's
    `stream_mode="messages"` and `astream_events` show the same, as one run of a chat
    model; with the tag `nostream` nothing. All other callbacks hear the calls of the
    model, which carry the tag `rung:<name>`.

    Args:
        **options: The fields below.
        name: What runs are called in traces; None for the class's name.

    Raises:
        InvalidOptionError: On construction and assignment, for an option that does
            not exist or cannot have this value. It is a `ValueError`.
        ModelCallError: When invoked: the model failed for good. It carries
            the usage of the steps before.
        ContextWindowError: When invoked: a prompt does not fit the window.
        DocumentNotFoundError: When invoked: `documents` lacks a document.
        OpragError: When invoked: as `OrderPreservingRetriever` raises it.

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
        ('In May.', {'rung': 'full', 'answered': True})
    """

    model_config = ConfigDict(use_attribute_docstrings=True)

    llm: Model
    """The chat model that reads the context and answers, or refuses."""
    retriever: Retriever
    """Any `Runnable` from a query to documents, best first."""
    documents: SourceLike | None = Field(default=None, repr=False)
    """Full texts by document name: anything that `document_source` takes. Needed where
    a rung is `"full"`. A store is read through the filter of the search, other texts
    are given to anyone who asks."""
    rungs: SkipValidation[Sequence[str | int | Rung]] = DEFAULT_RUNGS
    """What the model is given to read, in turn, until it answers: `"retrieved"` (as
    many chunks as the retriever is set to return, by a count or a budget of its own;
    else about 2,000 tokens of them), numbers of tokens, `"full"`; see
    `oprag.routing.as_rungs`."""
    rung_llms: SkipValidation[Mapping[str, Model] | None] = None
    """Other models, by the rung's name: `{"full": long_context_model}`."""
    decline: Decline = "word"
    """How a refusal is recognised. `"word"`: the reply begins or ends with the word
    *unanswerable*, alone. Or a function from the reply to a bool, such as
    `oprag.routing.word_in_reply`, the paper's rule; a stream is then held back until
    the reply ends."""
    prompts: SkipValidation[Prompt | Mapping[str, Prompt] | None] = None
    """Prompts in the place of the built-in one: one for all rungs, or prompts by the
    rung's name. A format string or a prompt template, with `{context}` and
    `{question}`."""
    max_context_tokens: SkipValidation[int | Mapping[str, int] | None] = None
    """Tokens of prompt and answer that the model takes, or one number by the rung's
    name; None for what the model's profile says, if it has one."""
    answer_tokens: SkipValidation[int | None] = _call_field("answer_tokens")
    prices: SkipValidation[Mapping[str, Sequence[float]] | None] = _call_field("prices")
    order: Order = "document"
    """Of what was retrieved: `"document"`, or `"score"`: best first, each behind its
    number, as in the paper."""
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
        self._read()
        self._full_texts().within(search_filter(self.retriever, {}, {}))
        return self

    def _read(self) -> tuple[RouteOptions, dict[str, Prompt]]:
        """Return the options as the core takes them, and the prompts by rung.

        Pydantic keeps an assigned value that only a validator of the whole refuses, so
        that every question comes by here as well.

        Raises:
            InvalidOptionError: They contradict one another.
        """
        rungs = check_route(
            self.rungs,
            documents=self.documents,
            rung_llms=self.rung_llms,
            decline=self.decline,
            prompts=self.prompts,
            max_context_tokens=self.max_context_tokens,
            answer_tokens=self.answer_tokens,
            prices=self.prices,
        )
        for name, llm in (self.rung_llms or {}).items():
            if not isinstance(llm, Runnable):
                found = f"rung_llms[{name!r}] is {named(llm)}."
                message = f"{found} It takes a chat model of LangChain."
                raise InvalidOptionError(message, option="rung_llms", value=llm)
        by_word = self.decline == "word"
        must_decline = {rung.name: by_word for rung in rungs[:-1]}
        context = ContextOptions(
            order=self.order,
            on_problem=self.on_problem,
            position_keys=self.position_keys,
            document_key=self.document_key,
            token_counter=self.token_counter,
        )
        prompts = rung_prompts(self.prompts, {**must_decline, rungs[-1].name: False})
        return RouteOptions(rungs=rungs, context=context), prompts

    def _verification(self) -> Verification:
        # Here, so that importing the package does not take longer.
        from langchain_oprag._verifying import searched_stores
        from oprag.diagnosing import Verification

        route, _ = self._read()
        context = route.context
        if self.documents is not None:
            search = search_filter(self.retriever, {}, {})
            context = replace(context, documents=self._full_texts().within(search))
        full = any(rung.full for rung in route.rungs)
        name = type(self).__name__
        stores = searched_stores(name, self.retriever)
        return Verification(name, stores, context, full)

    def _inside(self) -> list[Runnable[Any, Any]]:
        return [self.retriever, self.llm, *(self.rung_llms or {}).values()]

    def _answering(self, given: Any, config: RunnableConfig) -> SelfRouting:
        question = read_question(given)
        options, prompts = self._read()
        counter = resolve_token_counter(self.token_counter)
        context = replace(options.context, token_counter=counter)
        return SelfRouting(
            self,
            question,
            config,
            options=replace(options, context=context),
            prompts=prompts,
            source=self._full_texts(),
        )
