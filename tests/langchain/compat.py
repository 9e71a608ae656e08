"""LangChain 0.3 and 1.x under one set of names, and what only 1.x can do.

Chains and compound retrievers moved to the package `langchain-classic` in 1.0.
Both releases take the same arguments but for the agent: there only `model` and
`tools` are shared.
"""

from importlib.metadata import version

IS_1X = not version("langchain-core").startswith("0.")

if IS_1X:
    from langchain.agents import create_agent
    from langchain_classic.chains import (
        ConversationalRetrievalChain,
        RetrievalQA,
        create_history_aware_retriever,
        create_retrieval_chain,
    )
    from langchain_classic.chains.combine_documents import create_stuff_documents_chain
    from langchain_classic.retrievers import (
        ContextualCompressionRetriever,
        EnsembleRetriever,
        MergerRetriever,
        MultiQueryRetriever,
        ParentDocumentRetriever,
    )
    from langchain_classic.retrievers.document_compressors import (
        CrossEncoderReranker,
        DocumentCompressorPipeline,
        LLMChainFilter,
    )
    from langchain_classic.retrievers.document_compressors.cross_encoder import (
        BaseCrossEncoder,
    )
else:
    from langchain.chains import (
        ConversationalRetrievalChain,
        RetrievalQA,
        create_history_aware_retriever,
        create_retrieval_chain,
    )
    from langchain.chains.combine_documents import create_stuff_documents_chain
    from langchain.retrievers import (
        ContextualCompressionRetriever,
        EnsembleRetriever,
        MergerRetriever,
        MultiQueryRetriever,
        ParentDocumentRetriever,
    )
    from langchain.retrievers.document_compressors import (
        CrossEncoderReranker,
        DocumentCompressorPipeline,
        LLMChainFilter,
    )
    from langchain.retrievers.document_compressors.cross_encoder import BaseCrossEncoder
    from langgraph.prebuilt import create_react_agent as create_agent

ONLY_ON_1X: dict[str, str] = {
    "test_the_model_says_its_window_and_its_longest_answer": (
        "models have no profile in 0.3"
    ),
    "test_one_changed_line_puts_what_the_model_reads_in_order": (
        "the tutorials make agents with middleware, which 0.3 does not have"
    ),
    **dict.fromkeys(
        (
            "test_each_character_is_sent_once_in_order_and_none_is_lost",
            "test_a_restarted_agent_knows_what_its_thread_shows",
            "test_what_was_cleared_is_shown_again",
        ),
        "agents have no middleware in LangChain 0.3",
    ),
}
"""Tests of this folder that need LangChain 1.x: name of the test to the reason."""

__all__ = [
    "IS_1X",
    "ONLY_ON_1X",
    "BaseCrossEncoder",
    "ContextualCompressionRetriever",
    "ConversationalRetrievalChain",
    "CrossEncoderReranker",
    "DocumentCompressorPipeline",
    "EnsembleRetriever",
    "LLMChainFilter",
    "MergerRetriever",
    "MultiQueryRetriever",
    "ParentDocumentRetriever",
    "RetrievalQA",
    "create_agent",
    "create_history_aware_retriever",
    "create_retrieval_chain",
    "create_stuff_documents_chain",
]
