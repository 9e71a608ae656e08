"""`LongUnitRetriever`: searches short chunks, returns the long units they are in."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Annotated, Any, TypeAlias, Unpack

from langchain_core.documents import Document
from langchain_core.retrievers import RetrieverLike
from langchain_core.runnables import RunnableConfig
from langchain_core.vectorstores import VectorStore
from pydantic import Field, PrivateAttr, WithJsonSchema, field_validator

from langchain_oprag._convert import make_document, make_hits
from langchain_oprag._options import RetrieverKeywords, option_field
from langchain_oprag._searched import (
    choose_retriever,
    list_verified_stores,
    search_filter,
)
from langchain_oprag.documents import SourceLike
from langchain_oprag.retrievers import RetrieverFetch, WrappingRetriever
from oprag.chunk import Hit
from oprag.context import ContextOptions, OnProblem, Order, OrderedContext, check_option
from oprag.diagnosing import Verification
from oprag.effects import Effects
from oprag.errors import invalid_option
from oprag.ordering import SortDocuments
from oprag.positions import DocumentKey, PositionKeys
from oprag.tokens import TokenizerSpec
from oprag.units import (
    UNIT_DESCRIPTIONS,
    ChosenUnits,
    LongUnit,
    UnitIndex,
    UnitKeywords,
    choose_units,
    choose_with_texts,
    chunks_for_units,
    read_units,
)

Units: TypeAlias = Annotated[Sequence[LongUnit], WithJsonSchema({"type": "array"})]


class LongUnitKeywords(UnitKeywords, RetrieverKeywords, total=False):
    """The optional arguments of `LongUnitRetriever`, for type checkers."""

    k: int


class LongUnitRetriever(WrappingRetriever):
    """Searches short chunks and returns the best long units whole.

    A unit is as good as its best chunk. Each searched chunk has to name its document,
    and also its characters there if the document is in several units. Chunks of 512
    tokens work well.

    A vector store is asked for eight chunks for each unit (or for the `k` of its
    `search_kwargs`, if that is more), and for twice as many until they belong to `k`
    units or it has no more; filters and thresholds hold. Other retrievers are asked
    once, unchanged. If fewer than `k` units are found, all of them are returned.

    Args:
        base_retriever: A vector store, or any `Runnable` from a query to chunks, best
            first.
        units: The list that `oprag.units.group_documents` gave.
        documents: Full texts by document name: anything that `document_source`
            takes.
        vectorstore: A vector store, in the place of `base_retriever`.
        k: How many of the best units to return.
        **options: `order`, `sort_documents` (of units, by the best chunk of each),
            `separator` (between the documents of a unit), `position_keys`,
            `document_key`, `on_problem`, `token_budget` (the worst units are left out)
            and `token_counter` as in `oprag.context.ContextOptions`; `name`, `tags` and
            `metadata` of runs in traces.

    A unit comes as one `Document`. Its metadata holds `doc_key` and `doc_uri`, with a
    unit of several documents named as a document by itself; `unit_documents` (the names
    of its documents), `unit_spans` (the characters of each that it holds,
    `[[0, 120], [0, 300]]`), `unit_tokens` and, if it is known, `unit_score` (of its
    best chunk); and its place, as for every result.

    Raises:
        InvalidOptionError: On construction and assignment, for an option that does not
            exist or cannot have this value, such as `documents` in a store that cannot
            be read through the search's filter.
        OpragError: When invoked: a chunk is of no unit, or does not name its place
            (not with `on_problem="warn"`); `documents` lacks a document, or has
            another text of one that was cut; or not even the best unit fits the budget.

    Warns:
        PositionWarning: If units are not known, with `on_problem="warn"`: the
            chunks are returned in the retrieved order.

    Source:
        LongRAG (arXiv 2406.15319), which reads 4 to 8 units.
    """

    units: Units = Field(repr=False)
    documents: SourceLike = Field(repr=False)
    k: int = 4
    order: Order = "document"
    sort_documents: SortDocuments = "best_rank"
    position_keys: PositionKeys | None = option_field("position_keys")
    document_key: DocumentKey | None = option_field("document_key")
    separator: str = "\n\n"
    on_problem: OnProblem = option_field("on_problem", descriptions=UNIT_DESCRIPTIONS)
    token_budget: int | None = option_field(
        "token_budget", descriptions=UNIT_DESCRIPTIONS
    )
    token_counter: TokenizerSpec = option_field("token_counter")

    _index: tuple[Any, UnitIndex] | None = PrivateAttr(default=None)

    def __init__(
        self,
        base_retriever: RetrieverLike | VectorStore | None = None,
        *,
        units: Sequence[LongUnit],
        documents: SourceLike,
        vectorstore: VectorStore | None = None,
        **options: Unpack[LongUnitKeywords],
    ) -> None:
        base = choose_retriever(base_retriever, vectorstore)
        given: dict[str, Any] = {"base_retriever": base, **options}
        given.update(units=units, documents=documents)
        super().__init__(**given)
        self._full_texts().within(search_filter(self.base_retriever, {}, {}))
        self._unit_index()

    @field_validator("units", mode="plain")
    @classmethod
    def _keep_units(cls, units: Any) -> Any:
        return units

    @field_validator("k", mode="plain")
    @classmethod
    def _check_k(cls, k: Any) -> int:
        check_option("k", k)
        if k is None:
            raise invalid_option("k", k, "It takes a number of units from 1 on.")
        return int(k)

    def _verification(self) -> Verification:
        stores = list_verified_stores(self.base_retriever)
        options = self._make_options(self._make_fetch({}, {}, self.k))
        find = partial(self._choose, self.k)
        return Verification(stores, options, find=find, read_found=read_units)

    def _make_fetch(
        self, config: RunnableConfig, call: dict[str, Any], k: int | None
    ) -> RetrieverFetch:
        k = self.k if k is None else k
        least = chunks_for_units(k)
        return RetrieverFetch(self.base_retriever, config, call, k=k, at_least=least)

    def _make_options(self, fetch: RetrieverFetch) -> ContextOptions:
        """Return the options, with the full texts that the search's filter admits."""
        given = {name: getattr(self, name) for name in UNIT_DESCRIPTIONS}
        source = self._full_texts().within(search_filter(*fetch.search))
        return ContextOptions(**given, documents=source)

    def _steps(
        self, query: str, fetch: RetrieverFetch
    ) -> Effects[OrderedContext[Document]]:
        options, more = self._make_options(fetch), True
        while more:
            found: list[Document] = yield fetch.ask(query)
            hits = make_hits(found)
            chosen: ChosenUnits = yield choose_with_texts(
                self._unit_index(), hits, fetch.k or 0, options
            )
            more = fetch.wants_more(
                hits.copy, returned=len(found), used_all=chosen.too_few
            )
        if chosen.chunks is not None:
            return chosen.chunks.map(make_document)
        read = yield from read_units(chosen, options)
        units = [Document(text, id=u.unit.id, metadata=m) for u, text, m in read]
        return OrderedContext(units, used_all=False)

    def _choose(
        self, k: int, hits: Sequence[Hit], options: ContextOptions
    ) -> ChosenUnits:
        return choose_units(self._unit_index(), hits, k, options)

    def _unit_index(self) -> UnitIndex:
        if self._index is None or self._index[0] is not self.units:
            self._index = (self.units, UnitIndex(self.units))
        return self._index[1]
