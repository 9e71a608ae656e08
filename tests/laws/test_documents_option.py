"""`documents=` means one thing everywhere: full texts, from whatever holds them."""

from functools import partial
from typing import Any, NamedTuple

import pytest
from langchain_core.documents import Document as LangChainDocument
from langchain_core.language_models import FakeListChatModel
from langchain_core.stores import InMemoryStore
from llama_index.core import Document
from llama_index.core.schema import NodeWithScore
from llama_index.core.storage.docstore import SimpleDocumentStore

import langchain_oprag
import llamaindex_oprag
from oprag.context import ContextOptions
from oprag.documents import DocumentSource, document_source
from oprag.errors import InvalidOptionError
from tests.langchain.corpus import ListRetriever
from tests.llamaindex.components import Retrieved

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


def of_langchain():
    store = InMemoryStore()
    store.mset([(NAME, langchain_documents()[0])])
    return langchain_documents(), store


def of_llamaindex():
    store = SimpleDocumentStore()
    store.add_documents(llamaindex_documents())
    return llamaindex_documents(), store


HOLDS = {langchain_oprag: of_langchain, llamaindex_oprag: of_llamaindex}


@pytest.mark.parametrize("adapter", HOLDS)
async def test_texts_are_read_from_whatever_holds_them(adapter):
    """Stores of chunks: `tests/real_stores`."""
    for documents in HOLDS[adapter]():
        source = adapter.document_source(documents)
        assert await source.aget(NAME) == source.get(NAME) == TEXT


def chunks():
    """The last chunk and the first one; what is between them was not retrieved."""
    splitter = langchain_oprag.OffsetTokenSplitter(chunk_size=5)
    made = splitter.split_documents(langchain_documents())
    return [made[-1], made[0]]


def nodes():
    parser = llamaindex_oprag.OffsetTokenNodeParser(chunk_size=5)
    made = parser.get_nodes_from_documents(llamaindex_documents())
    return [NodeWithScore(node=made[-1]), NodeWithScore(node=made[0])]


class Way(NamedTuple):
    """A component without `documents=`, and how it is asked."""

    adapter: Any
    make: Any
    ask: Any
    aask: Any


def self_route_chain(**options):
    llm = FakeListChatModel(responses=["unanswerable", "Ann."])
    retriever = ListRetriever(documents=chunks())
    return langchain_oprag.SelfRouteChain(llm=llm, retriever=retriever, **options)


async def read_by(asking):
    """The text that a chain has read at the end."""
    return (await asking)["context"]


WAYS = [
    Way(
        langchain_oprag,
        partial(
            langchain_oprag.OrderPreservingRetriever,
            base_retriever=ListRetriever(documents=chunks()),
            **JOINED,
        ),
        lambda component: component.invoke("?"),
        lambda component: component.ainvoke("?"),
    ),
    Way(
        langchain_oprag,
        partial(langchain_oprag.OrderPreservingCompressor, **JOINED),
        lambda component: component.compress_documents(chunks(), ""),
        lambda component: component.acompress_documents(chunks(), ""),
    ),
    Way(
        langchain_oprag,
        self_route_chain,
        lambda component: component.invoke("?")["context"],
        lambda component: read_by(component.ainvoke("?")),
    ),
    Way(
        llamaindex_oprag,
        partial(
            llamaindex_oprag.OrderPreservingRetriever, Retrieved(nodes()), **JOINED
        ),
        lambda component: component.retrieve("?"),
        lambda component: component.aretrieve("?"),
    ),
    Way(
        llamaindex_oprag,
        partial(llamaindex_oprag.OrderPreservingPostprocessor, **JOINED),
        lambda component: component.postprocess_nodes(nodes()),
        lambda component: component.apostprocess_nodes(nodes()),
    ),
]


def only_text(results):
    (result,) = results
    return getattr(result, "page_content", None) or result.node.text


@pytest.mark.parametrize("way", WAYS)
async def test_every_component_takes_its_frameworks_documents(way):
    documents, _ = HOLDS[way.adapter]()
    for make in (way.make(documents=documents), way.make(documents=_awaited)):
        assert only_text(await way.aask(make)) == TEXT
    assert only_text(way.ask(way.make(documents=documents))) == TEXT
    with pytest.raises(InvalidOptionError, match="asked from sync code"):
        way.ask(way.make(documents=_awaited))


def test_the_pages_of_a_list_are_one_document_by_name_and_each_its_own_by_id():
    pages = [
        Document(text=text, id_=text, metadata={"file_path": "a.pdf", "page": page})
        for page, text in ((1, "two"), (0, "one"))
    ]
    source = llamaindex_oprag.document_source(pages)
    assert source.get("a.pdf") == "one\n\ntwo"
    assert source.get("two") == "two"


def test_the_options_of_the_core_hold_a_source():
    options = ContextOptions(documents={NAME: TEXT})
    assert isinstance(options.documents, DocumentSource)
    assert ContextOptions(documents=options.documents) == options
    assert document_source(options.documents) is options.documents
