"""`OrderPreservingCompressor`: after any retriever, in any pipeline."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar, TypeAlias

from langchain_core.callbacks import Callbacks
from langchain_core.documents import (
    BaseDocumentCompressor,
    BaseDocumentTransformer,
    Document,
)

from langchain_oprag._convert import SharedOptions, hits_of
from langchain_oprag._options import option_field
from oprag.chunk import best_of_each
from oprag.context import Arranged, by_rank
from oprag.documents import SearchFilter
from oprag.errors import refuse_unknown
from oprag.metadata import RANK
from oprag.tokens import Do

Found: TypeAlias = Sequence[Document] | Sequence[Sequence[Document]]
"""Documents, or those of several searches."""

_ASKED_FOR = 4
"""LangChain's default `k`."""


_AFTER = (
    "It follows a retriever: retriever | OrderPreservingCompressor(). "
    "OrderPreservingRetriever(retriever) is both in one."
)
_IN_RETRIEVER = "OrderPreservingRetriever has it: here no store is known."
_BEFORE = "Set it on the retriever before it: store.as_retriever(search_kwargs={…})."


class OrderPreservingCompressor(
    BaseDocumentCompressor, BaseDocumentTransformer, SharedOptions
):
    """Keeps the best documents and puts them in the order of their source.

    A compressor and a transformer in one: it fits into
    `ContextualCompressionRetriever` and `DocumentCompressorPipeline` (as the last
    step: rerankers sort again), is called directly, or follows a retriever in
    LCEL, `retriever | OrderPreservingCompressor()`. It needs no query.

    It takes a best-first list; results of another component keep their ranks. All of
    `top_n`, `token_budget` and the other options can be assigned later.

    Args:
        top_n: Documents to keep, of the best; None for all.
        **options: The others of `oprag.context.ContextOptions`.

    Raises:
        InvalidOptionError: On construction and assignment, for an option that does
            not exist or cannot have this value: `documents` cannot be a vector store,
            which may hold what the filter of the search hides. It is a `ValueError`.
    """

    advice: ClassVar[Mapping[str, str]] = {
        **dict.fromkeys(("base_retriever", "vectorstore", "retriever"), _AFTER),
        **dict.fromkeys(("search_kwargs", "search_type", "filter"), _BEFORE),
        **dict.fromkeys(("widen", "bm25"), _IN_RETRIEVER),
        "query": "No question is needed: leave it out.",
    }
    top_n: int | None = option_field("top_n")
    _known_filter: ClassVar[SearchFilter] = SearchFilter(
        unseen="a compressor cannot see what the search filters by"
    )

    def compress_documents(
        self, documents: Found, query: str = "", callbacks: Callbacks | None = None
    ) -> list[Document]:
        """Select the best documents and put them in order.

        Args:
            documents: Best first. Not changed. Of several searches a list of lists: the
                best of each comes first.
            query: Not used; the interface names it.
            callbacks: The same.

        Returns:
            New documents in reading order, with their places in the metadata; of a
            document that is there as a whole, a copy with its id. None for none.

        Raises:
            OpragError: As `OrderPreservingRetriever` does.

        Warns:
            UnfilledBudgetWarning: Once, when all documents, 4 or more, fit the token
                budget: most likely the retriever was not asked for more.
        """
        return self(documents)

    async def acompress_documents(
        self, documents: Found, query: str = "", callbacks: Callbacks | None = None
    ) -> list[Document]:
        """Async version of `compress_documents`."""
        listed = self._listed(documents)
        return self._kept(listed, await self._ordering(listed).later())

    def transform_documents(self, documents: Found, **kwargs: Any) -> list[Document]:
        """Select the best documents and put them in order, without a query.

        Args:
            documents: Best first. Not changed.
            **kwargs: None are known; options are set on the component.

        Raises:
            InvalidOptionError: An argument was given that has no meaning here.
        """
        refuse_unknown(kwargs, ())
        return self(documents)

    async def atransform_documents(
        self, documents: Found, **kwargs: Any
    ) -> list[Document]:
        """Async version of `transform_documents`."""
        refuse_unknown(kwargs, ())
        return await self.acompress_documents(documents, "")

    def __call__(self, documents: Found, query: str = "") -> list[Document]:
        """Do the same as `compress_documents`, so that LCEL takes the component."""
        listed = self._listed(documents)
        return self._kept(listed, self._ordering(listed).now())

    @property
    def __name__(self) -> str:
        """The name of its run in LCEL's traces."""
        return type(self).__qualname__

    def _listed(self, documents: Any) -> Any:
        """One list, the best of each search first; results of components by rank."""
        if best_of_each(documents) is documents:
            return documents
        options = self._options_for(self.top_n)
        listed = best_of_each([by_rank(d, hits_of(d), options) for d in documents])
        # The ranks of each search are not those of this list.
        return [
            each.model_copy(update={"metadata": {**each.metadata, RANK: None}})
            for each in listed
        ]

    def _ordering(self, documents: Sequence[Document]) -> Do:
        return self._arranging(documents, self._options_for(self.top_n))

    def _kept(
        self, documents: Sequence[Document], ordered: Arranged[Document]
    ) -> list[Document]:
        if ordered.used_all and len(documents) >= _ASKED_FOR:
            ordered = replace(ordered, came=len(documents))
        return ordered.reported(self._problems)

    def __hash__(self) -> int:
        # LCEL hashes the callables that it draws; equal components are those with
        # equal options, and these can be assigned.
        return hash(type(self))
