"""LlamaIndex's own reader and index: citations name files, look-ups find them."""

from __future__ import annotations

import pytest
from llama_index.core import (
    Document,
    MockEmbedding,
    SimpleDirectoryReader,
    VectorStoreIndex,
)
from llama_index.core.llms import MockLLM
from llama_index.core.readers.base import BaseReader

from llamaindex_oprag import OrderPreservingPostprocessor
from oprag import place_of


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "deeds").mkdir()
    (tmp_path / "north.txt").write_text("The lease begins in March. " * 200)
    (tmp_path / "deeds" / "north.txt").write_text("The deed is of 1931. " * 200)
    (tmp_path / "deeds" / "notes.md").write_text("# Notes\n\nSee the deed.\n")
    return tmp_path


class Pages(BaseReader):
    """Reads a PDF file as LlamaIndex's reader does: a document per page."""

    def load_data(self, file, extra_info=None):
        return [
            Document(
                text=f"Page {label} says this. " * 90,
                metadata={"page_label": label, **extra_info},
            )
            for label in "123"
        ]


@pytest.mark.parametrize("by_path", [False, True])
def test_a_chat_cites_files_and_pages_where_their_text_is(folder, by_path):
    (folder / "deeds" / "lease.pdf").write_bytes(b"%PDF")
    documents = SimpleDirectoryReader(
        folder, recursive=True, filename_as_id=by_path, file_extractor={".pdf": Pages()}
    ).load_data()
    index = VectorStoreIndex.from_documents(
        documents, embed_model=MockEmbedding(embed_dim=8)
    )
    options = {
        "llm": MockLLM(max_tokens=5),
        "similarity_top_k": 9,
        "node_postprocessors": [OrderPreservingPostprocessor()],
    }
    chat = index.as_chat_engine(chat_mode="context", **options)
    texts = {
        (document.metadata["file_path"], document.metadata.get("page_label")): document
        for document in documents
    }
    cited = set()
    for ask in (chat.chat, chat.chat, index.as_query_engine(**options).query):
        for scored in ask("What?").source_nodes:
            node, place = scored.node, place_of(scored)
            metadata = node.metadata
            source = texts[metadata["file_path"], metadata.get("page_label")]
            assert place.exact
            assert source.text[place.start : place.end] == node.text
            cited.add(place.citation.rpartition(", characters")[0])

    pages = {f"deeds/lease.pdf, page {label}" for label in "123"}
    assert pages < cited
    assert cited - pages <= {
        "deeds/north.txt",
        "deeds/notes.md",
        f"{folder.name}/north.txt",
    }
