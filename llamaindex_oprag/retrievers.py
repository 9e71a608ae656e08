"""`OrderPreservingRetriever`: any retriever, its nodes in document order."""

from __future__ import annotations

import copy
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import llama_index.core.instrumentation as instrument
from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.callbacks import CallbackManager
from llama_index.core.schema import IndexNode, NodeWithScore, QueryBundle

from llamaindex_oprag._convert import Ordered, arrange, characters_of
from llamaindex_oprag._options import warn_unfilled
from llamaindex_oprag._wrapping import Fetch, WrappingRetriever, search_filter
from llamaindex_oprag.documents import SourceLike, source_or_none
from oprag.context import (
    DEFAULTS,
    DESCRIPTIONS,
    ContextKeywords,
    ContextOptions,
    Evidence,
    Problems,
    Seen,
    check_option,
    list_options,
    needs,
    refuse_unknown,
    with_texts,
)
from oprag.diagnosing import Verifiable
from oprag.documents import DocumentSource

if TYPE_CHECKING:
    from typing_extensions import Self, Unpack

    from oprag.diagnosing import Verification

_dispatcher = instrument.get_dispatcher(__name__)  # type: ignore[attr-defined]  # re-exported there without an __all__


_OWN = ("similarity_top_k", "rescore")
_SHARED = tuple(name for name in DEFAULTS if name != "top_n")


class RetrieverKeywords(ContextKeywords, total=False):
    """What `OrderPreservingRetriever` takes beside its own, for type checkers."""

    documents: SourceLike | None


