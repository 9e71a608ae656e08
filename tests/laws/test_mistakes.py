"""The usual mistakes: each is told, to the letter, with the one thing to change.

`mistakes/*.txt` have them, for reading: what a user writes, and below it the class of
the error, the builtin that it is besides, and all that it says.
"""

from __future__ import annotations

import builtins
from pathlib import Path
from typing import Any, NamedTuple

import langchain_core.documents
import llama_index.core.schema
import numpy as np
import pytest
from langchain_core.language_models import FakeListChatModel
from langchain_core.messages import HumanMessage
from langchain_core.messages.utils import count_tokens_approximately
from langchain_core.runnables import RunnableLambda
from langchain_text_splitters import RecursiveCharacterTextSplitter
from llama_index.core import VectorStoreIndex
from llama_index.core.llms import MockLLM
from llama_index.core.node_parser import SentenceSplitter
from llama_index.core.schema import NodeWithScore, TextNode
from llama_index.core.settings import Settings
from llama_index.core.vector_stores import SimpleVectorStore

import langchain_oprag
import llamaindex_oprag
import oprag
from oprag import errors
from tests.langchain import corpus
from tests.llamaindex import corpus as node_corpus
from tests.llamaindex.recording import WordEmbedding

HERE = Path(__file__).parent / "mistakes"


class Mistake(NamedTuple):
    """What a user writes, and what is said of it."""

    table: str
    written: str
    kind: str
    builtin: str
    message: str


def mistakes() -> list[Mistake]:
    listed = []
    for path in sorted(HERE.glob("*.txt")):
        for entry in path.read_text("utf-8").strip().split("\n\n"):
            written, told = entry.split("\n", 1)
            classes, message = told.split("): ", 1)
            listed.append(Mistake(path.stem, written, *classes.split(" ("), message))
    return listed


def raising(chunk: Any) -> Any:
    raise KeyError("page")


async def count_later(text: str) -> int:
    return 3


async def search_later(query: str) -> list[Any]:
    return []


def public_names(package: Any) -> dict[str, Any]:
    return {name: getattr(package, name) for name in package.__all__}


@pytest.fixture(scope="module")
def names() -> dict[str, dict[str, Any]]:
    """What can be written in each table."""
    chunks = corpus.book()
    store = corpus.RecordingStore(chunks)
    texts = {"book.txt": "".join(chunk.page_content for chunk in chunks)}
    Document = langchain_core.documents.Document  # noqa: N806 -- a class
    index = node_corpus.index()
    shared = {
        "Path": Path,
        "np": np,
        "count_tokens_approximately": count_tokens_approximately,
        "raising": raising,
        "count_later": count_later,
        "search_later": search_later,
        "texts": texts,
        "units": oprag.group_documents(texts, token_counter="approximate"),
        "chunks": chunks,
        "store": store,
        "chain_documents": [Document(texts["book.txt"], metadata={"source": "b"})],
        "chain_retriever": store.as_retriever(),
        "chat_model": FakeListChatModel(responses=["unanswerable"]),
        "index": index,
        "nodes": index.as_retriever().retrieve("heating"),
        "node_document": node_corpus.document(),
        "node_retriever": index.as_retriever(),
        "SimpleVectorStore": SimpleVectorStore,
        "SentenceSplitter": SentenceSplitter,
        "RecursiveCharacterTextSplitter": RecursiveCharacterTextSplitter,
        "NodeWithScore": NodeWithScore,
        "TextNode": TextNode,
    }

    def self_route(**options: Any) -> Any:
        given = {"llm": shared["chat_model"], "documents": texts, **options}
        retriever = shared["chain_retriever"]
        return langchain_oprag.SelfRouteChain(retriever=retriever, **given)

    return {
        "core": {**shared, **public_names(oprag)},
        "langchain": {
            **shared,
            **public_names(langchain_oprag),
            "Document": Document,
            "documents": shared["chain_documents"],
            "retriever": shared["chain_retriever"],
            "llm": shared["chat_model"],
            "embedding": corpus.EMBEDDING,
            "Store": corpus.RecordingStore,
            "Listed": corpus.ListRetriever,
            "HumanMessage": HumanMessage,
            "RunnableLambda": RunnableLambda,
            "self_route": self_route,
        },
        "llamaindex": {
            **shared,
            **public_names(llamaindex_oprag),
            "Document": llama_index.core.schema.Document,
            "documents": [shared["node_document"]],
            "retriever": shared["node_retriever"],
            "llm": MockLLM(),
            "VectorStoreIndex": VectorStoreIndex,
            "WordEmbedding": WordEmbedding,
        },
    }


