"""The list of places: what the tests of this folder run and `docs/apps.md` shows."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["PLACES", "Place", "table"]


class Place(NamedTuple):
    """A place to put one of oprag's components."""

    id: str
    """Names the place in the page and in the tests; it does not change."""
    kind: str
    """Says how it is asked."""
    how: str
    """One Python expression on the names of `ingredients.py`: what the page shows."""
    instead: str | None = None
    """Where order is lost: id of a place that keeps it. None where it is kept."""


PLACES = (
    # Retrievers, and what comes after one
    Place(
        "vector-store",
        "retrieval",
        "OrderPreservingRetriever(vectorstore=vectorstore, k=6)",
    ),
    Place(
        "around-ensemble",
        "retrieval",
        "OrderPreservingRetriever(base_retriever="
        "EnsembleRetriever(retrievers=[retriever, other]))",
    ),
    Place(
        "around-multi-query",
        "retrieval",
        "OrderPreservingRetriever(base_retriever="
        "MultiQueryRetriever.from_llm(retriever, llm=writer))",
    ),
    Place(
        "around-parent-document",
        "retrieval",
        "OrderPreservingRetriever(base_retriever=parent_document)",
    ),
    Place(
        "around-reranked",
        "retrieval",
        "OrderPreservingRetriever(base_retriever=ContextualCompressionRetriever("
        "base_compressor=reranker, base_retriever=retriever))",
    ),
    Place(
        "pipeline-last",
        "retrieval",
        "DocumentCompressorPipeline("
        "transformers=[reranker, OrderPreservingCompressor()])",
    ),
    Place("lcel-step", "retrieval", "retriever | OrderPreservingCompressor()"),
    Place(
        "before-a-filter",
        "retrieval",
        "ContextualCompressionRetriever("
        "base_compressor=LLMChainFilter.from_llm(judge), base_retriever=ordered)",
    ),
    Place(
        "rescored",
        "retrieval",
        "OrderPreservingRetriever(base_retriever=scored) | falling_scores | by_score",
    ),
    # Chains
    Place(
        "stuff-documents",
        "chains",
        "RunnablePassthrough.assign("
        'context=RunnablePick("context") | OrderPreservingCompressor())'
        " | create_stuff_documents_chain(model, prompt)",
    ),
    Place("retrieval-chain", "chains", "create_retrieval_chain(ordered, stuff)"),
    Place(
        "history-aware",
        "chains",
        "create_retrieval_chain("
        "create_history_aware_retriever(writer, ordered, rewrite), stuff)",
    ),
    # Agents and graphs
    Place(
        "agent-tool",
        "agents",
        "create_agent(model, tools=["
        'create_retriever_tool(ordered, "search", "Searches the book.")])',
    ),
    Place(
        "dynamic-prompt",
        "middleware",
        "create_agent(model, middleware=["
        "dynamic_prompt(lambda request: joined(ordered.invoke(question)))])",
    ),
    Place(
        "graph-node",
        "graphs",
        'graph.add_node("context", lambda state: '
        '{"context": ordered.invoke(state["question"])})',
    ),
    Place(
        "graph-merge",
        "graphs",
        'graph.add_node("context", lambda state: '
        '{"context": OrderPreservingCompressor()(state["found"])})',
    ),
    # What undoes the order
    Place(
        "inside-ensemble",
        "order_breakers",
        "EnsembleRetriever(retrievers=[ordered, other])",
        instead="around-ensemble",
    ),
    Place(
        "child-store",
        "order_breakers",
        "OrderPreservingRetriever(vectorstore=parent_document.vectorstore, k=6)",
        instead="around-parent-document",
    ),
    Place(
        "before-a-reranker",
        "order_breakers",
        "ContextualCompressionRetriever("
        "base_compressor=reranker, base_retriever=ordered)",
        instead="pipeline-last",
    ),
    Place(
        "before-long-context-reorder",
        "order_breakers",
        "ordered | best_at_the_ends",
        instead="vector-store",
    ),
    Place(
        "before-score-sorting",
        "order_breakers",
        "OrderPreservingRetriever(base_retriever=scored) | by_score",
        instead="rescored",
    ),
)
"""In the order of the page. Ids are unique."""


def table() -> str:
    """Return the places as the Markdown table of `docs/apps.md`."""
    lines = ["| id | how | in order |", "|---|---|---|"]
    for place in PLACES:
        how = place.how.replace("|", "\\|")
        verdict = f"no: `{place.instead}`" if place.instead else "yes"
        lines.append(f"| `{place.id}` | `{how}` | {verdict} |")
    return "\n".join(lines)
