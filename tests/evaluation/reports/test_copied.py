"""The line to copy: an application that runs it reads what the run read."""

from pydoc_data.topics import topics

import pytest
from langchain_core.documents import Document
from langchain_core.vectorstores import InMemoryVectorStore

from langchain_oprag import (
    OffsetSentenceSplitter,
    OffsetTokenSplitter,
    OrderPreservingRetriever,
)
from oprag_eval.reports.copied import line_to_copy
from tests.evaluation.small import Replies, WordVectors, bench_of, set_of_one, system

TEXT = topics["try"]
"""Of Python's reference: no two sentences are alike, so that no two ranks are equal."""
QUESTION = "What happens to an exception that nothing handles?"


def read_by_the_run(spec: str, budget: int) -> list[str]:
    dataset = set_of_one(TEXT, QUESTION)
    bench = bench_of(Replies(), dataset, token_counter=None)
    context = system(*spec.split(":", 1)).context(dataset.questions[0], budget, bench)
    return [TEXT[piece.start : piece.end] for piece in context.pieces]


@pytest.mark.parametrize(
    "spec",
    [
        "dos-rag:size=30",
        "op-rag:size=20",
        "vanilla-rag:size=30",
        "recommended:size=40+20",
        "dos-rag:size=30,top_n=3",
    ],
)
def test_an_application_reads_what_the_run_read(spec):
    made = system(*spec.split(":", 1))
    line = line_to_copy(made.settings(), 90 if made.budgeted else None)
    store = InMemoryVectorStore(WordVectors())
    named = {
        "OffsetSentenceSplitter": OffsetSentenceSplitter,
        "OffsetTokenSplitter": OffsetTokenSplitter,
        "OrderPreservingRetriever": OrderPreservingRetriever,
        "store": store,
    }
    call, _, splitters = line.partition("  # chunks of ")
    for each in splitters.split(" and "):
        source = [Document(TEXT, metadata={"source": "ledger"})]
        store.add_documents(eval(each, named).split_documents(source))  # noqa: S307 -- our line

    found = eval(call, named).invoke(QUESTION)  # noqa: S307 -- our line

    texts = [document.page_content for document in found]
    assert "".join(texts) == "".join(read_by_the_run(spec, 90))


@pytest.mark.parametrize(
    ("spec", "line"),
    [
        (
            "langchain-default",
            (
                'store.as_retriever(search_kwargs={"k": 4})  # chunks of '
                "RecursiveCharacterTextSplitter(chunk_size=1000, chunk_overlap=200)"
            ),
        ),
        (
            "llamaindex-default",
            (
                "index.as_retriever(similarity_top_k=2)  # chunks of "
                "SentenceSplitter(chunk_size=1024, chunk_overlap=200)"
            ),
        ),
        ("full-document", ""),
        ("readagent", ""),
        ("dos-rag:compat=official", ""),
    ],
)
def test_defaults_are_the_frameworks_own_lines_and_others_have_none(spec, line):
    assert line_to_copy(system(*spec.split(":", 1)).settings(), None) == line


def test_a_run_without_settings_of_its_systems_has_no_line():
    assert line_to_copy(None, 500) == ""
