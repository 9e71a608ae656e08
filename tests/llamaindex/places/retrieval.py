"""Places in the retrieval: retrievers, postprocessors, indexes."""

from __future__ import annotations

from tests.llamaindex.places.place import CHAINED, FUSION, SEARCH, Place, over_pipeline

__all__ = ["INDEXES", "RETRIEVAL"]

RETRIEVAL = (
    # Retrievers: in the place of one, and around those that merge or fuse
    Place(
        "index-retriever",
        "retrievers",
        "around the retriever of an index",
        "OrderPreservingRetriever(index.as_retriever(), similarity_top_k=10)",
    ),
    Place(
        "around-fusion",
        "retrievers",
        "around `QueryFusionRetriever`",
        f"OrderPreservingRetriever({FUSION})",
    ),
    Place(
        "around-router",
        "retrievers",
        "around `RouterRetriever`",
        "OrderPreservingRetriever(RouterRetriever("
        "selector=LLMSingleSelector.from_defaults(llm=chooser), "
        f"retriever_tools=[RetrieverTool.from_defaults(retriever, {SEARCH})], "
        "llm=chooser))",
    ),
    Place(
        "around-auto-merging",
        "retrievers",
        "around `AutoMergingRetriever`, over nodes of `PositionAnnotator`",
        "OrderPreservingRetriever(AutoMergingRetriever(leaves, storage))",
    ),
    # Postprocessors: the list is what an engine takes as `node_postprocessors`
    Place(
        "postprocessor",
        "postprocessors",
        "in `node_postprocessors` of any engine",
        "[OrderPreservingPostprocessor()]",
    ),
    Place(
        "after-llm-rerank",
        "postprocessors",
        "after `LLMRerank`",
        "[LLMRerank(llm=judge, top_n=5), OrderPreservingPostprocessor()]",
    ),
    Place(
        "after-a-reranker",
        "postprocessors",
        "after a reranker",
        "[reranker, OrderPreservingPostprocessor()]",
    ),
    Place(
        "after-long-context-reorder",
        "postprocessors",
        "after `LongContextReorder`",
        "[LongContextReorder(), OrderPreservingPostprocessor()]",
    ),
    Place(
        "after-prev-next",
        "postprocessors",
        "after `PrevNextNodePostprocessor`",
        "[PrevNextNodePostprocessor(docstore=index.docstore, num_nodes=1, "
        'mode="both"), OrderPreservingPostprocessor()]',
    ),
    Place(
        "before-a-filter",
        "postprocessors",
        "before `SimilarityPostprocessor`, which only drops",
        "[OrderPreservingPostprocessor(), "
        "SimilarityPostprocessor(similarity_cutoff=0.1)]",
    ),
    # Windows of sentences
    Place(
        "before-window-replacement",
        "windows",
        "before `MetadataReplacementPostProcessor`",
        "[OrderPreservingPostprocessor(), "
        'MetadataReplacementPostProcessor(target_metadata_key="window")]',
    ),
    Place(
        "after-window-replacement",
        "windows",
        "after `MetadataReplacementPostProcessor`",
        '[MetadataReplacementPostProcessor(target_metadata_key="window"), '
        "OrderPreservingPostprocessor()]",
    ),
)

INDEXES = (
    # Indexes: built by a pipeline, persisted and reloaded
    Place(
        "ingestion-sentences",
        "indexes",
        "`IngestionPipeline` with `OffsetSentenceNodeParser`",
        over_pipeline("OffsetSentenceNodeParser(chunk_size=20)", "documents"),
    ),
    Place(
        "ingestion-tokens",
        "indexes",
        "`IngestionPipeline` with `OffsetTokenNodeParser`",
        over_pipeline("OffsetTokenNodeParser(chunk_size=32)", "documents"),
    ),
    Place(
        "ingestion-annotated",
        "indexes",
        "`IngestionPipeline` with parsers of LlamaIndex, then `PositionAnnotator`",
        over_pipeline(f"{CHAINED}, PositionAnnotator(sections)", "sections"),
    ),
    Place(
        "reloaded-index",
        "indexes",
        "an index persisted to a folder and reloaded",
        "OrderPreservingRetriever(load_index_from_storage("
        "StorageContext.from_defaults(persist_dir=folder), embed_model=embed_model)"
        ".as_retriever(), similarity_top_k=10)",
    ),
    Place(
        "chroma",
        "chroma",
        "a Chroma collection on disk, opened again",
        "OrderPreservingRetriever(VectorStoreIndex.from_vector_store("
        "ChromaVectorStore(chroma_collection=collection), embed_model=embed_model)"
        ".as_retriever(), similarity_top_k=10)",
    ),
)
