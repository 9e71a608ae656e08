"""A cross-encoder chooses the best chunks, then oprag puts them in order (LangChain).

pip install "oprag[langchain]" langchain-openai numpy sentence-transformers
export OPENAI_API_KEY=...
python with_reranker.py lease.txt "How does the tenant end the lease?"
"""

import os
import sys
from pathlib import Path

from langchain_core.documents import Document
from langchain_core.runnables import RunnableLambda
from langchain_core.vectorstores import InMemoryVectorStore
from langchain_openai import OpenAIEmbeddings
from sentence_transformers import CrossEncoder

from langchain_oprag import OrderPreservingRetriever, format_documents, index_documents

file, question = sys.argv[1:]
name = os.environ.get("RERANKER", "cross-encoder/ms-marco-MiniLM-L6-v2")
reranker = CrossEncoder(name)
store = InMemoryVectorStore(OpenAIEmbeddings(model="text-embedding-3-small"))
index_documents([Document(Path(file).read_text(), metadata={"source": file})], store)


def rerank(query: str) -> list[Document]:
    """Search widely, and return the best by the cross-encoder first."""
    found = store.similarity_search(query, k=50)
    scores = reranker.predict([(query, chunk.page_content) for chunk in found])
    best = sorted(range(len(found)), key=lambda number: -scores[number])
    return [found[number] for number in best]


# The reranker sorts by score, so oprag goes around it.
retriever = OrderPreservingRetriever(
    base_retriever=RunnableLambda(rerank), token_budget=2_000, citations=True
)
print(format_documents(retriever.invoke(question)))
