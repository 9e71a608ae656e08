"""From answers to scores: every measure that fits, nothing dropped without a word."""

import json

from oprag.chunk import Span
from oprag_eval.data import Dataset, Document, Question
from oprag_eval.scores import measures_of, score, score_answers
from tests.evaluation.small import Replies, bench_of, ran, set_of_four, system


def answer(question_id="q", prediction="", *, pieces=(), **fields):
    """A line of `answers.jsonl`, as the runner writes it."""
    return {
        "system": "s",
        "budget": 100,
        "run": 0,
        "question_id": question_id,
        "prediction": prediction,
        "reply": prediction or "Unanswerable.",
        "pieces": [list(piece) for piece in pieces],
        "context_tokens": 7,
        "route": "",
        "whole": None,
        "usage": {},
    } | fields


def set_of(*questions: Question, metrics=()) -> Dataset:
    documents = {"d": Document("d", "", "0123456789" * 10)}
    return Dataset("made", questions, documents, metrics)


def one(line, dataset):
    """The measures of an answer."""
    (scored,) = score_answers([line], dataset)
    return scored["measures"]


def test_an_answer_that_declines_is_counted_and_scores_nothing():
    dataset = set_of(
        Question("q", ("d",), "?", ("oak",), ("iron", "oak"), 1),
        metrics=("token_f1", "exact_match", "choice_match", "bracketed_match"),
    )
    scored = one(answer("q"), dataset)

    assert scored == {
        "token_f1": 0,
        "exact_match": False,
        "choice_match": False,
        "choice_match_official": False,
        "wrong_order": None,
        "answerable": None,
    }
    assert measures_of(dataset, "brackets")[2:4] == [
        "bracketed_match",
        "bracketed_match_official",
    ]


def test_answers_of_the_full_documents_and_refusals_are_not_of_the_chunks():
    dataset = set_of(Question("q", ("d",), "?"))
    lines = [
        answer("q", "x", route="retrieved"),
        answer("q", "x", route="full"),
        answer("q", route="retrieved"),
    ]

    assert [one(line, dataset)["answerable"] for line in lines] == [True, False, False]


def test_declining_is_right_where_the_set_says_so():
    dataset = set_of(
        Question("q", ("d",), "?", ("unanswerable",)), metrics=("token_f1",)
    )

    assert one(answer("q"), dataset)["token_f1"] == 1


def test_a_fifth_option_has_no_score_by_the_official_rules():
    dataset = set_of(
        Question("q", ("d",), "?", ("e",), tuple("abcde"), 4), metrics=("choice_match",)
    )
    scored = one(answer("q", "E"), dataset)

    assert scored["choice_match"] is True
    assert scored["choice_match_official"] is None


def test_a_measure_that_does_not_fit_the_question_is_none():
    asked = (Question("q", ("d",), "?"), Question("r", ("d",), "?", ("oak",)))
    dataset = set_of(*asked, metrics=("token_f1", "rouge_l"))
    without, having = score_answers([answer("q", "oak"), answer("r", "oak")], dataset)

    for line, score_of in ((without, None), (having, 1)):
        assert line["measures"]["token_f1"] == line["measures"]["rouge_l"] == score_of


class TestTheContext:
    # Evidence: 10 to 20 and 50 to 60, both needed.
    QUESTION = Question(
        "q", ("d",), "?", evidence=(Span(10, 20), Span(50, 60)), evidence_kind="all"
    )

    def scored(self, *pieces):
        return one(answer("q", "x", pieces=pieces), set_of(self.QUESTION))

    def test_evidence_that_is_held_in_part(self):
        scored = self.scored(("d", 55, 90, ""), ("d", 0, 15, ""), ("d", 15, 30, ""))

        assert scored["evidence_recall"] is False
        # Of three pairs two stand in the wrong order.
        assert scored["wrong_order"] == round(2 / 3, 6)

    def test_text_of_another_document_or_of_none_holds_no_evidence(self):
        scored = self.scored(("other", 0, 100, ""), ("d", None, None, "summary"))

        assert scored["evidence_recall"] is False
        assert scored["wrong_order"] is None

    def test_answer_recall_is_of_sets_as_longrags(self):
        asked = Question("q", (), "?", ("345",))
        dataset = set_of(asked, metrics=("longrag_match",))
        texts = {"d": Document("d", "", "12 345 6")}
        dataset = Dataset("made", (asked,), texts, ("longrag_match",))

        held = one(answer("q", "x", pieces=[("d", 0, 6, "")]), dataset)
        cut = one(answer("q", "x", pieces=[("d", 0, 5, "")]), dataset)
        made = one(answer("q", "x", pieces=[("d", None, None, "gist")]), dataset)

        recalls = [line["answer_recall"] for line in (held, cut, made)]
        assert recalls == [True, False, None]


def test_tokens_of_a_question_and_of_what_was_made_beforehand():
    used = {"cached_tokens": 2, "estimated": False}
    usage = {
        "retrieve": {"input_tokens": 10, "output_tokens": 1, **used},
        "answer": {"input_tokens": 5, "output_tokens": 3, **used},
        "index": {"input_tokens": 700, "output_tokens": 70, **used, "estimated": True},
    }
    line = answer("q", "x", usage=usage)
    (scored,) = score_answers([line], set_of(Question("q", ("d",), "?")))

    assert scored["usage"]["asked"] == {
        "input_tokens": 15,
        "cached_tokens": 4,
        "output_tokens": 4,
        "estimated": False,
    }
    assert scored["usage"]["index"]["input_tokens"] == 700
    assert scored["usage"]["index"]["estimated"] is True


def test_one_line_per_answer_in_their_order_and_the_same_bytes_again(tmp_path):
    systems = [system("vanilla-rag", "size=20"), system("dos-rag", "size=20")]
    directory = ran(tmp_path, systems, [40, 80], bench_of(Replies()))
    lines = score(directory, set_of_four())
    written = (tmp_path / "scores.jsonl").read_bytes()

    for held, line in zip(written.splitlines(), lines, strict=True):
        assert json.loads(held).items() <= line.items()
    replies = [answer["reply"] for answer in directory.answers()]
    assert [line["reply"] for line in lines] == replies
    score(directory, set_of_four())
    assert (tmp_path / "scores.jsonl").read_bytes() == written
