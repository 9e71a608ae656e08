"""Processes that have imported what takes long before they begin."""

import multiprocessing

FORKS = multiprocessing.get_context("forkserver")
FORKS.set_forkserver_preload(
    [
        "langchain_chroma",
        "langchain_postgres",
        "langchain_qdrant",
        "langchain_oprag.indexing",
        "llama_index.vector_stores.chroma",
        "llama_index.vector_stores.postgres",
        "llama_index.vector_stores.qdrant",
        "llamaindex_oprag.indexing",
        "matplotlib.pyplot",
        "oprag_cli.app",
        "oprag_cli.search",
        "oprag_eval.cli.display",
        "oprag_eval.cli.run",
        "sentence_transformers",
        "tests.real_stores.killed_indexing",
        "tests.real_stores.test_runs",
    ]
)
