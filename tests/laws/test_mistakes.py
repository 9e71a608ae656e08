"""The commonest mistakes, and what is said of each: one approved table for reading.

`mistakes/*.txt` have what a user writes and, below it, the class of the error, the
builtin that it also is, and its message. `python -m tests.laws.test_mistakes` writes
them anew.
"""

import builtins
from pathlib import Path
from typing import Any

import langchain_core.documents
import llama_index.core.schema
import pytest
from langchain_core.language_models import FakeListChatModel
from langchain_core.output_parsers import JsonOutputParser
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.runnables import RunnableLambda
from llama_index.core import PromptTemplate
from llama_index.core.llms import MockLLM
from llama_index.core.node_parser import HierarchicalNodeParser
from llama_index.core.schema import NodeWithScore, TextNode
from llama_index.core.vector_stores import (
    ExactMatchFilter,
    MetadataFilters,
    SimpleVectorStore,
)
from pydantic import BaseModel

import langchain_oprag
import llamaindex_oprag
import oprag
from oprag.errors import OpragError
from tests.langchain import corpus
from tests.llamaindex import corpus as node_corpus

HERE = Path(__file__).parent / "mistakes"
HITS = [
    {"source": "a.txt", "start_index": 0},
    {"source": "a.txt"},
    {"topic": "heating"},
    {"source": "a.txt", "start_index": 2},
]
"""Placed, without a position, without a document, and against the first."""


def mistakes() -> list[tuple[str, str, str]]:
    return [
        (path.stem, *entry.partition("\n")[::2])
        for path in sorted(HERE.glob("*.txt"))
        for entry in path.read_text("utf-8").strip().split("\n\n")
    ]


def names() -> dict[str, dict[str, Any]]:
    texts = {"book.txt": "A text."}
    store = corpus.RecordingStore(corpus.book())
    index = node_corpus.index()
    document = langchain_core.documents.Document
    hits = [document(f"text {n}", metadata=m) for n, m in enumerate(HITS)]
    nodes = [
        NodeWithScore(node=TextNode(text=f"text {n}", metadata=m))
        for n, m in enumerate(HITS)
    ]
    shared = {"texts": texts, "store": store, "index": index}
    return {
        "core": {**vars(oprag), **shared, "hits": HITS, **_public(oprag)},
        "langchain": {
            **shared,
            **_public(langchain_oprag),
            "Document": document,
            "hits": hits,
            "llm": FakeListChatModel(responses=["unanswerable"]),
            "parser": JsonOutputParser(),
            "retriever": store.as_retriever(),
            "finding": lambda found: RunnableLambda(lambda _: found),
            "template": ChatPromptTemplate.from_template,
            "OtherStore": corpus.OtherStore,
        },
        "llamaindex": {
            **shared,
            **_public(llamaindex_oprag),
            "Document": llama_index.core.schema.Document,
            "nodes": nodes,
            "llm": MockLLM(),
            "Shape": BaseModel,
            "retriever": index.as_retriever(),
            "template": PromptTemplate,
            "SimpleVectorStore": SimpleVectorStore,
            "HierarchicalNodeParser": HierarchicalNodeParser,
            "only": lambda **where: MetadataFilters(
                filters=[ExactMatchFilter(key=k, value=v) for k, v in where.items()]
            ),
        },
    }


def _public(package: Any) -> dict[str, Any]:
    return {name: getattr(package, name) for name in package.__all__}


def said(written: str, known: dict[str, Any]) -> str:
    with pytest.raises(OpragError) as caught:
        eval(written, known)  # noqa: S307 -- the files are ours
    kind = type(caught.value)
    builtin = next(base for base in kind.__mro__ if base.__name__ in vars(builtins))
    return f"{kind.__name__} ({builtin.__name__}): {caught.value}"


@pytest.mark.parametrize("mistake", mistakes(), ids=lambda each: each[1][:70])
def test_a_mistake_has_the_approved_message(mistake, monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    table, written, approved = mistake
    assert said(written, names()[table]) == approved


if __name__ == "__main__":
    for path in HERE.glob("*.txt"):
        known = names()[path.stem]
        entries = [
            f"{written}\n{said(written, known)}"
            for table, written, _ in mistakes()
            if table == path.stem
        ]
        path.write_text("\n\n".join(entries) + "\n", "utf-8")
