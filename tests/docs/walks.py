"""Walks of a new reader: real calls, and the files of ours that each runs."""

import functools
import os
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple

from langchain_core.documents import Document
from langchain_core.messages import AIMessage
from langchain_core.vectorstores import InMemoryVectorStore
from langchain_text_splitters import RecursiveCharacterTextSplitter
from llama_index.core import Document as LlamaDocument
from llama_index.core import VectorStoreIndex
from llama_index.core.node_parser import SentenceSplitter

from langchain_oprag import (
    OffsetTokenSplitter,
    OrderPreservingRetriever,
    SelfRouteChain,
    index_documents,
)
from llamaindex_oprag import OffsetTokenNodeParser
from llamaindex_oprag import OrderPreservingRetriever as NodeRetriever
from tests.evaluation.small import WordVectors
from tests.langchain.recording import RecordingChatModel
from tests.llamaindex.recording import WordEmbedding
from tests.test_packaging import PACKAGES

ROOT = Path(__file__).parents[2]

_TEXT = "\n\n".join(
    " ".join(f"Line {part}.{line} tells of the river and its bridge." for line in "abc")
    for part in range(30)
)
_NAMES = ("river.txt", "bridge.txt")
_QUESTION = "Where is the bridge of line 7.b?"
_BUDGET = 400  # tokens: some of the chunks fit, not all
_OURS = OffsetTokenSplitter(chunk_size=64)


class Walk(NamedTuple):
    """One call that a user makes."""

    title: str
    call: str
    """The line of code."""
    prepare: Callable[[], Callable[[], object]]
    """Sets everything up anew; what it returns makes the call."""


def walks() -> dict[str, Walk]:
    """Return all walks by a short name, in the order of the page."""
    query = f"OrderPreservingRetriever(vectorstore=store, token_budget={_BUDGET})"
    node_query = f"OrderPreservingRetriever(retriever, token_budget={_BUDGET})"
    return {
        "langchain": Walk(
            "A query by LangChain, chunks of our splitter",
            f"{query}.invoke(question)",
            lambda: _langchain_query(_OURS),
        ),
        "langchain-foreign": Walk(
            "A query by LangChain, chunks of LangChain's splitter",
            f"{query}.invoke(question)",
            lambda: _langchain_query(
                RecursiveCharacterTextSplitter(
                    chunk_size=250, chunk_overlap=0, add_start_index=True
                )
            ),
        ),
        "llamaindex": Walk(
            "A query by LlamaIndex, nodes of our parser",
            f"{node_query}.retrieve(question)",
            lambda: _llamaindex_query(OffsetTokenNodeParser(chunk_size=64)),
        ),
        "llamaindex-foreign": Walk(
            "A query by LlamaIndex, nodes of LlamaIndex's parser",
            f"{node_query}.retrieve(question)",
            lambda: _llamaindex_query(SentenceSplitter(chunk_size=64, chunk_overlap=0)),
        ),
        "indexing": Walk(
            "Indexing two documents with LangChain",
            "index_documents(documents, store)",
            _langchain_indexing,
        ),
        "self-route": Walk(
            "A Self-Route answer by LangChain: the chunks do not hold it, "
            "the full document does",
            "SelfRouteChain(llm=model, retriever=retriever, documents=texts)"
            '.invoke({"input": question})',
            _self_route,
        ),
    }


@functools.cache
def files_of(name: str) -> tuple[str, ...]:
    """Return the files of ours that a walk runs, in the order of their first call.

    The call is made once before: what is imported or cached the first time is no part
    of the walk. What runs while a module is imported is none either.

    Args:
        name: A key of `walks`.

    Returns:
        Paths below the root, as `oprag/ordering.py`.
    """
    prepare = walks()[name].prepare
    with warnings.catch_warnings():
        # The texts are short, so that budgets are not filled.
        warnings.simplefilter("ignore")
        prepare()()
        call = prepare()
        with _traced() as files:
            call()
    return tuple(files)


@contextmanager
def _traced() -> Iterator[dict[str, None]]:
    """Collect the files whose functions are called, in all threads started inside."""
    files: dict[str, None] = {}
    prefixes = tuple(f"{ROOT / package}{os.sep}" for package in PACKAGES)

    def profile(frame: FrameType, event: str, _: object) -> None:
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(prefixes):
            files.setdefault(Path(code.co_filename).relative_to(ROOT).as_posix())

    before = sys.getprofile()
    threading.setprofile(profile)
    sys.setprofile(profile)
    try:
        yield files
    finally:
        sys.setprofile(before)
        threading.setprofile(None)


def _langchain_query(splitter: Any) -> Callable[[], object]:
    store = _langchain_store()
    store.add_documents(splitter.split_documents(_documents()))
    retriever = OrderPreservingRetriever(vectorstore=store, token_budget=_BUDGET)
    retriever.invoke(_QUESTION)  # the first question looks at the store, once
    return lambda: retriever.invoke(_QUESTION)


def _langchain_store() -> InMemoryVectorStore:
    return InMemoryVectorStore(WordVectors())


def _documents() -> list[Document]:
    return [Document(_TEXT, metadata={"source": name}) for name in _NAMES]


def _llamaindex_query(parser: Any) -> Callable[[], object]:
    index = VectorStoreIndex.from_documents(
        [LlamaDocument(text=_TEXT, id_=name) for name in _NAMES],
        transformations=[parser],
        embed_model=WordEmbedding(),
    )
    base = index.as_retriever(similarity_top_k=20)
    retriever = NodeRetriever(base, token_budget=_BUDGET)
    retriever.retrieve(_QUESTION)  # as above
    return lambda: retriever.retrieve(_QUESTION)


def _langchain_indexing() -> Callable[[], object]:
    store, documents = _langchain_store(), _documents()
    return lambda: index_documents(documents, store)


def _self_route() -> Callable[[], object]:
    store = _langchain_store()
    store.add_documents(_OURS.split_documents(_documents()))
    replies = [AIMessage("Unanswerable."), AIMessage("On the river.")]
    chain = SelfRouteChain(
        llm=RecordingChatModel(replies=replies),
        retriever=store.as_retriever(search_kwargs={"k": 3}),
        documents=dict.fromkeys(_NAMES, _TEXT),
    )

    def ask() -> object:
        result = chain.invoke({"input": _QUESTION})
        assert result["answer"] == "On the river.", result
        return result

    return ask
