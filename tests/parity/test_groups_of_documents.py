"""`group_documents` of what a framework loaded, over chunks of any splitter."""

from __future__ import annotations

import pytest
from langchain_core.documents import Document
from langchain_core.vectorstores import InMemoryVectorStore
from langchain_text_splitters import RecursiveCharacterTextSplitter
from llama_index.core import Document as LlamaIndexDocument
from llama_index.core.node_parser import SentenceSplitter

import langchain_oprag
import llamaindex_oprag
from oprag import group_documents
from tests.kit.words import words
from tests.langchain.corpus import EMBEDDING
from tests.llamaindex import corpus

PAGES = {
    ("lease.pdf", 0): "The lease begins in March.",
    ("lease.pdf", 1): "The rent is due on the first.",
    ("harbour.txt", None): "Boats wait for a green light. Ferries leave at noon.",
}
WHOLE = {
    "lease.pdf": "The lease begins in March.\n\nThe rent is due on the first.",
    "harbour.txt": PAGES["harbour.txt", None],
}


def metadata(name, page):
    return {"file_path": name} if page is None else {"file_path": name, "page": page}


def langchain():
    loaded = [Document(text, metadata=metadata(*at)) for at, text in PAGES.items()]
    splitter = RecursiveCharacterTextSplitter(chunk_size=30, chunk_overlap=0)
    store = InMemoryVectorStore.from_documents(
        splitter.split_documents(loaded), EMBEDDING
    )
    units = group_documents(loaded, links=[], token_counter=words)
    found = langchain_oprag.LongUnitRetriever(
        vectorstore=store, units=units, documents=loaded, k=2
    ).invoke("?")
    return units, [document.page_content for document in found]


def llamaindex():
    loaded = [
        LlamaIndexDocument(text=text, metadata=metadata(*at))  # a random id each
        for at, text in PAGES.items()
    ]
    index = corpus.index(
        *loaded, parser=SentenceSplitter(chunk_size=30, chunk_overlap=0)
    )
    units = group_documents(loaded, links=[], token_counter=words)
    found = llamaindex_oprag.LongUnitRetriever(
        index.as_retriever(), units=units, documents=loaded, similarity_top_k=2
    ).retrieve("?")
    return units, [scored.node.text for scored in found]


@pytest.mark.parametrize("framework", [langchain, llamaindex])
def test_documents_are_grouped_by_their_files_and_found_by_chunks_of_any_splitter(
    framework,
):
    units, found = framework()

    assert units == group_documents(WHOLE, links=[], token_counter=words)
    assert sorted(found) == sorted(WHOLE.values())
