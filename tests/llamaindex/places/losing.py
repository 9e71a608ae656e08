"""Places where order is lost or refused, and each one's `instead`."""

from __future__ import annotations

from tests.llamaindex.places.place import CHAINED, Place, over_pipeline

__all__ = ["LOSING"]

LOSING = (
    # What undoes the order
    Place(
        "inside-fusion",
        "order_breakers",
        "inside `QueryFusionRetriever`",
        "QueryFusionRetriever([ordered, other], llm=writer, similarity_top_k=10)",
        instead="around-fusion",
    ),
    Place(
        "inside-auto-merging",
        "order_breakers",
        "inside `AutoMergingRetriever`",
        "AutoMergingRetriever(OrderPreservingRetriever(leaves), storage)",
        instead="around-auto-merging",
    ),
    Place(
        "before-llm-rerank",
        "order_breakers",
        "before `LLMRerank`",
        "[OrderPreservingPostprocessor(), LLMRerank(llm=judge, top_n=5)]",
        instead="after-llm-rerank",
    ),
    Place(
        "before-a-reranker",
        "order_breakers",
        "before a reranker",
        "[OrderPreservingPostprocessor(), reranker]",
        instead="after-a-reranker",
    ),
    Place(
        "before-long-context-reorder",
        "order_breakers",
        "before `LongContextReorder`",
        "[OrderPreservingPostprocessor(), LongContextReorder()]",
        instead="after-long-context-reorder",
    ),
    Place(
        "before-score-sorting",
        "order_breakers",
        "before the application sorts by score",
        "[OrderPreservingPostprocessor(), by_score]",
        instead="rescored",
    ),
    Place(
        "rescored",
        "rescoring",
        "the same with scores that fall",
        "[OrderPreservingPostprocessor(), falling_scores, by_score]",
    ),
    # What is refused
    Place(
        "auto-merging-own-offsets",
        "refused",
        "around `AutoMergingRetriever`, over LlamaIndex's own offsets",
        "OrderPreservingRetriever(AutoMergingRetriever(parsed_leaves, parsed_storage))",
        instead="around-auto-merging",
    ),
    Place(
        "chained-own-offsets",
        "refused",
        "parsers of LlamaIndex one after another, with their own offsets",
        over_pipeline(CHAINED, "sections"),
        instead="ingestion-annotated",
    ),
)
