"""Which arms are compared, what is missing, what is said: the summary of a run."""

import itertools

import pytest

from oprag.calls import Price
from oprag_eval.data import Dataset, Document, Question
from oprag_eval.metrics import corpus_bleu
from oprag_eval.reports.summaries import Arm, arms_of, token_share, write_reports
from oprag_eval.reports.tables import tables_of
from oprag_eval.running.run_directory import RunDirectory
from oprag_eval.statistics import adjusted
from tests.evaluation.reports.runs import ledgers


@pytest.mark.slow
def test_routing_is_reported_against_the_full_documents(reported):
    folder, summary = reported
    (arm,) = [arm for arm in summary.arms if arm.system == "self-route"]
    lines = RunDirectory(folder).lines("scores.jsonl")
    routed = [line for line in lines if line["system"] == "self-route"]
    early = [line for line in routed if line["route"] == "retrieved"]
    used, alone = (
        sum(
            line["usage"]["asked"]["input_tokens"]
            for line in lines
            if line["system"] == name
        )
        for name in ("self-route", "full-document")
    )

    assert 0 < len(early) < 45
    assert arm.measures["answerable"].mean == pytest.approx(len(early) / 45)
    assert arm.measures["token_share"].mean == pytest.approx(used / alone)
    assert not any("token_share" in a.measures for a in summary.arms if a != arm)


def test_only_planned_pairs_of_the_same_budget_are_compared(run_of):
    summary = write_reports(run_of, ledgers())
    budgets = {arm.label: arm.budget for arm in summary.arms}

    assert summary.comparisons
    assert all(budgets[d.first] == budgets[d.second] for d in summary.comparisons)
    against = {d.second.partition(",")[0] for d in summary.comparisons}
    assert against == {"vanilla-rag", "full-document"}


def test_p_is_corrected_over_all_comparisons_and_tokens_of_both_are_told(run_of):
    summary = write_reports(run_of, ledgers())
    tokens = {arm.label: arm.tokens for arm in summary.arms}
    corrected = adjusted([d.p for d in summary.comparisons])
    (table,) = [t for t in tables_of(summary) if t.title == "Comparisons"]

    assert [d.p_adjusted for d in summary.comparisons] == corrected
    for difference, row in zip(summary.comparisons, table.rows, strict=True):
        assert difference.first_tokens == tokens[difference.first]
        assert difference.second_tokens == tokens[difference.second]
        assert row[1] == f"{tokens[difference.first]:,.0f}"
        assert row[4].endswith("*") == (difference.p_adjusted < 0.05)


def test_a_run_that_is_not_complete_is_reported_as_far_as_it_is(run_of):
    answers = run_of.answers()
    gone = {"system": "dos-rag", "budget": 30, "run": 0, "question_id": "0-1"}
    kept = [a for a in answers if any(a[key] != gone[key] for key in gone)]
    run_of.write_lines("answers.jsonl", kept)
    run_of.write_errors([{**gone, "error": "ModelCallError", "message": "down"}])

    summary = write_reports(run_of, ledgers())

    (arm,) = [a for a in summary.arms if a.label == "dos-rag, 30"]
    assert (arm.answers, arm.missing, arm.measures["token_f1"].questions) == (44, 1, 44)
    (note,) = [note for note in summary.notes if "missing" in note]
    assert "1 failed" in note
    assert "dos-rag, 30: 1 (" in note
    pairs = [d for d in summary.comparisons if d.first == "dos-rag, 30"]
    assert {d.questions for d in pairs} == {44}


def test_an_arm_without_any_answer_is_named(run_of):
    answers = run_of.answers()
    kept = [a for a in answers if (a["system"], a["budget"]) != ("dos-rag", 30)]
    run_of.write_lines("answers.jsonl", kept)
    key = {"system": "dos-rag", "budget": 30, "run": 0, "question_id": "0-1"}
    run_of.write_errors([{**key, "error": "BudgetTooSmallError", "message": "m"}])

    notes = write_reports(run_of, ledgers()).notes
    assert "All answers failed of: dos-rag, 30. See errors.jsonl." in notes


def test_questions_that_failed_everywhere_are_missing_too(run_of):
    answers = run_of.answers()
    run_of.write_lines(
        "answers.jsonl", [a for a in answers if a["question_id"] != "0-1"]
    )
    keys = [
        {key: a[key] for key in ("system", "budget", "run", "question_id")}
        for a in answers
        if a["question_id"] == "0-1"
    ]
    run_of.write_errors([{**k, "error": "E", "message": "m"} for k in keys])

    summary = write_reports(run_of, ledgers())

    assert summary.questions == 45
    assert {arm.missing for arm in summary.arms} == {1}


def line(system="s", budget=1, run=0, question_id="q", measures=(), **fields):
    """A scored answer."""
    asked = {"input_tokens": 10, "output_tokens": 1, "cached_tokens": 0}
    return {
        "system": system,
        "budget": budget,
        "run": run,
        "question_id": question_id,
        "doc_ids": ["d"],
        "route": "",
        "whole": None,
        "context_tokens": 5,
        "measures": dict(measures),
        "usage": {"asked": {**asked, "estimated": False}, "index": {}},
    } | fields


