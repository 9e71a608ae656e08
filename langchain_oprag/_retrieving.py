"""What is retrieved for a question, best first, enough for every rung."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import Any

from langchain_core.documents import Document
from langchain_core.runnables import Runnable

from langchain_oprag._convert import hits_of
from langchain_oprag._fetching import Fetch
from langchain_oprag._plan import Plan
from langchain_oprag._steps import Retrieve
from langchain_oprag.retrievers import OrderPreservingRetriever
from oprag.chunk import Hit
from oprag.context import arrange
from oprag.errors import InvalidOptionError


def retrieve(plan: Plan) -> Generator[Retrieve, Any, list[Hit]]:
    """Retrieve once for all rungs.

    Where a rung has a number of tokens to fill, a vector store is asked for as many
    chunks as fill the largest.

    Raises:
        InvalidOptionError: The retriever does not give documents.
    """
    budgets = [rung.token_budget for rung in plan.rungs if rung.token_budget]
    largest = max(budgets, default=None)
    retriever = _best_first(plan.options.retriever)
    query: Any = plan.question.query
    if plan.options.retriever_input == "mapping":
        query = dict(plan.question.given)
    asking = Fetch(retriever, plan.config, {}, k=None, token_budget=largest)
    while True:
        found = yield Retrieve(retriever, query, plan.config, asking.arguments)
        hits = hits_of(_checked(found))
        if largest is None:
            return hits
        options = plan.context_options(largest)
        used_all = arrange(hits, options).used_all
        if not asking.wants_more(len(found), used_all=used_all):
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


def _checked(found: Any) -> Sequence[Document]:
    several = isinstance(found, Sequence) and not isinstance(found, str)
    if several and all(isinstance(document, Document) for document in found):
        documents: Sequence[Document] = found
        return documents
    message = (
        f"The retriever gave {found!r:.100}, not a list of documents. Give retriever= "
        "anything that takes a query and returns list[Document]."
    )
    raise InvalidOptionError(message, option="retriever", value=found)
