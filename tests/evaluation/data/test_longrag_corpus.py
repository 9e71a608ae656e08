"""LongRAG's retrieval half: questions asked of all units, and what is found of them."""

from __future__ import annotations

import asyncio

import pytest

from oprag_eval.catalogue import make_system
from oprag_eval.data import Dataset, load
from oprag_eval.running.run_directory import RunDirectory
from oprag_eval.running.runner import Plan, run
from oprag_eval.scores import score
from tests.evaluation.data.test_papers import longrag
from tests.evaluation.small import Replies, bench_of

UNITS = [
    {"corpus_id": 0, "titles": ["Lamp", "Mara"], "text": "Mara lit the lamp."},
    {"corpus_id": 1, "titles": ["Eli, the keeper"], "text": "Eli carried oil up."},
    {"corpus_id": 2, "titles": ["Mill"], "text": "The mill ground rye."},
]
ARTICLES = [
    {"title": "Lamp", "doc_dict": "Mara lit the lamp."},
    {"title": "Mara", "doc_dict": "She was the keeper."},
    {"title": "Eli", "doc_dict": ""},
]


@pytest.fixture
def loaded(write_jsonl, counts_differ) -> Dataset:
    write_jsonl(
        "hotpot_qa.jsonl",
        [
            longrag(query="Who lit the lamp?", sp=["Lamp", "Mara"]),
            longrag(query_id=2, query="Who lit it?", sp=["Lamp", "Eli, the keeper"]),
            longrag(query_id=3, query="Who lit the lamp?", sp=["Lamp", "Eli"]),
        ],
    )
    write_jsonl("hotpot_qa_wiki.jsonl", ARTICLES)
    folder = write_jsonl("hotpot_qa_corpus.jsonl", UNITS).parent
    return load("longrag/hotpot_qa/units", folder)


def scored(dataset: Dataset, spec: str, path) -> list[tuple]:
    directory = RunDirectory(path)
    directory.begin({})
    plan = Plan([make_system(spec)], [8], dataset.questions)
    bench = bench_of(Replies(), dataset)
    report = asyncio.run(run(plan, bench, directory))
    assert report.complete, report.errors
    lines = score(directory, dataset)
    return [(line["answer_recall"], line["title_recall"]) for line in lines]


def test_units_of_the_corpus_are_found_and_both_recalls_are_told(loaded, tmp_path):
    assert [question.doc_ids for question in loaded.questions] == [()] * 3

    one = scored(loaded, "longrag:links=none,k=1", tmp_path / "1")
    two = scored(loaded, "longrag:links=none,k=3", tmp_path / "2")

    # "Eli" is no title: the unit is of "Eli, the keeper".
    assert one == [(True, True), (True, False), (True, False)]
    assert two == [(True, True), (True, True), (True, False)]


def test_chunks_of_the_corpus_are_searched_by_other_systems(loaded, tmp_path):
    found = scored(loaded, "vanilla-rag:size=8,search=hybrid", tmp_path / "3")

    assert found[0] == (True, True)


def test_articles_are_documents_of_their_own(loaded, tmp_path):
    found = load("longrag/hotpot_qa/documents", tmp_path)

    assert list(found.documents) == ["Lamp", "Mara"]  # the third has no text
    assert scored(found, "longrag:links=none,k=1", tmp_path / "1")[0] == (True, False)
    assert scored(found, "longrag:links=none,k=2", tmp_path / "2")[0] == (True, True)
