"""The recall benchmark, by hand; and it runs the product's steps."""

import numpy as np
import pytest

from benchmarks.recall import arms
from benchmarks.recall.books import SETS, Book, Question
from benchmarks.recall.choosing import interval, left_out
from benchmarks.recall.measuring import Kept, evidence_kept, joined
from benchmarks.recall.needed import Pieces, Settings
from benchmarks.recall.rankings import Ranked
from benchmarks.recall.table import Row, as_markdown, differences
from oprag.context import order_context
from oprag.splitting import TextChunk, split_sentences
from oprag.tokens import resolve_token_counter


def test_evidence_is_kept_where_all_its_characters_are():
    # 10-20 and 20-30 touch, so 15-25 is whole; of 28-34 two of six are there.
    spans = [(20, 30), (10, 20)]
    text = "x" * 33 + " " + "x" * 20
    assert joined(spans, text) == [(10, 30)]
    assert joined([(34, 40), (30, 33)], text) == [(30, 40)]  # but for a blank
    every = Question("?", ((15, 25), (28, 34)), all_needed=True)
    assert evidence_kept(every, spans, text) == (False, 12 / 16)
    any_one = Question("?", ((15, 25), (28, 34)), all_needed=False)
    assert evidence_kept(any_one, spans, text) == (True, 1.0)
    assert evidence_kept(any_one, [], text) == (False, 0.0)


def test_documents_in_order_become_books_and_the_tail_joins_the_last():
    documents = [{"text": "x" * 60_000} for _ in range(5)]
    # 60,000 are too few, 120,002 enough: books of two, and the fifth joins.
    packed = SETS["covidqa"](documents, len)
    assert [len(book) for book in packed] == [2, 3]


@pytest.mark.parametrize("options", [{}, {"selection": "recall"}])
def test_an_arm_keeps_what_the_assembled_context_holds(options, monkeypatch):
    monkeypatch.setattr(arms, "BUDGETS", (8, 20))
    counter = resolve_token_counter(len)
    text = "abcdefghij" * 6
    chunks = tuple(TextChunk(n, n + 5, 5) for n in range(0, 60, 5))
    dense = np.random.default_rng(1).random((1, 12), np.float32)
    book = Book("b", text, (Question("?", ((10, 30),), all_needed=True),))
    arm = arms.Arm("a", (), options, retrievers="dense")
    (kept,) = arms.measure(arm, book, Ranked(chunks, dense, dense), counter)

    order = np.argsort(-dense[0], kind="stable")
    for budget, found in zip((8, 20), kept, strict=True):
        passages = order_context(
            [text[chunks[n].start : chunks[n].end] for n in order],
            [{"source": "b", "char_start": chunks[n].start} for n in order],
            token_budget=budget,
            token_counter=len,
            **options,
        )
        spans = [tuple(span) for passage in passages for span in passage.spans]
        assert found[:2] == evidence_kept(book.questions[0], spans, text)


def test_the_table_has_a_line_for_each_arm_and_a_mean():
    kept = [[Kept(True, 1.0, 0.98)] * 6, [Kept(False, 0.5, 0.98)] * 6]
    rows = [Row.of("covidqa", "uniform", kept), Row.of("qmsum", "uniform", kept[:1])]
    text = as_markdown(rows)
    assert "| covidqa (2) | uniform |" + " 50.0 |" * 7 in text
    assert "| mean of the sets | uniform |" + " 75.0 |" * 6 + " 25.0 |" in text
    assert "| covidqa | uniform |" + " 98.0 |" * 6 in text


def test_arms_are_compared_question_by_question():
    better = arms.Arm("better", (), against=("worse", "not measured"))
    right, wrong = [[Kept(full, 1.0, 1.0)] * 6 for full in (True, False)]
    measured = [(better, [right, right]), (arms.Arm("worse", ()), [right, wrong])]
    (found,) = differences("covidqa", measured, ["a", "b"])
    assert (found.arm, found.less) == ("better", "worse")
    assert found.points == ((50.0, 0.0, 100.0),) * 6
    assert "| better | worse |" + " +50.0 (+0.0 … +100.0) |" * 6 in as_markdown(
        [Row.of("covidqa", "better", [right, right])], [found]
    )


def test_tokens_needed_are_where_the_assembled_context_first_holds_the_evidence():
    counter = resolve_token_counter("cl100k_base")
    text = "".join(f"It is {n} o'clock.\n" for n in range(1, 41))
    found = split_sentences(text, chunk_size=16, tokenizer=counter)
    found += split_sentences(text, chunk_size=32, tokenizer=counter)
    scores = np.random.default_rng(2).random((1, len(found)), np.float32)
    book = Book("b", text, (Question("?", ((70, 200),), all_needed=True),))
    pieces = Pieces(book, Ranked(tuple(found), scores, scores))
    order = pieces.fused(0, "dense", None)
    needed = pieces.by_worth(0, order, Settings(), 200)

    def holds(budget):
        passages = order_context(
            [text[found[n].start : found[n].end] for n in order],
            [{"source": "b", "char_start": found[n].start} for n in order],
            token_budget=budget,
            token_counter=counter,
            selection="recall",
        )
        return evidence_kept(
            book.questions[0], [s for p in passages for s in p.spans], text
        )

    assert holds(int(1.1 * needed))[0]
    assert not holds(int(0.8 * needed))[0]


def test_a_recipe_is_chosen_on_the_other_sets():
    found = {
        "one": {"a": np.array([0.0]), "b": np.array([9.0]), "c": np.array([8.0])},
        "two": {"a": np.array([9.0]), "b": np.array([1.0]), "c": np.array([6.0])},
    }
    # Without a: 17 against 7; without b: 8 against 15; without c: 9 against 10.
    assert [left_out(found, name) for name in "abc"] == ["two", "one", "one"]


def test_an_interval_draws_documents_not_questions():
    difference = np.array([1.0, 1.0, 1.0, 0.0])
    assert interval(difference, ["a"] * 4) == (0.75, 0.75)
    low, high = interval(difference, ["a", "a", "a", "b"])
    assert (low, high) == (0.0, 1.0)
