"""LlamaIndex's own reader and index: citations name files, look-ups find them."""

import pytest
from llama_index.core import (
    Document,
    MockEmbedding,
    SimpleDirectoryReader,
    VectorStoreIndex,
)
from llama_index.core.llms import MockLLM
from llama_index.core.node_parser import HierarchicalNodeParser, get_leaf_nodes
from llama_index.core.readers.base import BaseReader

from llamaindex_oprag import OrderPreservingPostprocessor, SelfRouteQueryEngine
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
            assert place.proof == "recorded"
            assert source.text[place.start : place.end] == node.text
            cited.add(place.citation.rpartition(", characters")[0])

    pages = {f"deeds/lease.pdf, page {label}" for label in "123"}
    assert pages < cited
    assert cited - pages <= {
        "deeds/north.txt",
        "deeds/notes.md",
        f"{folder.name}/north.txt",
    }


@pytest.mark.parametrize("in_memory", [False, True])
def test_a_file_has_the_text_of_documents_with_made_up_ids(tmp_path, in_memory):
    lines = [f"Line {number} says {number * number}.\n" for number in range(60)]
    (tmp_path / "lines.txt").write_text("".join(lines))
    documents = SimpleDirectoryReader(tmp_path).load_data()
    [text], [path] = (
        {d.text for d in documents},
        {d.metadata["file_path"] for d in documents},
    )
    halves = ["".join(lines[:30]), "".join(lines[30:])]  # as of a reader of Markdown
    documents += [Document(text=half, metadata={"file_path": path}) for half in halves]
    parser = HierarchicalNodeParser.from_defaults(chunk_sizes=[256, 64])
    index = VectorStoreIndex(
        get_leaf_nodes(parser.get_nodes_from_documents(documents)),
        embed_model=MockEmbedding(embed_dim=8),
    )
    retriever = index.as_retriever(similarity_top_k=99)
    sources = {path: text} if in_memory else tmp_path

    for options in {}, {"selection": "recall", "token_budget": 500}:
        ordering = OrderPreservingPostprocessor(documents=sources, **options)
        for found in ordering.postprocess_nodes(retriever.retrieve("?")):
            place = place_of(found)
            assert place.citation.startswith(f"{tmp_path.name}/lines.txt, characters")
            assert text[place.start : place.end] == found.node.text

    route = SelfRouteQueryEngine.from_args(
        retriever, MockLLM(), documents=sources, steps=["full"]
    )
    assert [each.node.text for each in route.query("?").source_nodes] == [text]
