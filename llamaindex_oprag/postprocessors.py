"""`OrderPreservingPostprocessor`: document order after any retriever."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import llama_index.core.instrumentation as instrument
from llama_index.core.constants import DEFAULT_SIMILARITY_TOP_K
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.schema import NodeWithScore, QueryBundle

from llamaindex_oprag._convert import arrange
from llamaindex_oprag._options import ContextFields, refuse_lost_state
from llamaindex_oprag.events import reported
from oprag.context import Arranged, with_texts

_dispatcher = instrument.get_dispatcher(__name__)  # type: ignore[attr-defined]  # re-exported there without an __all__


class OrderPreservingPostprocessor(ContextFields, BaseNodePostprocessor):
    """Puts retrieved nodes into the order of their documents, within a budget.

    Give it as the **last** of `node_postprocessors`: rerankers and fusion sort by
    score again. It takes a best-first list (results of another component keep their
    ranks), keeps the best (`top_n`, `token_budget`) and orders them. It needs no query
    and no scores.

    Nodes come back as copies, with their ids and with their places in the metadata.
    Running it on its own output keeps texts, order and ranks.

    Offsets that LlamaIndex's chained and hierarchical parsers wrote are refused
    with an error, because they are not offsets in the document. LlamaIndex's other
    offsets can be silently wrong where a document repeats itself;
    those of `OffsetTokenNodeParser` and `OffsetSentenceNodeParser` are exact.

    Args:
        top_n: How many of the best nodes to keep; None for all. Can be assigned later.
        **options: The other options of `oprag.context.ContextOptions`.
        callback_manager: Gets the events, as everywhere in LlamaIndex.

    Raises:
        InvalidOptionError: On construction and assignment, for an unknown option or an
            invalid value: `documents` cannot be an index or a store, which may hold
            text that the search's filter hides. It is a
            `ValueError`.

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

    @classmethod
    def class_name(cls) -> str:
        """Name in `to_dict`."""
        return "OrderPreservingPostprocessor"

    def _postprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        ordered = arrange(nodes, self.context_options())
        return self._warned_of(nodes, ordered)

    @_dispatcher.span
    async def _apostprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        work = partial(arrange, nodes)
        ordered = await with_texts(self.context_options(), work)
        return self._warned_of(nodes, ordered)

    def _warned_of(
        self, nodes: list[NodeWithScore], ordered: Arranged[NodeWithScore]
    ) -> list[NodeWithScore]:
        # Fewer than LlamaIndex asks for by default are most likely all that there is.
        if ordered.used_all and len(nodes) >= DEFAULT_SIMILARITY_TOP_K:
            ordered = replace(ordered, unfilled=(self.token_budget, len(nodes)))
        return reported(ordered, self._problems)

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = super().__getstate__()
        refuse_lost_state(self, state)
        return state
