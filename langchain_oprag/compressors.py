"""`OrderPreservingCompressor`: after any retriever, in any pipeline."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Never, Self, TypeAlias, TypedDict, Unpack

from langchain_core.callbacks import (
    AsyncCallbackManagerForChainRun,
    CallbackManagerForChainRun,
    Callbacks,
)
from langchain_core.documents import (
    BaseDocumentCompressor,
    BaseDocumentTransformer,
    Document,
)
from langchain_core.runnables import RunnableConfig, RunnableSerializable

from langchain_oprag._convert import SharedOptions, arrange_documents, make_hits
from langchain_oprag._options import option_field
from langchain_oprag._searched import list_verified_stores
from langchain_oprag.documents import SourceLike
from oprag.chunk import interleave
from oprag.context import (
    DESCRIPTIONS,
    ContextKeywords,
    ContextOptions,
    OrderedContext,
    Problems,
    load_texts_then,
    sort_by_rank,
)
from oprag.diagnosing import VerifiableOver, Verification
from oprag.effects import Effect
from oprag.errors import first_unnamed, refuse_in_call, refuse_unnamed
from oprag.metadata import WHY
from oprag.result_key import drop_rank
from oprag.stores import SearchFilter

Found: TypeAlias = Sequence[Document] | Sequence[Sequence[Document]]
"""Documents, or one list of them for each of several searches."""

_ASKED_FOR = 4
"""LangChain's default `k`."""


_AFTER = (
    "It follows a retriever: retriever | OrderPreservingCompressor(). "
    "OrderPreservingRetriever(retriever) is both in one."
)
_IN_RETRIEVER = "OrderPreservingRetriever has it: here no store is known."
_BEFORE = "Set it on the retriever before it: store.as_retriever(search_kwargs={…})."


class CallKeywords(TypedDict, total=False):
    """Options that may be given for one call, for type checkers."""

    top_n: int | None
    token_budget: int | None
    merge: bool | None


class CompressorKeywords(ContextKeywords, total=False):
    """Options of `order_documents`, for type checkers."""

    top_n: int | None
    documents: SourceLike | None


