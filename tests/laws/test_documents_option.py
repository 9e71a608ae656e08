"""`documents=` means one thing everywhere: full texts, from whatever holds them."""

from __future__ import annotations

from functools import partial
from typing import get_type_hints

import chromadb
import pytest
from langchain_chroma import Chroma
from langchain_core.documents import Document as LangChainDocument
from langchain_core.language_models import FakeListChatModel
from langchain_core.stores import InMemoryStore
from llama_index.core import Document, StorageContext, VectorStoreIndex
from llama_index.core.schema import NodeWithScore
from llama_index.core.storage.docstore import SimpleDocumentStore
from llama_index.vector_stores.chroma import ChromaVectorStore

import langchain_oprag
import llamaindex_oprag
from oprag import order_context
from oprag.context import ContextOptions
from oprag.documents import DocumentSource, document_source
from oprag.errors import InvalidOptionError
from tests.kit.openai_server import ScriptedServer
from tests.langchain.corpus import EMBEDDING, ListRetriever
from tests.llamaindex.components import Retrieved
from tests.llamaindex.recording import WordEmbedding
from tests.llamaindex.self_routing import engine_over

pytestmark = pytest.mark.filterwarnings("ignore::oprag.errors.UnfilledBudgetWarning")

NAME = "story.txt"
TEXT = "It rained in May. The river rose. Nobody had seen it. Ann built a bridge."
JOINED = {"selection": "recall", "token_budget": 1_000}


async def _awaited(name: str) -> str | None:
    return {NAME: TEXT}.get(name)


def langchain_documents():
    return [LangChainDocument(TEXT, metadata={"source": NAME})]


def llamaindex_documents():
    return [Document(text=TEXT, id_="random", metadata={"file_path": NAME})]


def common(kind, path):
    """What the core takes."""
    if kind == "folder":
        (path / NAME).write_text(TEXT, encoding="utf-8")
        return path
    texts = {NAME: TEXT}
    takes = {"mapping": texts, "function": texts.get, "async function": _awaited}
    return takes[kind]


def of_langchain(kind, path):
    if kind == "list":
        return langchain_documents()
    if kind == "docstore":
        store = InMemoryStore()
        store.mset([(NAME, langchain_documents()[0])])
        return store
    if kind == "store":
        store = Chroma(NAME, EMBEDDING, str(path / "chroma"))
        splitter = langchain_oprag.OffsetTokenSplitter(chunk_size=5)
        langchain_oprag.index_documents(langchain_documents(), store, splitter=splitter)
        return store
    return common(kind, path)


def of_llamaindex(kind, path):
    if kind == "list":
        return llamaindex_documents()
    if kind == "docstore":
        store = SimpleDocumentStore()
        store.add_documents(llamaindex_documents())
        return store
    if kind == "store":
        client = chromadb.PersistentClient(str(path / "chroma"))
        store = ChromaVectorStore(client.get_or_create_collection("story"))
        index = VectorStoreIndex(
            [],
            storage_context=StorageContext.from_defaults(vector_store=store),
            embed_model=WordEmbedding(),
        )
        parser = llamaindex_oprag.OffsetTokenNodeParser(chunk_size=5)
        llamaindex_oprag.index_documents(
            llamaindex_documents(), index, node_parser=parser
        )
        return index
    return common(kind, path)


KINDS = ["mapping", "function", "async function", "folder", "list", "docstore", "store"]
CHUNKS = {langchain_oprag: {"store"}, llamaindex_oprag: {"docstore", "store"}}
"""What full texts are put together in. A search's filter binds those, and none of the
components here can see what its search filters by."""


def stated(adapter, kind, documents, make):
    """The texts as a function: then the application decides who reads them."""
    if kind not in CHUNKS[adapter]:
        return documents
    with pytest.raises(ValueError, match="leave documents= out") as caught:
        make(documents=documents)
    assert "filter" in str(caught.value)
    return adapter.document_source(documents).get


def chunks():
    """The last chunk and the first one; what is between them was not retrieved."""
    splitter = langchain_oprag.OffsetTokenSplitter(chunk_size=5)
    made = splitter.split_documents(langchain_documents())
    return [made[-1], made[0]]


def nodes():
    parser = llamaindex_oprag.OffsetTokenNodeParser(chunk_size=5)
    made = parser.get_nodes_from_documents(llamaindex_documents())
    return [NodeWithScore(node=made[-1]), NodeWithScore(node=made[0])]


async def ordered_by_langchain(way, kind, documents):
    make = (
        langchain_oprag.OrderPreservingCompressor
        if "compress" in way
        else partial(
            langchain_oprag.OrderPreservingRetriever,
            base_retriever=ListRetriever(documents=chunks()),
        )
    )
    documents = stated(langchain_oprag, kind, documents, make)
    component = make(documents=documents, **JOINED)
    if "compress" in way:
        if way == "acompress":
            return await component.acompress_documents(chunks(), "")
        return component.compress_documents(chunks(), "")
    if way == "ainvoke":
        return await component.ainvoke("question")
    return component.invoke("question")


