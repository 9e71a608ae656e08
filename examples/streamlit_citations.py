"""A page to ask a text file on, with the passages behind each number (LangChain).

pip install "oprag[langchain]" langchain-openai numpy streamlit
export OPENAI_API_KEY=...
streamlit run streamlit_citations.py -- lease.txt
"""

import sys
from pathlib import Path

import streamlit as st
from langchain_core.documents import Document
from langchain_core.vectorstores import InMemoryVectorStore
from langchain_openai import ChatOpenAI, OpenAIEmbeddings

from langchain_oprag import OrderPreservingRetriever, format_documents, index_documents


@st.cache_resource
def open_retriever(file: str) -> OrderPreservingRetriever:
    """Index the file once, not for each question."""
    store = InMemoryVectorStore(OpenAIEmbeddings(model="text-embedding-3-small"))
    document = Document(Path(file).read_text(), metadata={"source": file})
    index_documents([document], store, show_progress=False)
    return OrderPreservingRetriever(
        vectorstore=store, token_budget=2_000, citations=True
    )


st.title("Ask the document")
question = st.text_input("Question")
if question:
    passages = open_retriever(sys.argv[-1]).invoke(question)
    prompt = "Answer from these passages and cite their numbers, like [1].\n\n"
    prompt += f"{format_documents(passages)}\n\nQuestion: {question}"
    st.markdown(ChatOpenAI(model="gpt-4o-mini").invoke(prompt).content)
    for number, passage in enumerate(passages, start=1):
        with st.expander(f"[{number}] {passage.metadata['oprag_citation']}"):
            st.text(passage.page_content)
