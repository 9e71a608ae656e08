"""The page of a run: what it holds, that it needs nothing, and the questions on it."""

import base64
import hashlib
import json
from html.parser import HTMLParser

import pytest

from oprag_eval.data import Dataset, Document, Question
from oprag_eval.reports.page import page_data
from tests.evaluation.reports.runs import ledgers
from tests.evaluation.test_scoring import answer

pytestmark = pytest.mark.slow


class Page(HTMLParser):
    """The elements of a page with their attributes, and the text of some."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str]]] = []
        self.texts: dict[str, list[str]] = {}
        self._open: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag not in ("meta", "img", "input"):
            self._open.append(tag)

    def handle_endtag(self, tag):
        while self._open and self._open.pop() != tag:
            pass

    def handle_data(self, data):
        if self._open:
            self.texts.setdefault(self._open[-1], []).append(data)

    def all(self, tag):
        return [attrs for name, attrs in self.elements if name == tag]


@pytest.fixture(scope="module")
def page(reported) -> Page:
    return Page((reported[0] / "report.html").read_text("utf-8"))


def test_plots_are_told_in_words_to_those_who_do_not_see_them(page, reported):
    spot = reported[1].sweet_spot.chosen
    ring = f"; the ring: {spot}" if spot else ""

    assert [image["alt"] for image in page.all("img")] == [
        f"F1 against tokens, 45 questions{ring}",
        f"F1 against cost, 45 questions{ring}",
    ]


def test_the_policy_allows_the_one_script_and_style_by_their_hashes(page):
    (policy,) = [
        attrs["content"] for attrs in page.all("meta") if "http-equiv" in attrs
    ]
    rules = dict(rule.split(maxsplit=1) for rule in policy.split("; "))
    data, script = page.texts["script"]
    (style,) = page.texts["style"]

    assert rules["default-src"] == "'none'"
    for kind, text in (("script-src", script), ("style-src", style)):
        digest = hashlib.sha256(text.encode()).digest()
        assert rules[kind] == f"'sha256-{base64.b64encode(digest).decode()}'"
    assert json.loads(data)["total"] == 45
    assert not any(
        name == "style" or name.startswith("on")
        for _, attrs in page.elements
        for name in attrs
    )


def test_every_table_and_setting_is_there(page, reported):
    _, summary = reported
    titles = [text for text in page.texts["h2"] if text.strip()]

    assert titles == [
        "Notes",
        "Results",
        "Tokens and cost",
        "Comparisons",
        "Questions",
        "Settings",
    ]
    cells = set(page.texts["td"])
    assert {arm.system for arm in summary.arms} <= cells
    assert set(summary.settings) <= set(page.texts["th"])
    assert summary.advice[0] in page.texts["strong"]
    advice = " ".join(summary.advice[1:])
    assert advice in " ".join(page.texts["p"])


@pytest.fixture(scope="module")
def lines(answered):
    from oprag_eval.running.run_directory import RunDirectory
    from oprag_eval.scores import score_answers

    return list(score_answers(RunDirectory(answered).answers(), ledgers()))


def test_all_answers_of_a_question_stand_together(lines):
    data = page_data(lines, ledgers(), "token_f1")

    assert [q["id"] for q in data["questions"]] == [
        question.question_id for question in ledgers().questions
    ]
    assert (data["total"], data["every"]) == (45, 1)
    assert data["arms"][:3] == [
        ["vanilla-rag", 30],
        ["vanilla-rag", 90],
        ["dos-rag", 30],
    ]
    assert all(len(q["answers"]) == 6 for q in data["questions"])
    shown = {
        (data["arms"][a[0]][0], data["arms"][a[0]][1], q["id"]): a
        for q in data["questions"]
        for a in q["answers"]
    }
    for line in lines:
        row = shown[line["system"], line["budget"], line["question_id"]]
        assert row[2] == (line["prediction"] or None)
        assert row[3] == pytest.approx(line["measures"]["token_f1"], abs=1e-4)
        assert row[6] == [piece[:3] for piece in line["pieces"]]


def test_documents_have_their_length_and_evidence_its_place(lines):
    data, dataset = page_data(lines, ledgers(), ""), ledgers()

    assert data["documents"] == {
        doc.doc_id: [doc.title, len(doc.text)] for doc in dataset.documents.values()
    }
    for shown, asked in zip(data["questions"], dataset.questions, strict=True):
        (span,) = asked.evidence
        assert shown["evidence"] == [[shown["documents"][0], span.start, span.end]]
        assert {row[3] for row in shown["answers"]} == {None}  # no measure


@pytest.mark.parametrize(
    ("most", "every"),
    [({"most_answers": 270}, 1), ({"most_answers": 269}, 2), ({"most_answers": 40}, 7)],
)
def test_a_large_run_shows_questions_at_even_distances(lines, most, every):
    data = page_data(lines, ledgers(), "token_f1", **most)
    ids = [question.question_id for question in ledgers().questions]

    assert data["every"] == every
    assert [q["id"] for q in data["questions"]] == ids[::every]
    assert data["total"] == 45


def test_a_question_on_the_whole_set_is_drawn_over_what_was_read():
    dataset = Dataset(
        "s",
        (Question("q", (), "?", ("x",)),),
        {name: Document(name, "", "0123456789") for name in "abc"},
    )
    pieces = ["c", 0, 4, ""], ["a", 2, 3, ""], ["a", None, None, "summary"]
    line = {**answer("q", "x", pieces=pieces), "budget": None, "measures": {}}
    data = page_data([line], dataset, "")
    (question,) = data["questions"]

    assert data["documents"] == {"c": ["", 10], "a": ["", 10]}
    assert question["documents"] == ["c", "a"]
    assert question["answers"][0][6:] == [[["c", 0, 4], ["a", 2, 3]], 1]
