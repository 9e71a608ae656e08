"""LangChain 0.3 and 1.x under one set of names, and what only 1.x can do.

Chains and compound retrievers moved to the package `langchain-classic` in 1.0.
Both releases take the same arguments but for the agent: there only `model` and
`tools` are shared.
"""

from importlib import import_module
from importlib.metadata import version

import pytest

IS_1X = not version("langchain-core").startswith("0.")
needs_1x = pytest.mark.skipif(
    not IS_1X, reason="in 0.3 agents have no middleware and models no profile"
)

_agents = import_module("langchain.agents" if IS_1X else "langgraph.prebuilt")
_classic = "langchain_classic" if IS_1X else "langchain"
chains = import_module(f"{_classic}.chains")
retrievers = import_module(f"{_classic}.retrievers")
compressors = import_module(f"{_classic}.retrievers.document_compressors")

BaseCrossEncoder = compressors.cross_encoder.BaseCrossEncoder
ContextualCompressionRetriever = retrievers.ContextualCompressionRetriever
ConversationalRetrievalChain = chains.ConversationalRetrievalChain
CrossEncoderReranker = compressors.CrossEncoderReranker
DocumentCompressorPipeline = compressors.DocumentCompressorPipeline
EnsembleRetriever = retrievers.EnsembleRetriever
LLMChainFilter = compressors.LLMChainFilter
MergerRetriever = retrievers.MergerRetriever
MultiQueryRetriever = retrievers.MultiQueryRetriever
ParentDocumentRetriever = retrievers.ParentDocumentRetriever
RetrievalQA = chains.RetrievalQA
create_agent = getattr(_agents, "create_agent" if IS_1X else "create_react_agent")
create_history_aware_retriever = chains.create_history_aware_retriever
create_retrieval_chain = chains.create_retrieval_chain
create_stuff_documents_chain = chains.combine_documents.create_stuff_documents_chain
