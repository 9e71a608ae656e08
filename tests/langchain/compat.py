"""LangChain 0.3 and 1.x under one set of names, and what only 1.x can do.

Chains and compound retrievers moved to the package `langchain-classic` in 1.0.
Both releases take the same arguments but for the agent: there only `model` and
`tools` are shared.
"""

from importlib.metadata import version

import pytest

IS_1X = not version("langchain-core").startswith("0.")
needs_1x = pytest.mark.skipif(
    not IS_1X, reason="in 0.3 agents have no middleware and models no profile"
)

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

__all__ = [
    "IS_1X",
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
