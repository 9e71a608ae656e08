"""Budgets that fit the documents, and what a sweep measures by."""

import pytest

from oprag.chunk import Span
from oprag_eval.cli.data import budgets_for, sweep_measure, with_answer_recall
from oprag_eval.data import Dataset, Document, Question
from tests.evaluation.small import words


def dataset(sizes: dict[str, int], *asked: tuple[str, ...], **facts) -> Dataset:
    """Documents of so many words, and questions on these of them."""
    documents = {name: Document(name, "", "w " * n) for name, n in sizes.items()}
    questions = tuple(
        Question(str(number), doc_ids, "?", **facts)
        for number, doc_ids in enumerate(asked)
    )
    return Dataset("own", questions, documents, ("token_f1",))


@pytest.mark.parametrize(
    ("size", "budgets"),
    [
        (100, [250]),
        (250, [250]),
        (251, [250]),
        (1001, [250, 500, 1000]),
        (1_000_000, [250, 500, 1000, 2000, 4000, 8000, 16000, 32000, 64000]),
    ],
)
def test_budgets_are_those_that_the_documents_exceed(size, budgets):
    assert budgets_for(dataset({"a": size}, ("a",)), words) == budgets


def test_the_largest_question_counts_and_documents_that_nobody_asks_of_do_not():
    sizes = {"a": 300, "b": 300, "unasked": 9000}

    assert budgets_for(dataset(sizes, ("a",), ("a", "b")), words) == [250, 500]


def test_a_question_of_no_document_is_of_all():
    assert budgets_for(dataset({"a": 400, "b": 700}, ()), words) == [250, 500, 1000]


ANSWERED = {"answers": ("w",)}


class TestWhatIsMeasured:
    def test_answers_in_contexts_where_no_model_answers(self):
        own = with_answer_recall(dataset({"a": 5}, ("a",), **ANSWERED))

        assert "longrag_match" in own.metrics
        assert sweep_measure(own, offline=True) == "answer_recall"
        assert sweep_measure(own, offline=False) == ""

    def test_evidence_before_answers(self):
        facts = {**ANSWERED, "evidence": (Span(0, 1),)}
        own = with_answer_recall(dataset({"a": 5}, ("a",), **facts))

        assert own.metrics == ("token_f1",)
        assert sweep_measure(own, offline=True) == "evidence_recall"

    def test_no_options_and_no_question_without_an_answer(self):
        options = {**ANSWERED, "options": ("w", "v"), "gold_option": 0}
        for facts in (options, {}):
            own = dataset({"a": 5}, ("a",), **facts)
            assert with_answer_recall(own) is own
            assert sweep_measure(own, offline=True) == ""
