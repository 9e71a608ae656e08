"""One question to Self-Route: what is retrieved for it, asked and given out."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from langchain_core.documents import Document
from langchain_core.messages import BaseMessage
from langchain_core.runnables import Runnable, RunnableConfig
from langchain_core.runnables.base import RunnableBindingBase
from langchain_core.runnables.utils import AddableDict

from langchain_oprag._answering import Answering, ModelCall, Retrieve, Steps
from langchain_oprag._convert import document_of, hits_of
from langchain_oprag._prompts import Prompt, Question, fill
from langchain_oprag._wrapping import Fetch, search_filter
from langchain_oprag.retrievers import OrderPreservingRetriever
from oprag.calls import SENTINEL, CallModel
from oprag.chunk import Hit
from oprag.context import single_passage
from oprag.documents import DocumentSource
from oprag.errors import InvalidOptionError, written
from oprag.routing import (
    FIRST_TOKENS,
    Routed,
    RouteOptions,
    RungContext,
    is_enough,
    route,
    tokens_to_retrieve,
)


class SelfRouting(Answering):
    """One question on its way up the rungs; prompts by rung, full texts by name."""

    kind = "rung"

    def __init__(
        self,
        chain: Any,
        question: Question,
        config: RunnableConfig,
        *,
        options: RouteOptions,
        prompts: Mapping[str, Prompt],
        source: DocumentSource,
    ) -> None:
        counter: Any = options.context.token_counter  # resolved
        super().__init__(chain, question, config, counter)
        self.source = source.within(search_filter(chain.retriever, config, {}))
        self.decline = chain.decline
        self._shown = False
        self._read: list[Document] = []
        self._options = options
        self._prompts = prompts

    def steps(self) -> Steps:
        """Answer the question.

        The output is `input`, then `context` and `answer` of the rung whose reply is
        final, `route`, `usage`.
        """
        yield AddableDict(input=self.question.text)
        hits, chosen = yield from self._retrieved()
        tokens = None if chosen else FIRST_TOKENS
        options = replace(self._options, retrieved_tokens=tokens)
        routed: Routed = yield from route(hits, options, self, ledger=self.ledger)
        if not self._shown:
            # A refusal that was not shown is the answer after all, or nobody was asked.
            said = routed.text
            yield AddableDict(context=self._read)
            yield AddableDict(answer=SENTINEL if said is None else said)
        if routed.problems:
            self._chain._problems.tell(routed.problems)  # noqa: SLF001 -- the chain's own
        self.facts = {"route": routed.described()}
        yield AddableDict(self.facts)
        yield AddableDict(usage=self.ledger.to_dict())

    def llm(self, prompt: str) -> Runnable[Any, Any]:
        """The model of a rung."""
        llm: Runnable[Any, Any] = (self._chain.rung_llms or {}).get(
            prompt, self._chain.llm
        )
        return llm

    def messages(self, prompt: str, values: Mapping[str, str]) -> list[BaseMessage]:
        """Fill the prompt of a rung in.

        The conversation comes behind the context, so that what is before it is the
        same for every question on a document.
        """
        question = self.question.in_conversation
        return fill(self._prompts[prompt], {**values, "question": question})

    def begin(self, call: CallModel) -> ModelCall:
        """Begin a call of a model; what it reads is output with its answer."""
        self._read = documents_read(call.context)
        return super().begin(call)

    def output(self, call: CallModel, text: str) -> Iterator[AddableDict]:
        """Return a piece of the answer, what was read for it first."""
        if text and not self._shown:
            self._shown = True
            yield AddableDict(context=self._read)
        if text:
            yield AddableDict(answer=text)

    def _retrieved(self) -> Generator[Retrieve, Any, tuple[list[Hit], bool]]:
        """Retrieve once for all rungs, best first.

        A vector store is asked for as many chunks as fill the largest rung, where
        nobody said how many: neither of the store nor of a retriever around it.

        Returns:
            The chunks, and whether somebody chose how many.
        """
        tokens = tokens_to_retrieve(self._options.rungs)
        retriever = _best_first(self._chain.retriever, tokens)
        fetch = Fetch(retriever, self.config, {}, k=None, token_budget=tokens)
        while True:
            asked = self.question.text
            found = yield Retrieve(retriever, asked, self.config, fetch.arguments)
            hits = hits_of(_documents(found))
            if tokens is None or not fetch.fills:
                return hits, True
            enough = is_enough(hits, self._options.context, tokens)
            if not fetch.wants_more(found, used_all=not enough):
                return hits, False


def _best_first(
    retriever: Runnable[Any, Any], tokens: int | None
) -> Runnable[Any, Any]:
    """Have an `OrderPreservingRetriever` leave the order to us, and the number.

    What does not fit a rung is left out from the end, which has to be the worst. One
    that has no limit of its own says no more than what it wraps, or fills the
    largest rung with neighbours.
    """
    if isinstance(retriever, RunnableBindingBase):  # `bind`, `with_retry` and the like
        inner = _best_first(retriever.bound, tokens)
        if inner is retriever.bound:
            return retriever
        return retriever.model_copy(update={"bound": inner})
    if not isinstance(retriever, OrderPreservingRetriever):
        return retriever
    budget = retriever.token_budget
    if retriever.k is None and budget is None:
        if retriever.widen is None or tokens is None:
            return retriever.base_retriever
        budget = tokens
        # A budget that nobody set is no mistake if it stays unfilled.
        retriever._problems.is_new("unfilled")  # noqa: SLF001 -- our own class
    return retriever.model_copy(
        update={
            "token_budget": budget,
            "order": "score",
            "merge": False,
            "citations": False,
        }
    )


def _documents(found: Any) -> Sequence[Document]:
    several = isinstance(found, Sequence) and not isinstance(found, str)
    if several and all(isinstance(document, Document) for document in found):
        documents: Sequence[Document] = found
        return documents
    message = (
        f"The retriever gave {written(found):.100}, not a list of documents. Give "
        "retriever= anything that takes a query and returns list[Document]."
    )
    raise InvalidOptionError(message, option="retriever", value=found)


def documents_read(context: RungContext) -> list[Document]:
    """Return what was read: of chunks, or of each excerpt where it was full texts."""
    if not context.excerpts:
        return [document_of(single_passage(chunk)) for chunk in context.chunks]
    return [
        Document(excerpt.text, metadata=metadata)
        for excerpt, _, metadata in context.described()
    ]