@pytest.mark.parametrize("mistake", mistakes(), ids=lambda each: each.written[:70])
def test_a_mistake_is_told_with_what_to_change(mistake, names, monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.setattr(Settings, "_llm", None)  # pages of docs/ set it
    kind = getattr(errors, mistake.kind)

    with pytest.raises(kind) as caught:
        eval(mistake.written, names[mistake.table])  # noqa: S307 -- the file is ours

    assert str(caught.value) == mistake.message
    assert type(caught.value) is kind
    assert isinstance(caught.value, getattr(builtins, mistake.builtin))


@pytest.mark.parametrize(
    ("retriever", "asked", "instead"),
    [
        ("langchain", "retrieve", "invoke"),
        ("langchain", "aretrieve", "ainvoke"),
        ("llamaindex", "invoke", "retrieve"),
        ("llamaindex", "get_relevant_documents", "retrieve"),
        ("llamaindex", "ainvoke", "aretrieve"),
    ],
)
def test_a_method_of_the_other_framework_is_told_with_the_one_to_call(
    retriever, asked, instead, names
):
    known = names[retriever]
    made = (
        known["OrderPreservingRetriever"](vectorstore=known["store"])
        if retriever == "langchain"
        else known["OrderPreservingRetriever"](known["retriever"])
    )

    with pytest.raises(AttributeError) as caught:
        getattr(made, asked)

    assert str(caught.value) == (
        f"'OrderPreservingRetriever' object has no attribute {asked!r}. "
        f"Write {instead}(question)."
    )


@pytest.mark.parametrize(
    ("package", "name", "write"),
    [
        (langchain_oprag, "format_nodes", "Write format_documents here."),
        (langchain_oprag, "OrderPreservingPostprocessor", "Write OrderPreservingCom"),
        (llamaindex_oprag, "format_documents", "Write format_nodes here."),
        (llamaindex_oprag, "order_context", "Write from oprag import order_context."),
    ],
)
def test_a_name_of_another_package_is_told_with_the_one_to_write(package, name, write):
    with pytest.raises(AttributeError, match=write):
        getattr(package, name)


def test_a_compressor_is_told_how_it_is_called(names):
    compressor = langchain_oprag.OrderPreservingCompressor()
    documents = names["langchain"]["chunks"]

    for name, call in (("invoke", "transform"), ("ainvoke", "atransform")):
        with pytest.raises(AttributeError, match=f"Write {call}_documents.documents"):
            getattr(compressor, name)
    assert compressor.compress_documents(documents) == compressor(documents)


def test_a_compressor_that_is_called_takes_a_question_as_its_method_does(names):
    compressor = langchain_oprag.OrderPreservingCompressor()
    documents = names["langchain"]["chunks"]

    assert compressor(documents, "q") == compressor.compress_documents(documents, "q")


@pytest.mark.parametrize("package", [langchain_oprag, llamaindex_oprag])
async def test_indexing_nowhere_is_told_by_the_async_version_too(package):
    with pytest.raises(errors.InvalidOptionError, match=r"Write aindex_documents\("):
        await package.aindex_documents(["text"])


def test_there_are_many_in_every_table():
    tables = [mistake.table for mistake in mistakes()]

    assert len(tables) >= 200
    assert min(map(tables.count, ("core", "langchain", "llamaindex"))) >= 20
    assert len({mistake.written for mistake in mistakes()}) >= len(tables) - 40