async def ordered_by_llamaindex(way, kind, documents):
    make = (
        llamaindex_oprag.OrderPreservingPostprocessor
        if "process" in way
        else partial(llamaindex_oprag.OrderPreservingRetriever, Retrieved(nodes()))
    )
    documents = stated(llamaindex_oprag, kind, documents, make)
    component = make(documents=documents, **JOINED)
    if "process" in way:
        if way == "aprocess":
            return await component.apostprocess_nodes(nodes())
        return component.postprocess_nodes(nodes())
    if way == "aretrieve":
        return await component.aretrieve("question")
    return component.retrieve("question")


@pytest.mark.parametrize("way", ["invoke", "ainvoke", "compress", "acompress"])
@pytest.mark.parametrize("kind", KINDS)
async def test_langchain_fills_gaps_from_whatever_holds_the_texts(kind, way, tmp_path):
    documents = of_langchain(kind, tmp_path)
    if kind == "async function" and not way.startswith("a"):
        with pytest.raises(InvalidOptionError, match="asked from sync code"):
            await ordered_by_langchain(way, kind, documents)
        return
    (result,) = await ordered_by_langchain(way, kind, documents)
    assert result.page_content == TEXT


@pytest.mark.parametrize("way", ["retrieve", "aretrieve", "process", "aprocess"])
@pytest.mark.parametrize("kind", KINDS)
async def test_llamaindex_fills_gaps_from_whatever_holds_the_texts(kind, way, tmp_path):
    documents = of_llamaindex(kind, tmp_path)
    if kind == "async function" and not way.startswith("a"):
        with pytest.raises(InvalidOptionError, match="asked from sync code"):
            await ordered_by_llamaindex(way, kind, documents)
        return
    (result,) = await ordered_by_llamaindex(way, kind, documents)
    assert result.node.text == TEXT


@pytest.mark.parametrize("kind", ["mapping", "function", "folder"])
def test_plain_python_fills_gaps_likewise(kind, tmp_path):
    (passage,) = order_context(
        [chunk.page_content for chunk in chunks()],
        [chunk.metadata for chunk in chunks()],
        documents=common(kind, tmp_path),
        **JOINED,
    )
    assert passage.text == TEXT


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("found", [True, False])
async def test_self_route_reads_whatever_holds_the_texts(kind, found, tmp_path):
    make = partial(
        langchain_oprag.SelfRouteChain,
        llm=FakeListChatModel(
            responses=["unanswerable", "Ann."] if found else ["Ann."]
        ),
        retriever=ListRetriever(documents=chunks() if found else []),
    )
    documents = of_langchain(kind, tmp_path)
    chain = make(documents=stated(langchain_oprag, kind, documents, make))
    result = await chain.ainvoke("Who built it?")
    assert [d.page_content for d in result["context"]] == ([TEXT] if found else [])


@pytest.mark.parametrize("kind", KINDS)
async def test_the_self_route_engine_does_so_too(kind, tmp_path):
    with ScriptedServer(["unanswerable", "Ann."]) as server:
        make = partial(engine_over, server, retriever=Retrieved(nodes()))
        documents = of_llamaindex(kind, tmp_path)
        engine = make(documents=stated(llamaindex_oprag, kind, documents, make))
        response = await engine.aquery("Who built it?")
    assert [each.node.text for each in response.source_nodes] == [TEXT]


@pytest.mark.parametrize(
    "make",
    [
        ContextOptions,
        langchain_oprag.OrderPreservingCompressor,
        llamaindex_oprag.OrderPreservingPostprocessor,
    ],
)
def test_what_holds_no_texts_is_refused_at_construction(make):
    with pytest.raises(
        ValueError, match="documents= is an int and gives no full texts"
    ):
        make(documents=7)
    with pytest.raises(ValueError, match="is no folder"):
        make(documents="no/such/folder")


@pytest.mark.parametrize(
    ("adapter", "documents"),
    [
        (langchain_oprag, ["text"]),
        (llamaindex_oprag, [nodes()[0].node]),
        (langchain_oprag, langchain_documents()[0]),
    ],
)
def test_what_is_no_list_of_documents_is_refused(adapter, documents):
    with pytest.raises(InvalidOptionError, match="takes a list") as caught:
        adapter.document_source(documents)
    assert caught.value.option == "documents"


def test_the_pages_of_a_list_are_one_document_by_name_and_each_its_own_by_id():
    pages = [
        Document(text=text, id_=text, metadata={"file_path": "a.pdf", "page": page})
        for page, text in ((1, "two"), (0, "one"))
    ]
    source = llamaindex_oprag.document_source(pages)
    assert source.get("a.pdf") == "one\n\ntwo"
    assert source.get("two") == "two"


def test_a_text_that_is_not_there_leaves_the_gap_as_it_was():
    component = langchain_oprag.OrderPreservingCompressor(documents={}, **JOINED)
    texts = [result.page_content for result in component(chunks())]
    assert texts == [chunk.page_content for chunk in reversed(chunks())]


def test_the_options_of_the_core_hold_a_source():
    options = ContextOptions(documents={NAME: TEXT})
    assert isinstance(options.documents, DocumentSource)
    assert ContextOptions(documents=options.documents) == options
    assert document_source(options.documents) is options.documents


def test_type_hints_of_order_context_can_be_read():
    assert "texts" in get_type_hints(order_context)
