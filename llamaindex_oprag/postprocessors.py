"""`OrderPreservingPostprocessor`: document order after any retriever."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Never, TypeAlias, Unpack

import llama_index.core.instrumentation as instrument
from llama_index.core.bridge.pydantic import (
    ConfigDict,
    Field,
    PrivateAttr,
    ValidationInfo,
    field_validator,
)
from llama_index.core.constants import DEFAULT_SIMILARITY_TOP_K
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.schema import BaseNode, NodeWithScore, QueryBundle

from llamaindex_oprag._convert import arrange_nodes, make_hits
from llamaindex_oprag._nodes import ensure_scored
from llamaindex_oprag._options import PostprocessingWithOptions
from llamaindex_oprag._pickles import refuse_lost_state
from llamaindex_oprag._searched import list_verified_stores, require_retriever
from llamaindex_oprag.documents import SourceLike, document_source, source_or_none
from llamaindex_oprag.events import OrderedContextEvent
from llamaindex_oprag.results import ResultLike
from oprag.chunk import interleave
from oprag.context import (
    DEFAULTS,
    DESCRIPTIONS,
    ContextKeywords,
    ContextOptions,
    OnProblem,
    OpragErrorsMixin,
    Order,
    OrderedContext,
    Problems,
    Selection,
    check_option,
    load_texts_then,
    sort_by_rank,
)
from oprag.diagnosing import VerifiableOver, Verification
from oprag.documents import check_entries
from oprag.effects import Effect
from oprag.errors import first_unnamed, refuse_unnamed
from oprag.ordering import SortDocuments
from oprag.positions import DocumentKey, PositionKeys
from oprag.result_key import drop_rank, is_result
from oprag.stores import SearchFilter
from oprag.tokens import TokenizerSpec

_dispatcher = instrument.get_dispatcher(__name__)  # type: ignore[attr-defined]  # re-exported there without an __all__


_CALLABLE = ("position_keys", "document_key", "sort_documents", "token_counter")
_JSON = tuple(n for n in DESCRIPTIONS if n not in {*_CALLABLE, "documents"})


def _option(name: str) -> Any:
    """Make a field for an option, with the default and description of the core."""
    return Field(
        default=DEFAULTS.get(name),
        description=DESCRIPTIONS[name],
        repr=name != "documents",
    )


_BEFORE = "Set it on the retriever before it."
_IN_RETRIEVER = "OrderPreservingRetriever has it: here no store is known."
_ADVICE = {
    **dict.fromkeys(
        ("filters", "filter", "similarity_cutoff", "search_kwargs"), _BEFORE
    ),
    **dict.fromkeys(("widen", "bm25"), _IN_RETRIEVER),
    **dict.fromkeys(
        ("base_retriever", "retriever", "index"),
        "It goes into a query engine: RetrieverQueryEngine.from_args(retriever, "
        "node_postprocessors=[OrderPreservingPostprocessor()]). "
        "OrderPreservingRetriever(retriever) is both in one.",
    ),
    **dict.fromkeys(
        ("query", "question", "query_str"), "No question is needed: leave it out."
    ),
}


Found: TypeAlias = Sequence[ResultLike] | Sequence[Sequence[ResultLike]]
"""Nodes, or one list of them for each of several searches."""


class PostprocessorKeywords(ContextKeywords, total=False):
    """Options of `order_nodes`, for type checkers."""

    top_n: int | None
    documents: SourceLike | None


class OrderPreservingPostprocessor(
    VerifiableOver, OpragErrorsMixin, PostprocessingWithOptions, BaseNodePostprocessor
):
    """Puts retrieved nodes into the order of their documents, within a budget.

    Give it as the **last** of `node_postprocessors`: rerankers and fusion sort by
    score again. It takes a list, best first (results of another component keep their
    ranks), keeps the best (`top_n`, `token_budget`) and orders them. It needs no query
    and no scores.

    Nodes come back as copies, with their ids and with their places in the metadata.
    Running it on its own output keeps texts, order and ranks.

    Offsets that LlamaIndex's chained and hierarchical parsers wrote are refused
    with an error, because they are not offsets in the document. LlamaIndex's other
    offsets can be silently wrong if a document repeats itself. The offsets of
    `OffsetTokenNodeParser` and `OffsetSentenceNodeParser` are exact.

    Args:
        top_n: How many of the best nodes to keep; None for all. Can be assigned later.
        **options: The other options of `oprag.context.ContextOptions`.
        callback_manager: Gets the events, as everywhere in LlamaIndex.

    Raises:
        InvalidOptionError: On construction and assignment, for an unknown option or an
            invalid value: `documents` cannot be an index or a store, which may hold
            text that the search's filter hides. It is a `ValueError`.
        PositionError: When called, if positions are missing or contradict each other.

    Warns:
        UnfilledBudgetWarning: Once, if all nodes fit the budget and there are 2
            (LlamaIndex's default) or more: a postprocessor cannot fetch more;
            `OrderPreservingRetriever` can.

    Example:
        >>> from llama_index.core.schema import NodeWithScore, TextNode
        >>> nodes = [
        ...     NodeWithScore(
        ...         node=TextNode(text="end", metadata={"doc_id": "a", "n": 2})
        ...     ),
        ...     NodeWithScore(
        ...         node=TextNode(text="to", metadata={"doc_id": "a", "n": 1})
        ...     ),
        ... ]
        >>> postprocessor = OrderPreservingPostprocessor(position_keys="n")
        >>> [node.text for node in postprocessor.postprocess_nodes(nodes)]
        ['to', 'end']
    """

    model_config = ConfigDict(
        arbitrary_types_allowed=True, extra="forbid", validate_assignment=True
    )

    advice: ClassVar[Mapping[str, str]] = _ADVICE
    per_call: ClassVar[Collection[str]] = ("top_n", "token_budget", "merge")
    top_n: int | None = _option("top_n")
    token_budget: int | None = _option("token_budget")
    selection: Selection = _option("selection")
    order: Order = _option("order")
    sort_documents: SortDocuments = _option("sort_documents")
    merge: bool | None = _option("merge")
    citations: bool = _option("citations")
    on_problem: OnProblem = _option("on_problem")
    position_keys: PositionKeys | None = _option("position_keys")
    document_key: DocumentKey | None = _option("document_key")
    token_counter: TokenizerSpec = _option("token_counter")
    separator: str = _option("separator")
    documents: SourceLike | None = _option("documents")

    # Field by field, because pydantic keeps an assigned value that only a validator
    # of the whole model refuses. Values stay as given: a folder is a path in JSON, and
    # nothing is read. A value that may be a callable has no JSON schema.
    @field_validator(*_JSON, mode="wrap", check_fields=False)
    @classmethod
    def _check_value(cls, value: Any, _: Any, info: ValidationInfo) -> Any:
        check_option(str(info.field_name), value)
        return value

    @field_validator(*_CALLABLE, "documents", mode="plain", check_fields=False)
    @classmethod
    def _check_callable(cls, value: Any, info: ValidationInfo) -> Any:
        if info.field_name == "documents" and value is not None:
            unseen = "a postprocessor cannot see what the search filters by"
            document_source(value).within(SearchFilter(unseen=unseen))
        check_option(str(info.field_name), value)
        return value

    _source: tuple[Any, Any] = PrivateAttr(default=(None, None))

    _problems: Problems = PrivateAttr()
    """The warnings that were given."""

    def model_post_init(self, _: Any) -> None:
        """Begin without any problem."""
        self._problems = Problems(type(self).__name__)

    def context_options(self) -> ContextOptions:
        """Return the options as the core takes them."""
        if self._source[0] is not self.documents:
            self._source = self.documents, source_or_none(self.documents)
        options = {name: getattr(self, name) for name in DEFAULTS}
        return ContextOptions(**{**options, "documents": self._source[1]})

    def _verification_over(self, searched: Any) -> Verification:
        stores = list_verified_stores(require_retriever("searched", searched))
        return Verification(stores, self.context_options())

    @classmethod
    def class_name(cls) -> str:
        """Return the name in `to_dict`."""
        return "OrderPreservingPostprocessor"

    def _postprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        return self._report(nodes, self._order(nodes).now())

    @_dispatcher.span
    async def _apostprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        return self._report(nodes, await self._order(nodes).later())

    def _order(self, nodes: list[NodeWithScore]) -> Effect:
        def arrange(options: ContextOptions) -> OrderedContext[NodeWithScore]:
            return arrange_nodes(make_hits(nodes), options)

        return load_texts_then(self.context_options(), arrange)

    def _report(
        self, nodes: list[NodeWithScore], ordered: OrderedContext[NodeWithScore]
    ) -> list[NodeWithScore]:
        # Fewer nodes than LlamaIndex's default are most likely all that there are.
        if ordered.used_all and len(nodes) >= DEFAULT_SIMILARITY_TOP_K:
            ordered = replace(ordered, too_few=len(nodes))
        _dispatcher.event(OrderedContextEvent(why=dict(ordered.why)))
        return ordered.warn_and_return(self._problems)

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = super().__getstate__()
        refuse_lost_state(self, state)
        return state


def order_nodes(
    nodes: Found | None = None,
    /,
    *unnamed: Never,
    **options: Unpack[PostprocessorKeywords],
) -> list[NodeWithScore]:
    """Select the best nodes and put them in the order of their documents.

    Args:
        nodes: Best first, with scores or bare. Not changed. For several searches a list
            of lists: the best of each comes first.
        **options: Those of `OrderPreservingPostprocessor`: `top_n`, `token_budget`,
            `merge` and so on.

    Returns:
        Copies of the nodes in reading order, as from `OrderPreservingPostprocessor`.

    Raises:
        OpragError: As `OrderPreservingPostprocessor` does.

    Warns:
        PositionWarning: With `on_problem="warn"`, for nodes that cannot be put in
            order.

    Example:
        >>> from llama_index.core.schema import TextNode
        >>> place = {"source": "a.txt", "start_index": 20}
        >>> later = TextNode(text="third", metadata=place)
        >>> first = TextNode(text="first", metadata={**place, "start_index": 0})
        >>> [node.text for node in order_nodes([later, first])]
        ['first', 'third']
    """
    refuse_unnamed("order_nodes", unnamed, PostprocessorKeywords.__annotations__)
    if nodes is None:
        raise first_unnamed("order_nodes", "nodes")
    component = OrderPreservingPostprocessor(**options)
    listed = _join_searches(nodes, component.context_options())
    ordered: OrderedContext[NodeWithScore] = component._order(listed).now()  # noqa: SLF001 -- of this module
    _dispatcher.event(OrderedContextEvent(why=dict(ordered.why)))
    return ordered.warn_and_return(Problems("order_nodes"))


def _join_searches(nodes: Any, options: ContextOptions) -> list[NodeWithScore]:
    """Join searches, the best of each first; results of components by rank."""
    listed = interleave(nodes)
    check_entries("nodes", listed, NodeWithScore, BaseNode)
    if listed is nodes:
        return [ensure_scored(node) for node in listed]
    searches = [[ensure_scored(node) for node in search] for search in nodes]
    listed = interleave([sort_by_rank(s, make_hits(s), options) for s in searches])
    return [_drop_rank(node) for node in listed]


def _drop_rank(scored: NodeWithScore) -> NodeWithScore:
    """Return a result without its rank: a rank in a search is none in the list."""
    if not is_result(scored.node.metadata):
        return scored
    metadata = drop_rank(scored.node.metadata)
    node = scored.node.model_copy(update={"metadata": metadata})
    return scored.model_copy(update={"node": node})
