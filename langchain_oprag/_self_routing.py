"""One question to Self-Route: what is retrieved for it, asked and given out."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any

from langchain_core.documents import Document
from langchain_core.messages import BaseMessage
from langchain_core.runnables import Runnable, RunnableConfig
from langchain_core.runnables.utils import AddableDict

from langchain_oprag._answering import Answering, Retrieve, Steps
from langchain_oprag._convert import hits_of
from langchain_oprag._prompts import HISTORY, fill, takes_history
from langchain_oprag._questions import Question
from langchain_oprag._self_route_options import (
    SelfRouteOptions,
    checked,
    context_options,
    model_of,
)
from langchain_oprag._wrapping import Fetch
from langchain_oprag.retrievers import OrderPreservingRetriever
from oprag.calls import CallModel
from oprag.chunk import Hit
from oprag.context import arrange
from oprag.documents import DocumentSource
from oprag.errors import InvalidOptionError
from oprag.routing import Routed, RouteOptions, RungContext, route
from oprag.tokens import NamedTokenCounter


class SelfRouting(Answering):
    """One question on its way up the rungs.

    Args:
        options: The chain.
        question: The question.
        config: See `Answering`, as `counter`.
        counter: Counts tokens.
        source: Full texts by name.
    """

    kind = "rung"

    def __init__(
        self,
        options: SelfRouteOptions,
        question: Question,
        config: RunnableConfig,
        counter: NamedTokenCounter,
        source: DocumentSource,
    ) -> None:
        super().__init__(options, config, counter)
        self.source = source
        self.structured = options.structured_output
        self.rungs, self.rules, self._prompts = checked(options)
        self._options = options
        self._question = question
        self._context = context_options(options, counter)
        self._begun = False

    def steps(self) -> Steps:
        """Answer the question.

        The output is `input`, then `context` and `answer` of the rung whose reply is
        final, `route`, `usage`.
        """
        yield AddableDict(input=self._question.text)
        hits = yield from self._retrieved()
        names = [] if hits else [*islice(self.source.names(), 2)]
        options = RouteOptions(
            rungs=self.rungs,
            context=self._context,
            max_documents=self._options.max_documents,
            default_documents=tuple(names) if len(names) == 1 else (),
            window_overflow=self._options.window_overflow,
        )
        routed = yield from route(hits, options, self, ledger=self.ledger)
        yield from self._rest(routed)

    def llm(self, prompt: str) -> Runnable[Any, Any]:
        """The model of a rung."""
        return model_of(self._options, prompt)

    def messages(self, prompt: str, values: Mapping[str, str]) -> list[BaseMessage]:
        """Fill the prompt of a rung in.

        The conversation stands behind the context, so that what comes before it is
        the same for every question on a document.
        """
        template, question = self._prompts[prompt], self._question
        if takes_history(template):
            said = {"question": question.text, HISTORY: list(question.history)}
            return fill(template, {**values, **said})
        return fill(template, {**values, "question": question.in_conversation})

    def output(self, call: CallModel, text: str) -> Iterator[AddableDict]:
        """Return a piece of the answer, what was read for it first."""
        if text and not self._begun:
            self._begun = True
            yield AddableDict(context=documents_read(call.context))
        if text:
            yield AddableDict(answer=text)

    def _rest(self, routed: Routed) -> Iterator[AddableDict]:
        """Return what is not given yet: a swallowed refusal, the route, the usage."""
        outcome = routed.outcome
        if not self._begun:
            # Without any context nobody was asked: then it is our own refusal.
            nobody = self.rules.sentinels[0]
            yield AddableDict(context=documents_read(routed.context))
            yield AddableDict(answer=nobody if outcome.text is None else outcome.text)
        yield AddableDict(route=routed.described())
        yield AddableDict(usage=self.ledger.to_dict())

    def _retrieved(self) -> Generator[Retrieve, Any, list[Hit]]:
        """Retrieve once for all rungs, best first.

        Where a rung has a number of tokens to fill, a vector store is asked for as
        many chunks as fill the largest.
        """
        budgets = [rung.token_budget for rung in self.rungs if rung.token_budget]
        options = replace(self._context, token_budget=max(budgets, default=None))
        retriever = _best_first(self._options.retriever)
        query: Any = self._question.text
        if self._options.retriever_input == "mapping":
            query = dict(self._question.given)
        fetch = Fetch(
            retriever, self.config, {}, k=None, token_budget=options.token_budget
        )
        while True:
            found = yield Retrieve(retriever, query, self.config, fetch.arguments)
            hits = hits_of(_documents(found))
            if options.token_budget is None:
                return hits
            used_all = arrange(hits, options).used_all
            if not fetch.wants_more(len(found), used_all=used_all):
                return hits


def _best_first(retriever: Runnable[Any, Any]) -> Runnable[Any, Any]:
    """Have an `OrderPreservingRetriever` leave the order to us.

    What does not fit a rung is left out from the end, which has to be the worst.
    """
    if not isinstance(retriever, OrderPreservingRetriever):
        return retriever
    return retriever.model_copy(
        update={"order": "score", "merge": False, "gap_mark": None, "rescore": None}
    )


def _documents(found: Any) -> Sequence[Document]:
    several = isinstance(found, Sequence) and not isinstance(found, str)
    if several and all(isinstance(document, Document) for document in found):
        documents: Sequence[Document] = found
        return documents
    message = (
        f"The retriever gave {found!r:.100}, not a list of documents. Give retriever= "
        "anything that takes a query and returns list[Document]."
    )
    raise InvalidOptionError(message, option="retriever", value=found)


def documents_read(context: RungContext) -> list[Document]:
    """Return the retrieved documents, or one per excerpt where full ones were read."""
    if not context.excerpts:
        return [chunk.source for chunk in context.chunks]
    return [
        Document(excerpt.text, metadata=metadata)
        for excerpt, _, metadata in context.described()
    ]
