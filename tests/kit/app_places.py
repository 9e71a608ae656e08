"""Where oprag's components are put in applications: the cases of both adapters."""

from typing import NamedTuple


class Place(NamedTuple):
    """One way to put a component into an application."""

    id: str
    how: str
    """One Python expression on the names of `ingredients.py`."""
    verdict: str
    """`"yes"` if order is kept, else `"no"` or `"error"`."""
    instead: str = ""
    """The id of a place that keeps the order, if this one loses it."""


LANGCHAIN = (
    Place(
        "vector-store", "OrderPreservingRetriever(vectorstore=vectorstore, k=6)", "yes"
    ),
    Place(
        "around-ensemble",
        "OrderPreservingRetriever(base_retriever=EnsembleRetriever("
        "retrievers=[retriever, "
        "other]))",
        "yes",
    ),
    Place(
        "around-multi-query",
        "OrderPreservingRetriever(base_retriever=MultiQueryRetriever.from_llm("
        "retriever, "
        "llm=writer))",
        "yes",
    ),
    Place(
        "around-parent-document",
        "OrderPreservingRetriever(base_retriever=parent_document)",
        "yes",
    ),
    Place(
        "around-reranked",
        "OrderPreservingRetriever("
        "base_retriever=ContextualCompressionRetriever(base_compressor=reranker, "
        "base_retriever=retriever))",
        "yes",
    ),
    Place(
        "pipeline-last",
        "DocumentCompressorPipeline(transformers=[reranker, "
        "OrderPreservingCompressor()])",
        "yes",
    ),
    Place("lcel-step", "retriever | OrderPreservingCompressor()", "yes"),
    Place(
        "before-a-filter",
        "ContextualCompressionRetriever("
        "base_compressor=LLMChainFilter.from_llm(judge), "
        "base_retriever=ordered)",
        "yes",
    ),
    Place(
        "rescored",
        "OrderPreservingRetriever(base_retriever=scored) | falling_scores | by_score",
        "yes",
    ),
    Place(
        "stuff-documents",
        'RunnablePassthrough.assign(context=RunnablePick("context") | '
        "OrderPreservingCompressor()) | "
        "create_stuff_documents_chain(model, prompt)",
        "yes",
    ),
    Place("retrieval-chain", "create_retrieval_chain(ordered, stuff)", "yes"),
    Place(
        "history-aware",
        "create_retrieval_chain(create_history_aware_retriever(writer, "
        "ordered, rewrite), stuff)",
        "yes",
    ),
    Place(
        "agent-tool",
        "create_agent(model, tools=[create_retriever_tool(ordered, "
        '"search", "Searches the book.")])',
        "yes",
    ),
    Place(
        "dynamic-prompt",
        "create_agent(model, middleware=[dynamic_prompt(lambda request: "
        "joined(ordered.invoke(question)))])",
        "yes",
    ),
    Place(
        "graph-node",
        'graph.add_node("context", lambda state: {"context": '
        'ordered.invoke(state["question"])})',
        "yes",
    ),
    Place(
        "graph-merge",
        'graph.add_node("context", lambda state: {"context": '
        'order_documents(state["found"])})',
        "yes",
    ),
    Place(
        "inside-ensemble",
        "EnsembleRetriever(retrievers=[ordered, other])",
        "no",
        "around-ensemble",
    ),
    Place(
        "child-store",
        "OrderPreservingRetriever(vectorstore=parent_document.vectorstore, k=6)",
        "error",
        "around-parent-document",
    ),
    Place(
        "before-a-reranker",
        "ContextualCompressionRetriever(base_compressor=reranker, "
        "base_retriever=ordered)",
        "no",
        "pipeline-last",
    ),
    Place(
        "before-long-context-reorder",
        "ordered | best_at_the_ends",
        "no",
        "vector-store",
    ),
    Place(
        "before-score-sorting",
        "OrderPreservingRetriever(base_retriever=scored) | by_score",
        "no",
        "rescored",
    ),
)

