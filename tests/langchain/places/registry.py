"""The list of places: what the tests of this folder run and `docs/places.md` shows.

The third column of the page, `how`, is the very code that is run.
"""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["PLACES", "Place", "places_of", "table"]


class Place(NamedTuple):
    """A place to put one of oprag's components."""

    id: str
    """Names the place in the page and in the tests; it does not change."""
    kind: str
    """What it belongs to; the tests of a kind are in one module."""
    where: str
    """The place in words, in Markdown."""
    how: str
    """One Python expression on the names of `ingredients.py`."""
    instead: str | None = None
    """Where order is lost: id of a place that keeps it. None where it is kept."""

    @property
    def keeps_order(self) -> bool:
        """Whether the model reads the chunks in document order."""
        return self.instead is None


PLACES = (
    # Retrievers: in the place of one, and around those that merge or fuse
    Place(
        "vector-store",
        "retrievers",
        "instead of `as_retriever()`",
        "OrderPreservingRetriever(vectorstore=vectorstore, k=6)",
    ),
    Place(
        "around-chain",
        "retrievers",
        "around a chain that ends in a retriever",
        "OrderPreservingRetriever(base_retriever=rephrase | retriever)",
    ),
    Place(
        "around-ensemble",
        "retrievers",
        "around `EnsembleRetriever`",
        "OrderPreservingRetriever(base_retriever="
        "EnsembleRetriever(retrievers=[retriever, other]))",
    ),
    Place(
        "around-merger",
        "retrievers",
        "around `MergerRetriever`",
        "OrderPreservingRetriever(base_retriever="
        "MergerRetriever(retrievers=[retriever, other]))",
    ),
    Place(
        "around-multi-query",
        "retrievers",
        "around `MultiQueryRetriever`",
        "OrderPreservingRetriever(base_retriever="
        "MultiQueryRetriever.from_llm(retriever, llm=writer))",
    ),
    Place(
        "around-parent-document",
        "retrievers",
        "around `ParentDocumentRetriever`",
        "OrderPreservingRetriever(base_retriever=parent_document)",
    ),
    Place(
        "around-multi-vector",
        "retrievers",
        "around `MultiVectorRetriever`",
        "OrderPreservingRetriever(base_retriever=multi_vector)",
    ),
    Place(
        "around-reranked",
        "retrievers",
        "around a retriever that reranks",
        "OrderPreservingRetriever(base_retriever=ContextualCompressionRetriever("
        "base_compressor=reranker, base_retriever=retriever))",
    ),
    # Compressors and transformers
    Place(
        "compression-retriever",
        "compressors",
        "in `ContextualCompressionRetriever`",
        "ContextualCompressionRetriever("
        "base_compressor=OrderPreservingCompressor(), base_retriever=retriever)",
    ),
    Place(
        "pipeline-last",
        "compressors",
        "last in `DocumentCompressorPipeline`",
        "DocumentCompressorPipeline("
        "transformers=[reranker, OrderPreservingCompressor()])",
    ),
    Place(
        "lcel-step",
        "compressors",
        "a step after a retriever",
        "retriever | OrderPreservingCompressor()",
    ),
    Place(
        "transformer",
        "compressors",
        "a document transformer",
        "retriever | OrderPreservingCompressor().transform_documents",
    ),
    Place(
        "before-a-filter",
        "compressors",
        "before `LLMChainFilter`, which only drops",
        "ContextualCompressionRetriever("
        "base_compressor=LLMChainFilter.from_llm(judge), base_retriever=ordered)",
    ),
    # Chains
    Place(
        "stuff-documents",
        "chains",
        "before `create_stuff_documents_chain`",
        "RunnablePassthrough.assign("
        'context=RunnablePick("context") | OrderPreservingCompressor())'
        " | create_stuff_documents_chain(model, prompt)",
    ),
    Place(
        "retrieval-chain",
        "chains",
        "`create_retrieval_chain`",
        "create_retrieval_chain(ordered, stuff)",
    ),
    Place(
        "history-aware",
        "chains",
        "`create_history_aware_retriever`",
        "create_retrieval_chain("
        "create_history_aware_retriever(writer, ordered, rewrite), stuff)",
    ),
    Place(
        "retrieval-qa",
        "chains",
        "`RetrievalQA` (deprecated)",
        "RetrievalQA.from_chain_type(model, retriever=ordered)",
    ),
    Place(
        "conversational-retrieval",
        "chains",
        "`ConversationalRetrievalChain` (deprecated)",
        "ConversationalRetrievalChain.from_llm(model, retriever=ordered)",
    ),
    Place(
        "lcel",
        "chains",
        "a chain in LCEL",
        '{"context": ordered | joined, "input": RunnablePassthrough()}'
        " | prompt | model",
    ),
    # Agents
    Place(
        "retriever-tool",
        "agents",
        "`create_retriever_tool`",
        'create_retriever_tool(ordered, "search", "Searches the book.")',
    ),
    Place(
        "agent-tool",
        "agents",
        "a tool of `create_agent`",
        "create_agent(model, tools=["
        'create_retriever_tool(ordered, "search", "Searches the book.")])',
    ),
    Place(
        "dynamic-prompt",
        "middleware",
        "middleware, `@dynamic_prompt`",
        "create_agent(model, middleware=["
        "dynamic_prompt(lambda request: joined(ordered.invoke(question)))])",
    ),
    Place(
        "before-model",
        "middleware",
        "middleware, `@before_model`",
        "create_agent(model, middleware=[before_model(lambda state, runtime: "
        '{"messages": [("system", joined(ordered.invoke(question)))]})])',
    ),
    # Graphs
    Place(
        "graph-node",
        "graphs",
        "a LangGraph node",
        'graph.add_node("context", lambda state: '
        '{"context": ordered.invoke(state["question"])})',
    ),
    Place(
        "graph-runnable",
        "graphs",
        "a runnable as LangGraph node",
        'graph.add_node("context", '
        'RunnablePassthrough.assign(context=RunnablePick("question") | ordered))',
    ),
    Place(
        "graph-merge",
        "graphs",
        "after several queries were merged in the graph's state",
        'graph.add_node("context", lambda state: '
        '{"context": OrderPreservingCompressor()(state["found"])})',
    ),
    # What undoes the order
    Place(
        "inside-ensemble",
        "order_breakers",
        "inside `EnsembleRetriever`",
        "EnsembleRetriever(retrievers=[ordered, other])",
        instead="around-ensemble",
    ),
    Place(
        "inside-merger",
        "order_breakers",
        "inside `MergerRetriever`",
        "MergerRetriever(retrievers=[ordered, other])",
        instead="around-merger",
    ),
    Place(
        "inside-multi-query",
        "order_breakers",
        "inside `MultiQueryRetriever`",
        "MultiQueryRetriever.from_llm(ordered, llm=writer)",
        instead="around-multi-query",
    ),
    Place(
        "child-store",
        "order_breakers",
        "on the store of the children of `ParentDocumentRetriever`",
        "OrderPreservingRetriever(vectorstore=parent_document.vectorstore, k=6)",
        instead="around-parent-document",
    ),
    Place(
        "before-a-reranker",
        "order_breakers",
        "before a reranker",
        "ContextualCompressionRetriever("
        "base_compressor=reranker, base_retriever=ordered)",
        instead="pipeline-last",
    ),
    Place(
        "pipeline-first",
        "order_breakers",
        "in a pipeline, but not last",
        "DocumentCompressorPipeline("
        "transformers=[OrderPreservingCompressor(), reranker])",
        instead="pipeline-last",
    ),
    Place(
        "before-best-at-the-ends",
        "order_breakers",
        "before a reordering of its own, as `LongContextReorder`",
        "ordered | best_at_the_ends",
        instead="vector-store",
    ),
    Place(
        "before-score-sorting",
        "order_breakers",
        "before the application sorts by a score",
        "OrderPreservingRetriever(base_retriever=scored) | by_score",
        instead="rescored",
    ),
    Place(
        "rescored",
        "rescoring",
        "the same with scores that fall",
        "OrderPreservingRetriever(base_retriever=scored) | falling_scores | by_score",
    ),
)
"""In the order of the page. Ids are unique."""


def places_of(kind: str) -> list[Place]:
    """The places of one kind, in order."""
    return [place for place in PLACES if place.kind == kind]


def table(places: tuple[Place, ...] = PLACES) -> str:
    """The places as a Markdown table, as `docs/places.md` shows them."""
    lines = ["| id | place | how | in order |", "|---|---|---|---|"]
    for place in places:
        how = place.how.replace("|", "\\|")
        verdict = "yes" if place.keeps_order else f"no: `{place.instead}`"
        lines.append(f"| `{place.id}` | {place.where} | `{how}` | {verdict} |")
    return "\n".join(lines)
