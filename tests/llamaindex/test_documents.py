"""Full documents out of whatever a LlamaIndex application has."""

import pytest
from llama_index.core import Document
from llama_index.core.node_parser import SentenceSplitter
from llama_index.core.storage.docstore import SimpleDocumentStore

from llamaindex_oprag import OffsetTokenNodeParser
from llamaindex_oprag.documents import document_source
from oprag.documents import DocumentSource
from oprag.errors import DocumentNotFoundError
from tests.llamaindex.corpus import TEXT, document, index


async def both(source: DocumentSource, name: str = "lease.txt") -> str:
    """The result of `get`, which is that of `aget`, too."""
    text = source.get(name)
    assert await source.aget(name) == text
    return text


async def test_the_docstore_of_an_index_alone_holds_chunks():
    chunks_only = index(document(text=TEXT), parser=OffsetTokenNodeParser(chunk_size=9))

    assert await both(document_source(chunks_only)) == TEXT
    assert await both(document_source(chunks_only.docstore)) == TEXT


async def test_a_document_is_preferred_to_its_chunks():
    store = index(parser=OffsetTokenNodeParser(chunk_size=9)).docstore
    store.add_documents([document(text="the original")])

    assert await both(document_source(store)) == "the original"


def test_chunks_that_oprag_did_not_make_are_read_where_documents_are_kept():
    foreign = index(parser=SentenceSplitter(chunk_size=64, chunk_overlap=0))
    foreign.docstore.add_documents([document(text="the original")])

    assert document_source(foreign).get("lease.txt") == "the original"


async def test_a_docstore_gives_a_document_by_the_name_that_its_nodes_have():
    """Readers give random ids, and name the file in the metadata."""
    docstore = SimpleDocumentStore()
    docstore.add_documents(
        [
            Document(text="All of it.", metadata={"file_path": "/a.txt"}),
            Document(text="Page 1.", metadata={"file_path": "/b.pdf", "page": 0}),
            Document(text="Page 2.", metadata={"file_path": "/b.pdf", "page": 1}),
        ]
    )

    source = document_source(docstore)

    assert source.get("/a.txt") == await source.aget("/a.txt") == "All of it."
    with pytest.raises(DocumentNotFoundError):  # one page is not the document
        source.get("/b.pdf")