LLAMAINDEX = (
    Place(
        "index-retriever",
        "OrderPreservingRetriever(index.as_retriever(), similarity_top_k=10)",
        "yes",
    ),
    Place(
        "around-fusion",
        "OrderPreservingRetriever(QueryFusionRetriever([retriever, "
        "other], llm=writer, similarity_top_k=10))",
        "yes",
    ),
    Place(
        "around-auto-merging",
        "OrderPreservingRetriever(AutoMergingRetriever(leaves, storage))",
        "yes",
    ),
    Place("after-a-reranker", "[reranker, OrderPreservingPostprocessor()]", "yes"),
    Place(
        "after-prev-next",
        "[PrevNextNodePostprocessor(docstore=index.docstore, "
        'num_nodes=1, mode="both"), OrderPreservingPostprocessor()]',
        "yes",
    ),
    Place(
        "before-a-filter",
        "[OrderPreservingPostprocessor(), "
        "SimilarityPostprocessor(similarity_cutoff=0.1)]",
        "yes",
    ),
    Place(
        "rescored", "[OrderPreservingPostprocessor(), falling_scores, by_score]", "yes"
    ),
    Place(
        "query-engine",
        "index.as_query_engine(llm=llm, similarity_top_k=10, "
        "node_postprocessors=[OrderPreservingPostprocessor()])",
        "yes",
    ),
    Place(
        "router",
        "RouterQueryEngine(selector=LLMSingleSelector.from_defaults(llm=chooser), "
        "query_engine_tools=[QueryEngineTool.from_defaults(engine, "
        'name="search", description="Searches the lease.")], llm=llm)',
        "yes",
    ),
    Place(
        "sub-question",
        "SubQuestionQueryEngine.from_defaults([QueryEngineTool.from_defaults(engine, "
        'name="search", description="Searches the lease.")], '
        "question_gen=LLMQuestionGenerator.from_defaults(llm=planner), "
        "llm=llm)",
        "yes",
    ),
    Place(
        "citation",
        "CitationQueryEngine.from_args(index, retriever=ordered, llm=llm)",
        "yes",
    ),
    Place(
        "ingestion-annotated",
        "OrderPreservingRetriever(retriever_over(IngestionPipeline("
        "transformations=[MarkdownNodeParser(), "
        "SentenceSplitter(chunk_size=60, chunk_overlap=0), "
        "annotator]).run(documents=sections)))",
        "yes",
    ),
    Place(
        "windows",
        '[MetadataReplacementPostProcessor(target_metadata_key="window"), '
        "OrderPreservingPostprocessor()]",
        "yes",
    ),
    Place(
        "response-modes",
        "RetrieverQueryEngine.from_args(ordered, llm=llm, response_mode=mode)",
        "yes",
    ),
    Place(
        "chat-modes",
        "index.as_chat_engine(chat_mode=mode, llm=llm, "
        "similarity_top_k=10, "
        "node_postprocessors=[OrderPreservingPostprocessor()])",
        "yes",
    ),
    Place(
        "function-agent",
        "FunctionAgent(tools=[RetrieverTool.from_defaults(ordered, "
        'name="search", description="Searches the lease.")], llm=caller)',
        "yes",
    ),
    Place(
        "agent-workflow",
        "AgentWorkflow.from_tools_or_functions([QueryEngineTool.from_defaults(engine, "
        'name="search", description="Searches the lease.")], llm=caller)',
        "yes",
    ),
    Place(
        "react-agent",
        "ReActAgent(tools=[RetrieverTool.from_defaults(ordered, "
        'name="search", description="Searches the lease.")], llm=llm)',
        "yes",
    ),
    Place(
        "workflow-merge",
        "MergeThenAnswer(retriever, OrderPreservingPostprocessor(), synthesizer)",
        "yes",
    ),
    Place(
        "inside-fusion",
        "QueryFusionRetriever([ordered, other], llm=writer, similarity_top_k=10)",
        "no",
        "around-fusion",
    ),
    Place(
        "inside-auto-merging",
        "AutoMergingRetriever(OrderPreservingRetriever(leaves), storage)",
        "no",
        "around-auto-merging",
    ),
    Place(
        "before-a-reranker",
        "[OrderPreservingPostprocessor(), reranker]",
        "no",
        "after-a-reranker",
    ),
    Place(
        "before-long-context-reorder",
        "[OrderPreservingPostprocessor(), LongContextReorder()]",
        "no",
        "query-engine",
    ),
    Place(
        "before-score-sorting",
        "[OrderPreservingPostprocessor(), by_score]",
        "no",
        "rescored",
    ),
    Place(
        "chained-own-offsets",
        "OrderPreservingRetriever(retriever_over(IngestionPipeline("
        "transformations=[MarkdownNodeParser(), "
        "SentenceSplitter(chunk_size=60, "
        "chunk_overlap=0)]).run(documents=sections)))",
        "error",
        "ingestion-annotated",
    ),
)