def test_values_are_means_over_runs_and_runs_have_means_of_their_own():
    (arm,) = arms_of(
        [
            line(run=0, question_id="a", measures={"token_f1": 1.0}),
            line(run=1, question_id="a", measures={"token_f1": 0.5}),
            line(run=0, question_id="b", measures={"token_f1": 0.0}),
            line(run=1, question_id="c", measures={"token_f1": None}),
        ]
    )

    assert arm.values("token_f1", ["b", "a", "c", "d"]) == [0.0, 0.75, None, None]
    assert arm.means("run", "token_f1") == {0: 0.5, 1: 0.5}


def test_what_was_made_of_a_document_is_added_once():
    made = {"input_tokens": 100, "output_tokens": 7, "cached_tokens": 0}
    usage = line()["usage"] | {"index": {**made, "estimated": False}}
    on_d = [line(question_id=q, usage=usage) for q in "ab"]
    on_e = line(question_id="c", doc_ids=["e"], usage=usage)
    both = {name: 2 * made[name] for name in made}
    usage = usage | {"index": {**both, "estimated": False}}
    on_all = line(question_id="d", doc_ids=[], usage=usage)

    for lines in ((*on_d, on_e), (*on_d, on_e, on_all)):
        index = Arm("s", 1, lines).index()
        assert (index.input_tokens, index.output_tokens) == (200, 14)


def test_the_share_of_tokens_counts_the_questions_that_both_have():
    routed = [line(question_id=q, route="full") for q in "abc"]
    share = token_share(
        Arm("s", 1, (*routed,)), Arm("f", None, (line(question_id="a"),))
    )

    assert (share["token_share"].mean, share["token_share"].questions) == (1, 1)


def test_a_measure_that_no_answer_has_gives_way_to_the_sets_own(run_of):
    summary = write_reports(run_of, ledgers(), measure="answer_recall")

    assert summary.measure == "token_f1"


class TestACountedSet:
    """Two questions and two runs; BLEU is of all answers of a run together."""

    @pytest.fixture
    def dataset(self):
        document = Document("d", "", "The wheel is made of old oak wood.")
        questions = (
            Question("q", ("d",), "What is it?", ("a wheel of oak",)),
            Question("r", ("d",), "Of what?", ("old oak wood", "oak")),
        )
        names = ("token_f1", "corpus_bleu", "meteor")
        return Dataset("wheels", questions, {"d": document}, names)

    @pytest.fixture
    def directory(self, dataset, tmp_path):
        directory = RunDirectory(tmp_path)
        directory.begin({})
        texts = ["a wheel of oak", "old oak", "a wheel of pine", "old oak wood"]
        keys = itertools.product([0, 1], ["q", "r"])
        directory.write_lines(
            "answers.jsonl",
            [
                line(run=run, question_id=name)
                | {"prediction": text, "pieces": [], "usage": {}}
                for (run, name), text in zip(keys, texts, strict=True)
            ],
        )
        return directory

    def test_means_and_deviations_over_runs(self, directory, dataset):
        (arm,) = write_reports(directory, dataset).arms
        gold = [q.answers for q in dataset.questions]
        runs = [["a wheel of oak", "old oak"], ["a wheel of pine", "old oak wood"]]
        scores = [corpus_bleu(texts, gold, max_order=1) for texts in runs]
        figure = arm.measures["bleu_1"]

        assert figure.mean == pytest.approx(sum(scores) / 2)
        # The sample's deviation of two figures is their distance over the root of 2.
        assert figure.deviation == pytest.approx(abs(scores[0] - scores[1]) / 2**0.5)
        assert (figure.low, figure.high, figure.questions) == (None, None, 2)

    def test_a_note_says_why_there_is_no_meteor(self, directory, dataset, monkeypatch):
        import nltk

        from oprag_eval import metrics

        monkeypatch.setattr(nltk.data, "path", [])
        if metrics.meteor_unavailable() is None:  # a corpus stays once it was loaded
            pytest.skip("WordNet is loaded in this process")
        summary = write_reports(directory, dataset)

        assert "METEOR" not in tables_of(summary)[0].headings
        assert any("METEOR is not computed: NLTK's" in note for note in summary.notes)

    def test_one_document_is_said_to_be_one(self, directory, dataset):
        summary = write_reports(directory, dataset)

        assert (summary.unit, summary.documents) == ("questions", 1)
        assert any("on one document" in note for note in summary.notes)

    def test_cost_is_by_the_users_prices(self, directory, dataset):
        answers = directory.answers()
        used = {"input_tokens": 1_000, "output_tokens": 50, "cached_tokens": 400}
        for answer in answers:
            answer["usage"] = {
                key: used | {"estimated": True} for key in ("answer", "index")
            }
        directory.write_lines("answers.jsonl", answers)
        summary = write_reports(directory, dataset, price=Price(2.0, 1.0, 10.0))

        # 600 fresh at 2, 400 cached at 1, 50 out at 10, per million.
        (arm,) = summary.arms
        assert arm.cost == arm.index_cost == pytest.approx((1_200 + 400 + 500) / 1e6)
        assert any("counted here" in note for note in summary.notes)