class OrderPreservingCompressor(
    VerifiableOver,
    BaseDocumentCompressor,
    BaseDocumentTransformer,
    RunnableSerializable[Found, list[Document]],
    SharedOptions,
):
    """Keeps the best documents and puts them in the order of their source.

    A compressor, a transformer and a runnable in one: it fits into
    `ContextualCompressionRetriever` and `DocumentCompressorPipeline` (as the last
    step: rerankers sort again), is called directly, or follows a retriever in LCEL,
    `retriever | OrderPreservingCompressor()`. It needs no query. `order_documents` does
    the same in one call.

    It takes a list, best first; results of another component keep their ranks. All
    options, such as `top_n` and `token_budget`, can be assigned later.

    Args:
        top_n: How many of the best documents to keep; None for all.
        **options: The other options of `oprag.context.ContextOptions`.

    Raises:
        InvalidOptionError: On construction and assignment, for an option that does
            not exist or cannot have this value: `documents` cannot be a vector store,
            which may hold text that the search's filter hides. It is a `ValueError`.
    """

    advice: ClassVar[Mapping[str, str]] = {
        **dict.fromkeys(("base_retriever", "vectorstore", "retriever"), _AFTER),
        **dict.fromkeys(("search_kwargs", "search_type", "filter"), _BEFORE),
        **dict.fromkeys(("widen", "bm25"), _IN_RETRIEVER),
        **dict.fromkeys(("query", "question"), "No question is needed: leave it out."),
    }
    top_n: int | None = option_field("top_n")
    _known_filter: ClassVar[SearchFilter] = SearchFilter(
        unseen="a compressor cannot see what the search filters by"
    )

    def compress_documents(
        self, documents: Found, query: str = "", callbacks: Callbacks | None = None
    ) -> list[Document]:
        """Select the best documents and put them in order, as `invoke` does.

        Args:
            documents: Best first. Not changed. For several searches a list of lists:
                the best of each comes first.
            query: Not used; the interface has it.
            callbacks: Not used either.

        Returns:
            New documents in reading order, with their places in the metadata. A whole
            document comes back as a copy with its id. Empty if none were given.

        Raises:
            OpragError: As `OrderPreservingRetriever` does.

        Warns:
            UnfilledBudgetWarning: Once, when all documents, 4 or more, fit the token
                budget: most likely the retriever was not asked for more.
        """
        listed = self._join_searches(documents)
        return self._report(listed, self._order(listed).now())

    async def acompress_documents(
        self, documents: Found, query: str = "", callbacks: Callbacks | None = None
    ) -> list[Document]:
        """Async version of `compress_documents`."""
        listed = self._join_searches(documents)
        return self._report(listed, await self._order(listed).later())

    def transform_documents(self, documents: Found, **kwargs: Any) -> list[Document]:
        """Select the best documents and put them in order, without a query.

        Args:
            documents: Best first. Not changed.
            **kwargs: As `invoke` takes them.

        Raises:
            InvalidOptionError: An argument has no meaning here.
        """
        return self._copy_for_call(kwargs).compress_documents(documents)

    async def atransform_documents(
        self, documents: Found, **kwargs: Any
    ) -> list[Document]:
        """Async version of `transform_documents`."""
        return await self._copy_for_call(kwargs).acompress_documents(documents)

    def invoke(
        self,
        input: Found,  # noqa: A002 -- the base class's name
        config: RunnableConfig | None = None,
        **kwargs: Any,
    ) -> list[Document]:
        """Select the best documents and put them in order.

        Args:
            input: The documents, as `compress_documents` takes them.
            config: The config of the run.
            **kwargs: `top_n`, `token_budget` and `merge` for this call.

        Raises:
            OpragError: As `OrderPreservingRetriever` does.
        """
        called = self._copy_for_call(kwargs)

        def run(
            documents: Found, run_manager: CallbackManagerForChainRun
        ) -> list[Document]:
            listed = called._join_searches(documents)  # noqa: SLF001 -- a copy of this one
            ordered = called._order(listed).now()  # noqa: SLF001 -- as above
            run_manager.metadata[WHY] = ordered.why
            return called._report(listed, ordered)  # noqa: SLF001 -- as above

        return self._call_with_config(run, input, config)

    async def ainvoke(
        self,
        input: Found,  # noqa: A002 -- the base class's name
        config: RunnableConfig | None = None,
        **kwargs: Any,
    ) -> list[Document]:
        """Async version of `invoke`."""
        called = self._copy_for_call(kwargs)

        async def run(
            documents: Found, run_manager: AsyncCallbackManagerForChainRun
        ) -> list[Document]:
            listed = called._join_searches(documents)  # noqa: SLF001 -- a copy of this one
            ordered = await called._order(listed).later()  # noqa: SLF001 -- as above
            run_manager.metadata[WHY] = ordered.why
            return called._report(listed, ordered)  # noqa: SLF001 -- as above

        return await self._acall_with_config(run, input, config)

    def __call__(self, documents: Found, query: str = "") -> list[Document]:
        """Do the same as `compress_documents`."""
        return self.compress_documents(documents, query)

    def _verification_over(self, searched: Any) -> Verification:
        return Verification(
            list_verified_stores(searched), self._options_for(self.top_n)
        )

    def _copy_for_call(self, call: dict[str, Any]) -> Self:
        """Return a copy with the options of one call; itself if there are none."""
        name, known = type(self).__name__, CallKeywords.__annotations__
        refuse_in_call(name, call, known, DESCRIPTIONS, self.advice)
        return self._copy_with(**call) if call else self

    def _join_searches(self, documents: Any) -> Any:
        """Join searches, the best of each first; results of components by rank."""
        if interleave(documents) is documents:
            return documents
        options = self._options_for(self.top_n)
        listed = interleave([sort_by_rank(d, make_hits(d), options) for d in documents])
        # The ranks of each search are not those of this list.
        return [
            each.model_copy(update={"metadata": drop_rank(each.metadata)})
            for each in listed
        ]

    def _order(self, documents: Sequence[Document]) -> Effect:
        def arrange(options: ContextOptions) -> OrderedContext[Document]:
            return arrange_documents(make_hits(documents), options)

        return load_texts_then(self._options_for(self.top_n), arrange)

    def _report(
        self, documents: Sequence[Document], ordered: OrderedContext[Document]
    ) -> list[Document]:
        if ordered.used_all and len(documents) >= _ASKED_FOR:
            ordered = replace(ordered, too_few=len(documents))
        return ordered.warn_and_return(self._problems)


def order_documents(
    documents: Found | None = None,
    /,
    *unnamed: Never,
    **options: Unpack[CompressorKeywords],
) -> list[Document]:
    """Select the best documents and put them in the order of their source.

    Args:
        documents: Best first. Not changed. For several searches a list of lists: the
            best of each comes first.
        **options: Those of `OrderPreservingCompressor`: `top_n`, `token_budget`,
            `merge` and so on.

    Returns:
        New documents in reading order, as from `OrderPreservingCompressor`.

    Raises:
        OpragError: As `OrderPreservingRetriever` does.

    Warns:
        PositionWarning: With `on_problem="warn"`, for documents that cannot be put in
            order.

    Example:
        >>> chunks = [
        ...     Document(text, metadata={"source": "a.txt", "start_index": start})
        ...     for start, text in ((20, "third"), (0, "first"), (10, "second"))
        ... ]
        >>> [document.page_content for document in order_documents(chunks)]
        ['first', 'second', 'third']
    """
    refuse_unnamed("order_documents", unnamed, CompressorKeywords.__annotations__)
    if documents is None:
        raise first_unnamed("order_documents", "documents")
    component = OrderPreservingCompressor(**options)
    listed = component._join_searches(documents)  # noqa: SLF001 -- of this module
    ordered: OrderedContext[Document] = component._order(listed).now()  # noqa: SLF001 -- as above
    return ordered.warn_and_return(Problems("order_documents"))
