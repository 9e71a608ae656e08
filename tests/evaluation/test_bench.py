"""The memory of a bench while questions are asked."""

from oprag_eval.data import Dataset, Document, Question
from oprag_eval.splittings import Splitting
from tests.evaluation.small import Replies, bench_of

SPLITTINGS = (Splitting("tokens", 5), Splitting("tokens", 9))


def corpus(size: int, *doc_ids: str) -> Dataset:
    documents = {
        f"d{n}": Document(f"d{n}", "", f"Ship {n} came in May.") for n in range(size)
    }
    questions = (Question("q", doc_ids, "When did ship 7 come?"),)
    return Dataset("corpus", questions, documents)


def test_all_that_a_question_is_asked_of_is_split_once_for_every_system():
    dataset = corpus(232)
    bench = bench_of(Replies(), dataset)
    asked = [(each, s) for each in dataset.documents.values() for s in SPLITTINGS]

    for made in (bench.chunks, bench.chunk_vectors):
        once, again = [[made(*each) for each in asked] for _ in range(2)]
        assert all(a is b for a, b in zip(once, again, strict=True))


def test_of_documents_that_are_asked_one_by_one_not_all_are_kept():
    dataset = corpus(80, "d7")
    bench = bench_of(Replies(), dataset)
    first, *others = dataset.documents.values()
    chunks = bench.chunks(first, SPLITTINGS[0])

    assert bench.chunks(first, SPLITTINGS[0]) is chunks
    for each in others:
        bench.chunks(each, SPLITTINGS[0])
    assert bench.chunks(first, SPLITTINGS[0]) is not chunks
