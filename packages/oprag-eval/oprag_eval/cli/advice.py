"""The end of a run: the report's advice, and how to do that in one's own code."""

from __future__ import annotations

from oprag_eval.reports.summary import Summary

_USE = {
    "dos-rag": "OffsetSentenceSplitter(chunk_size=100), "
    "OrderPreservingRetriever(token_budget={budget})",
    "op-rag": "OffsetTokenSplitter(chunk_size=128), "
    "OrderPreservingRetriever(token_budget={budget})",
    "recommended": "OffsetSentenceSplitter(chunk_size=128) and one of 64 in one index, "
    "OrderPreservingRetriever(token_budget={budget}, bm25=True, "
    'selection="recall")',
    "full-document": "no retrieval: send the whole documents",
    "langchain-default": "LangChain as it is: "
    "RecursiveCharacterTextSplitter(chunk_size=1000, chunk_overlap=200), "
    "as_retriever()",
    "llamaindex-default": "LlamaIndex as it is: SentenceSplitter(), as_query_engine()",
}
"""Code for an application, by system."""


def advice_lines(summary: Summary) -> list[str]:
    """Lay the advice of a report out for the terminal.

    Returns:
        An empty line, the advice, and indented below it what it is in code and why.
    """
    advice, *why = summary.advice
    return ["", advice, *(f"  {line}" for line in [*_in_code(summary), *why])]


def _in_code(summary: Summary) -> list[str]:
    chosen = summary.sweet_spot.chosen if summary.sweet_spot else None
    for arm in summary.arms:
        if arm.label == chosen and summary.advice[0].startswith("Use "):
            use = None if arm.cut else _USE.get(arm.system)
            return [f"In your code: {use.format(budget=arm.budget)}"] if use else []
    return []
