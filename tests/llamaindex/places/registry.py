"""The list of places: what the tests of this folder run and `docs/apps.md` shows."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["PLACES", "Place", "table"]

_CHAINED = "MarkdownNodeParser(), SentenceSplitter(chunk_size=60, chunk_overlap=0)"
_FUSION = "QueryFusionRetriever([retriever, other], llm=writer, similarity_top_k=10)"
_SEARCH = 'name="search", description="Searches the lease."'


def _over_pipeline(transformations: str) -> str:
    return (
        "OrderPreservingRetriever(retriever_over(IngestionPipeline("
        f"transformations=[{transformations}]).run(documents=sections)))"
    )


class Place(NamedTuple):
    """A place to put one of oprag's components."""

    id: str
    """Names the place in the page and in the tests; it does not change."""
    kind: str
    """Which test runs it."""
    how: str
    """One Python expression on the names of `ingredients.py`: what the page shows."""
    instead: str | None = None
    """Where order is lost: id of a place that keeps it. None where it is kept."""


PLACES = (
    # Retrievers, postprocessors and engines
    Place(
        "index-retriever",
        "engines",
        "OrderPreservingRetriever(index.as_retriever(), similarity_top_k=10)",
    ),
    Place("around-fusion", "engines", f"OrderPreservingRetriever({_FUSION})"),
    Place(
        "around-auto-merging",
        "engines",
        "OrderPreservingRetriever(AutoMergingRetriever(leaves, storage))",
    ),
    Place("after-a-reranker", "engines", "[reranker, OrderPreservingPostprocessor()]"),
    Place(
        "after-prev-next",
        "engines",
        "[PrevNextNodePostprocessor(docstore=index.docstore, num_nodes=1, "
        'mode="both"), OrderPreservingPostprocessor()]',
    ),
    Place(
        "before-a-filter",
        "engines",
        "[OrderPreservingPostprocessor(), "
        "SimilarityPostprocessor(similarity_cutoff=0.1)]",
    ),
    Place(
        "rescored",
        "engines",
        "[OrderPreservingPostprocessor(), falling_scores, by_score]",
    ),
    Place(
        "query-engine",
        "engines",
        "index.as_query_engine(llm=llm, similarity_top_k=10, "
        "node_postprocessors=[OrderPreservingPostprocessor()])",
    ),
    Place(
        "router",
        "engines",
        "RouterQueryEngine(selector=LLMSingleSelector.from_defaults(llm=chooser), "
        f"query_engine_tools=[QueryEngineTool.from_defaults(engine, {_SEARCH})], "
        "llm=llm)",
    ),
    Place(
        "sub-question",
        "engines",
        "SubQuestionQueryEngine.from_defaults("
        f"[QueryEngineTool.from_defaults(engine, {_SEARCH})], "
        "question_gen=LLMQuestionGenerator.from_defaults(llm=planner), llm=llm)",
    ),
    Place(
        "citation",
        "engines",
        "CitationQueryEngine.from_args(index, retriever=ordered, llm=llm)",
    ),
    Place("ingestion-annotated", "engines", _over_pipeline(f"{_CHAINED}, annotator")),
    Place(
        "windows",
        "windows",
        '[MetadataReplacementPostProcessor(target_metadata_key="window"), '
        "OrderPreservingPostprocessor()]",
    ),
    Place(
        "response-modes",
        "response_modes",
        "RetrieverQueryEngine.from_args(ordered, llm=llm, response_mode=mode)",
    ),
    # Chats, tools, agents, workflows
    Place(
        "chat-modes",
        "chats",
        "index.as_chat_engine(chat_mode=mode, llm=llm, similarity_top_k=10, "
        "node_postprocessors=[OrderPreservingPostprocessor()])",
    ),
    Place(
        "function-agent",
        "agents",
        "FunctionAgent(tools=["
        f"RetrieverTool.from_defaults(ordered, {_SEARCH})], llm=caller)",
    ),
    Place(
        "agent-workflow",
        "agents",
        "AgentWorkflow.from_tools_or_functions("
        f"[QueryEngineTool.from_defaults(engine, {_SEARCH})], llm=caller)",
    ),
    Place(
        "react-agent",
        "react_agents",
        f"ReActAgent(tools=[RetrieverTool.from_defaults(ordered, {_SEARCH})], llm=llm)",
    ),
    Place(
        "workflow-merge",
        "workflows",
        "MergeThenAnswer(retriever, OrderPreservingPostprocessor(), synthesizer)",
    ),
    # What undoes the order
    Place(
        "inside-fusion",
        "order_breakers",
        "QueryFusionRetriever([ordered, other], llm=writer, similarity_top_k=10)",
        instead="around-fusion",
    ),
    Place(
        "inside-auto-merging",
        "order_breakers",
        "AutoMergingRetriever(OrderPreservingRetriever(leaves), storage)",
        instead="around-auto-merging",
    ),
    Place(
        "before-a-reranker",
        "order_breakers",
        "[OrderPreservingPostprocessor(), reranker]",
        instead="after-a-reranker",
    ),
    Place(
        "before-long-context-reorder",
        "order_breakers",
        "[OrderPreservingPostprocessor(), LongContextReorder()]",
        instead="query-engine",
    ),
    Place(
        "before-score-sorting",
        "order_breakers",
        "[OrderPreservingPostprocessor(), by_score]",
        instead="rescored",
    ),
    # What is refused
    Place(
        "chained-own-offsets",
        "refused",
        _over_pipeline(_CHAINED),
        instead="ingestion-annotated",
    ),
)
"""In the order of the page. Ids are unique."""


def table() -> str:
    """Return the places as the Markdown table of `docs/apps.md`."""
    lines = ["| id | how | in order |", "|---|---|---|"]
    for place in PLACES:
        lost = "error" if place.kind == "refused" else "no"
        verdict = f"{lost}: `{place.instead}`" if place.instead else "yes"
        lines.append(f"| `{place.id}` | `{place.how}` | {verdict} |")
    return "\n".join(lines)
