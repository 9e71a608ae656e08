"""`create_retrieval_tool`: a search for agents, as text with places within a budget."""

from __future__ import annotations

from functools import partial
from typing import Any, Unpack

from langchain_core.documents import Document
from langchain_core.retrievers import RetrieverLike
from langchain_core.runnables import Runnable, ensure_config
from langchain_core.tools import BaseTool, StructuredTool
from langchain_core.vectorstores import VectorStore
from pydantic import BaseModel, Field

from langchain_oprag._options import OF_SEARCH, SearchKeywords, rewrap, unwrap
from langchain_oprag.results import format_documents
from langchain_oprag.retrievers import OrderPreservingRetriever
from langchain_oprag.vector_stores import OrderPreservingVectorStore
from oprag.agents import NOTHING_FOUND, search_description
from oprag.effects import run_in_thread
from oprag.errors import invalid_option, refuse_unknown, wrong_object


class _SearchArguments(BaseModel):
    """The model's arguments."""

    query: str = Field(
        description="What to look for: a question, or words that the text may have."
    )


_OPTIONS = tuple(n for n in SearchKeywords.__annotations__ if n != "citations")
_ADVICE = {
    **OF_SEARCH,
    "citations": "Places are always written: leave it out.",
    "document_prompt": "Each passage comes after its number and place: leave it out.",
}


def create_retrieval_tool(
    searched: VectorStore | RetrieverLike,
    name: str = "search_documents",
    description: str | None = None,
    **options: Unpack[SearchKeywords],
) -> StructuredTool:
    """Make a tool that searches, for any agent or graph of LangChain.

    The model reads the passages in document order, each after its number, source and
    place, `[1] contract.txt, characters 0-120`, with `[…]` where text was left out. All
    of that counts for `token_budget`. The same search gives the same text, byte for
    byte. The artifact of the message is the documents, as plain `Document`s.

    Args:
        searched: A vector store or a retriever, which is wrapped in an
            `OrderPreservingRetriever` that merges neighbours. If only a component
            inside has a budget, no places are written. An `OrderPreservingRetriever`
            (also inside `with_config` and the like) or `OrderPreservingVectorStore`
            keeps its current options; its budget has room for places.
        name: The tool's name for the model.
        description: Its description for the model; None for a general one.
        k: How many of the best hits to read; None for as many as the retriever or the
            store gives by itself, or with `token_budget` for as many as fill it.
        **options: The other options of `OrderPreservingRetriever`, without `citations`.

    Returns:
        The tool. It takes a `query`, sync and async.

    Raises:
        InvalidOptionError: `searched` is neither; an option does not exist, cannot
            have this value, or is given beside a component that has its own. When
            called, the tool raises the errors of `OrderPreservingRetriever`.

    Example:
        >>> from langchain_core.embeddings import DeterministicFakeEmbedding
        >>> from langchain_core.vectorstores import InMemoryVectorStore
        >>> store = InMemoryVectorStore(DeterministicFakeEmbedding(size=8))
        >>> place = {"source": "a.txt", "start_index": 0}
        >>> ids = store.add_documents([Document("To begin.", metadata=place)])
        >>> tool = create_retrieval_tool(store, token_budget=2_000)
        >>> print(tool.invoke({"query": "How does it begin?"}))
        [1] a.txt, characters 0-9
        To begin.
    """
    refuse_unknown(options, ("name", "description", *_OPTIONS), _ADVICE)
    retriever = _wrap_searched(searched, options)

    def search(query: str) -> tuple[str, list[Document]]:
        return _write_content(retriever, retriever.invoke(query))

    async def asearch(query: str) -> tuple[str, list[Document]]:
        found = await retriever.ainvoke(query)
        return await run_in_thread(partial(_write_content, retriever, found))

    return StructuredTool.from_function(
        search,
        asearch,
        name=name,
        description=description or search_description(),
        args_schema=_SearchArguments,
        response_format="content_and_artifact",
    )


def _wrap_searched(searched: Any, options: SearchKeywords) -> Any:
    """Return the tool's retriever, whose budget has room for the whole text."""
    if isinstance(searched, OrderPreservingVectorStore):
        searched = searched._ordered  # noqa: SLF001 -- of this package
    placed = rewrap(
        searched,
        OrderPreservingRetriever,
        lambda ours: ours._copy_with(citations=True),  # noqa: SLF001 -- of this package
    )
    if placed:
        for option, value in options.items():
            if value is not None:
                takes = "Set it on the OrderPreservingRetriever."
                raise invalid_option(option, value, takes)
        return placed
    given: Any = {"merge": True, "citations": True, **options}
    if isinstance(searched, VectorStore):
        return OrderPreservingRetriever(vectorstore=searched, **given)
    if isinstance(searched, Runnable) and not isinstance(searched, BaseTool):
        return OrderPreservingRetriever(base_retriever=searched, **given)
    raise wrong_object("searched", searched, "a vector store or a retriever")


def _write_content(retriever: Any, found: list[Document]) -> tuple[str, list[Document]]:
    """Return the text that the model reads, and the documents in it."""
    called, *_ = unwrap(retriever, ensure_config())
    text = format_documents(found, separator=called.separator)
    # A store of conversations may not know a user's class.
    plain = [
        Document(each.page_content, id=each.id, metadata=each.metadata)
        for each in found
    ]
    return text or NOTHING_FOUND, plain
