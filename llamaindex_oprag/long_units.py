"""`LongUnitRetriever`: searches short nodes, returns the long units they are in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Unpack

from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.callbacks import CallbackManager
from llama_index.core.indices.base import BaseIndex
from llama_index.core.schema import IndexNode, NodeWithScore, QueryBundle

from llamaindex_oprag._convert import make_hits, make_node, make_text_node
from llamaindex_oprag._options import AssignableOption, set_tokenizer
from llamaindex_oprag._searched import list_verified_stores, search_filter
from llamaindex_oprag.documents import SourceLike, document_source
from llamaindex_oprag.retrievers import RetrieverFetch, WrappingRetriever
from oprag.chunk import Hit
from oprag.context import ContextOptions, OrderedContext
from oprag.diagnosing import Verification
from oprag.effects import Effects
from oprag.errors import invalid_option, refuse_unknown
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


class LongUnitRetriever(WrappingRetriever):
    """Searches short nodes and returns the best long units whole.

    A unit is as good as its best node. Each searched node has to name its document, and
    also its characters there if the document is in several units. Nodes of 512 tokens
    work well.

    A vector index retriever is asked for eight nodes for each unit (or for its own
    `similarity_top_k`, if that is more), and for twice as many until they are of
    `similarity_top_k` units or the store has no more. Its filters, query mode and
    other settings hold, and it is not written to. Other retrievers are asked once,
    unchanged. If fewer units are found, all of them are returned.

    A unit comes as one `TextNode`, with the score of its best node and a stable id.
    Its metadata, shown to no model, holds `doc_key` and `doc_uri`, with a unit of
    several documents named as a document by itself; `unit_documents` (the names of its
    documents), `unit_spans` (the characters of each that it holds,
    `[[0, 120], [0, 300]]`), `unit_tokens` and `unit_score` (of its best node); and its
    place, as for every result.

    Args:
        base_retriever: An index, or a retriever that returns nodes best first.
        units: The list that `oprag.units.group_documents` gave.
        documents: Full texts by document name: anything that
            `llamaindex_oprag.document_source` takes.
        similarity_top_k: How many of the best units to return. This and `token_budget`
            can be assigned later.
        **options: `order`, `sort_documents` (of units, by the best chunk of each),
            `separator` (between the documents of a unit), `position_keys`,
            `document_key`, `on_problem`, `token_budget` (the worst units are left out)
            and `token_counter` as in `oprag.context.ContextOptions`.
        callback_manager: None for that of `base_retriever`.
        object_map: The objects that index nodes stand for, by their `index_id`. They
            are resolved before units are looked for.
        objects: The same as a list of index nodes that hold their objects.
        verbose: Print the objects to which index nodes are resolved.

    Raises:
        InvalidOptionError: On construction, for a value that an option cannot have,
            such as `documents` in a store that cannot be read through the search's
            filter.
        OpragError: When retrieving: a node is of no unit, or does not name its place
            (not with `on_problem="warn"`); `documents` lacks a document, or has
            another text of one that was cut; or not even the best unit fits the budget.

    Warns:
        PositionWarning: If units are not known, with `on_problem="warn"`: the
            nodes are returned in the retrieved order.

    Source:
        LongRAG (arXiv 2406.15319), which reads 4 to 8 units.
    """

    per_call = ("similarity_top_k", "token_budget")
    token_budget = AssignableOption()

    def __init__(
        self,
        base_retriever: BaseIndex[Any] | BaseRetriever,
        *,
        units: Sequence[LongUnit],
        documents: SourceLike,
        similarity_top_k: int = 4,
        callback_manager: CallbackManager | None = None,
        object_map: dict[str, Any] | None = None,
        objects: list[IndexNode] | None = None,
        verbose: bool = False,
        **options: Unpack[UnitKeywords],
    ) -> None:
        refuse_unknown(options, ("similarity_top_k", *UNIT_DESCRIPTIONS), self.advice)
        self._index = UnitIndex(units)
        self._source = document_source(documents)
        self._options = ContextOptions(**options, documents=self._source)
        self.similarity_top_k = similarity_top_k
        super().__init__(
            base_retriever,
            callback_manager=callback_manager,
            object_map=object_map,
            objects=objects,
            verbose=verbose,
        )
        self._bound_options()

    @property
    def similarity_top_k(self) -> int:
        """How many of the best units to return."""
        return self._k

    @similarity_top_k.setter
    def similarity_top_k(self, similarity_top_k: int) -> None:
        if type(similarity_top_k) is not int or similarity_top_k < 1:
            takes = "It takes a number of units from 1 on."
            raise invalid_option("similarity_top_k", similarity_top_k, takes)
        self._k = similarity_top_k

    def _verification(self) -> Verification:
        stores, options = (
            list_verified_stores(self.base_retriever),
            self._bound_options(),
        )
        return Verification(stores, options, find=self._choose, read_found=read_units)

    def _bound_options(self) -> ContextOptions:
        """Return the options, with the full texts that the search's filter admits."""
        source = self._source.within(search_filter(self))
        return replace(set_tokenizer(self._options), documents=source)

    def _steps(self, query: QueryBundle) -> Effects[OrderedContext[NodeWithScore]]:
        options, more = self._bound_options(), True
        fetch = RetrieverFetch(self.base_retriever, at_least=chunks_for_units(self._k))
        while more:
            found: list[NodeWithScore] = yield self._ask(query, fetch)
            hits = make_hits(found)
            chosen: ChosenUnits = yield choose_with_texts(
                self._index, hits, self._k, options
            )
            more = fetch.wants_more(
                hits.copy, returned=len(found), used_all=chosen.too_few
            )
        if chosen.chunks is not None:
            return chosen.chunks.map(make_node)
        nodes = []
        for (unit, chunk), text, metadata in (yield from read_units(chosen, options)):
            one = chunk if len(unit.documents) == 1 else None
            node = make_text_node(unit.id, text, metadata, [*metadata], one)
            nodes.append(NodeWithScore(node=node, score=chunk.score))
        return OrderedContext(nodes, used_all=False)

    def _choose(self, hits: Sequence[Hit], options: ContextOptions) -> ChosenUnits:
        return choose_units(self._index, hits, self._k, options)
