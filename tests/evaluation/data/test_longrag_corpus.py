"""LongRAG's retrieval half: questions asked of all units, and what is found of them."""

import pytest

from oprag_eval.catalogue import make_system
from oprag_eval.data import Dataset, load
from oprag_eval.scores import score
from tests.evaluation.data.test_papers import longrag
from tests.evaluation.small import Replies, bench_of, ran

ARTICLES = [
    {"title": "Lamp", "doc_dict": "Mara lit the lamp.", "abs_adj": ["Mara", "Sea"]},
    {"title": "Mara", "doc_dict": "She was the keeper."},
    {"title": "Eli", "doc_dict": ""},
    {"title": "Mill", "doc_dict": "The mill ground rye."},
]


@pytest.fixture
def loaded(write_jsonl, counts_differ) -> Dataset:
    write_jsonl(
        "hotpot_qa.jsonl",
        [
            longrag(query="Who lit the lamp?", sp=["Lamp", "Mara"]),
            longrag(query_id=2, query="Who lit the lamp?", sp=["Lamp", "Eli"]),
        ],
    )
    folder = write_jsonl("hotpot_qa_wiki.jsonl", ARTICLES).parent
    return load("longrag/hotpot_qa/documents", folder)


def test_articles_of_one_title_are_counted(write_jsonl, counts_differ):
    write_jsonl("nq.jsonl", [longrag()])
    folder = write_jsonl("nq_wiki.jsonl", [*ARTICLES, ARTICLES[0]]).parent
    notes = load("longrag/nq/documents", folder).notes

    assert notes[1:] == (
        "articles left out, because a later one has the same title: 1",
    )


def scored(dataset: Dataset, spec: str, path) -> list[tuple]:
    directory = ran(path, [make_system(spec)], [8], bench_of(Replies(), dataset))
    found = [line["measures"] for line in score(directory, dataset)]
    return [(each["answer_recall"], each["title_recall"]) for each in found]


def test_articles_are_documents_and_units_are_grouped_by_their_links(loaded, tmp_path):
    one = scored(loaded, "longrag:links=none,k=1", tmp_path / "1")
    two = scored(loaded, "longrag:links=none,k=2", tmp_path / "2")
    unit = scored(loaded, "longrag:compat=official,k=1", tmp_path / "3")

    assert [question.doc_ids for question in loaded.questions] == [()] * 2
    assert list(loaded.documents) == ["Lamp", "Mara", "Mill"]  # Eli has no text
    # "Eli" is not found: no title holds another.
    assert one == [(True, False), (True, False)]
    assert two == unit == [(True, True), (True, False)]