@list_options({name: DESCRIPTIONS[name] for name in _SHARED})
class OrderPreservingRetriever(Verifiable, WrappingRetriever):
    """Retrieves with another retriever and returns the nodes in document order.

    Put it around the whole retrieval: what sorts afterwards (fusion, rerankers)
    undoes the order. Its public attributes and methods are those of the retriever it
    wraps, where it has none of that name itself.

    Args:
        base_retriever: Returns nodes best first.
        similarity_top_k: Nodes to return at most; None for as many as come. Can be
            assigned later.
        rescore: Metadata key to write values to that fall in output order, see
            `OrderPreservingPostprocessor`.
        callback_manager: None for that of `base_retriever`.
        object_map: What index nodes stand for, by their `index_id`; for those that
            `base_retriever` does not resolve itself. They are resolved before the
            nodes are put in order.
        objects: The same as a list of index nodes that hold their objects.
        verbose: Print what index nodes are resolved to.
        **options: All of `oprag.context.ContextOptions` but `top_n`: `token_budget`,
            `merge`, `overflow`, `position_keys` and so on.

    How much is fetched:

    - `similarity_top_k` keeps that many nodes, of the best. A vector index retriever
      underneath is asked for as many, if it would give fewer.
    - `token_budget` alone, over a vector index retriever that was left at
      LlamaIndex's default of 2 nodes: as many nodes as fit the budget (with
      `selection="segments"` 400 at least, with `"expand"` and `"recall"` 1,200).
      What is asked for grows until the budget is full or the store is exhausted.
    - Any other `similarity_top_k` of the retriever underneath is kept to. Its
      filters, query mode and other settings always are; it is not written to.

    Raises:
        InvalidOptionError: On construction, for an option that does not exist or a
            value that it cannot have; then or when retrieving, if `documents` is a
            store that cannot be read through the search's filter.

    Warns:
        UnfilledBudgetWarning: Once, when everything that came fits the budget and
            more could not be asked for.
    """

    @needs("(index.as_retriever(), …)")
    def __init__(
        self,
        base_retriever: BaseRetriever,
        *,
        similarity_top_k: int | None = None,
        rescore: str | None = None,
        callback_manager: CallbackManager | None = None,
        object_map: dict[str, Any] | None = None,
        objects: list[IndexNode] | None = None,
        verbose: bool = False,
        **options: Unpack[RetrieverKeywords],
    ) -> None:
        refuse_unknown(options, (*_OWN, *_SHARED))
        check_option("rescore", rescore)
        check_option("similarity_top_k", similarity_top_k)
        given: dict[str, Any] = {**options}
        self._documents = given.get("documents")
        given["documents"] = source_or_none(self._documents)
        self._options = ContextOptions(top_n=similarity_top_k, **given)
        self._rescore = rescore
        self._warned = False
        self._problems = Problems(type(self).__name__)
        self._seen: Seen | None = None
        self._evidence: Evidence | None = None
        super().__init__(
            base_retriever,
            callback_manager=callback_manager,
            object_map=object_map,
            objects=objects,
            verbose=verbose,
        )
        self._bound_options()

    def _settings(self) -> dict[str, Any]:
        options, given = self._options, super()._settings()
        if options.top_n is not None:
            given["similarity_top_k"] = options.top_n
        for name in _SHARED:
            value = self._documents if name == "documents" else getattr(options, name)
            if value is not DEFAULTS[name]:
                given[name] = value
        return given if self._rescore is None else {**given, "rescore": self._rescore}

    @property
    def similarity_top_k(self) -> int | None:
        """Nodes to return at most; where not given, that of the base retriever."""
        if self._options.top_n is not None:
            return self._options.top_n
        return getattr(self.base_retriever, "similarity_top_k", None)

    @similarity_top_k.setter
    def similarity_top_k(self, similarity_top_k: int | None) -> None:
        check_option("similarity_top_k", similarity_top_k)
        self._options = replace(self._options, top_n=similarity_top_k)

    def _verification(self) -> Verification:
        # Here, so that importing the package does not take longer.
        from llamaindex_oprag._verifying import searched_stores
        from oprag.diagnosing import Verification

        name = type(self).__name__
        stores = searched_stores(name, self.base_retriever)
        return Verification(name, stores, self._bound_options())

    def _reading_on(self, seen: Seen) -> Self:
        """A copy for one retrieval: its `_evidence` is then what is not in `seen`."""
        copied = copy.copy(self)
        # That there is not enough new text is no mistake to warn of.
        vars(copied).update(_seen=seen, _warned=True)
        return copied

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        fetch = Fetch(self.base_retriever, self._options)
        receive = partial(self._receive, self._bound_options())
        return self._finish(fetch, self._fetched(query_bundle, fetch, receive))

    @_dispatcher.span
    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        fetch = Fetch(self.base_retriever, self._options)
        receive = partial(self._areceive, self._bound_options())
        received = await self._afetched(query_bundle, fetch, receive)
        return self._finish(fetch, received)

    def _bound_options(self) -> ContextOptions:
        """The options, with full texts only as far as the search's filter admits."""
        documents = self._options.documents
        if not isinstance(documents, DocumentSource):
            return self._options
        documents = documents.within(search_filter(self))
        return replace(self._options, documents=documents)

    def _receive(
        self, options: ContextOptions, nodes: list[NodeWithScore]
    ) -> tuple[tuple[int, Ordered], bool]:
        ordered = arrange(nodes, options, rescore=self._rescore, seen=self._seen)
        return (len(nodes), ordered), ordered.used_all

    async def _areceive(
        self, options: ContextOptions, nodes: list[NodeWithScore]
    ) -> tuple[tuple[int, Ordered], bool]:
        work = partial(arrange, nodes, rescore=self._rescore, seen=self._seen)
        ordered = await with_texts(options, work, characters_of(nodes))
        return (len(nodes), ordered), ordered.used_all

    def _finish(
        self, fetch: Fetch, received: tuple[int, Ordered]
    ) -> list[NodeWithScore]:
        found, ordered = received
        self._evidence = ordered.evidence
        if ordered.problem is not None:
            self._problems.tell(ordered.problem)
        counts = self._options.selection != "top_k"
        budget = self._options.token_budget if counts else None
        starved = ordered.used_all and found and not fetch.exhausted
        if budget is not None and starved and not self._warned:
            self._warned = True
            warn_unfilled(self, budget, found, fetch.setting)
        return ordered.nodes
