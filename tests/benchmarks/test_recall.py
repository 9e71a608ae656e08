"""What the recall benchmark measures, by hand, and that it runs the product's steps."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("bm25s", reason="the benchmark ranks with it")

from langchain_classic.retrievers import EnsembleRetriever
from langchain_core.documents import Document

from benchmarks.recall import arms
from benchmarks.recall.books import SETS, Book, Question, data_folder, load_books
from benchmarks.recall.measuring import evidence_kept, joined
from benchmarks.recall.rankings import Ranked, fused
from benchmarks.recall.table import Row, as_markdown
from oprag.context import order_context
from oprag.splitting import TextChunk
from oprag.tokens import resolve_token_counter
from tests.langchain.corpus import ListRetriever


def test_evidence_is_kept_where_all_its_characters_are():
    # 10-20 and 20-30 touch, so 15-25 is whole; of 28-34 two of six are there.
    spans = [(20, 30), (10, 20)]
    assert joined(spans) == [(10, 30)]
    every = Question("?", ((15, 25), (28, 34)), all_needed=True)
    assert evidence_kept(every, spans) == (False, 12 / 16)
    any_one = Question("?", ((15, 25), (28, 34)), all_needed=False)
    assert evidence_kept(any_one, spans) == (True, 1.0)
    assert evidence_kept(any_one, []) == (False, 0.0)


def test_documents_in_order_become_books_and_the_tail_joins_the_last():
    documents = [{"text": "x" * 60_000} for _ in range(5)]
    # 60,000 are too few, 120,002 enough: books of two, and the fifth joins.
    packed = SETS["covidqa"](documents, len)
    assert [len(book) for book in packed] == [2, 3]


def test_fusing_is_what_the_ensemble_retriever_does():
    random = np.random.default_rng(0)
    chunks = tuple(TextChunk(n, n + 1, 1) for n in range(30))
    scores = [random.random(30, np.float32) for _ in range(2)]
    lists = [
        [Document(f"{n}") for n in np.argsort(-column, kind="stable")[:20]]
        for column in scores
    ]
    ensemble = EnsembleRetriever(
        retrievers=[ListRetriever(documents=each) for each in lists], weights=[1, 1]
    )
    found = [int(document.page_content) for document in ensemble.invoke("?")]
    ranked = Ranked(chunks, np.zeros(0), np.zeros(0))
    ours = fused(scores, ranked, 20)
    assert set(ours) == set(found)

    def worth(number):
        ranks = [list(np.argsort(-c, kind="stable")[:20]) for c in scores]
        return sum(1 / (61 + r.index(number)) for r in ranks if number in r)

    assert [worth(n) for n in ours] == pytest.approx([worth(n) for n in found])


@pytest.mark.parametrize(
    "options", [{}, {"selection": "recall"}, {"selection": "segments"}]
)
def test_an_arm_keeps_what_the_assembled_context_holds(options, monkeypatch):
    monkeypatch.setattr(arms, "BUDGETS", (8, 20))
    counter = resolve_token_counter(len)
    text = "abcdefghij" * 6
    chunks = tuple(TextChunk(n, n + 5, 5) for n in range(0, 60, 5))
    dense = np.random.default_rng(1).random((1, 12), np.float32)
    book = Book("b", text, (Question("?", ((10, 30),), all_needed=True),))
    arm = arms.Arm("a", (), options, dense_only=True)
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
        assert found == evidence_kept(book.questions[0], spans)


def test_the_table_has_a_line_for_each_arm():
    kept = [[(True, 1.0)] * 6, [(False, 0.5)] * 6]
    text = as_markdown([Row.of("covidqa", "uniform", kept)])
    assert "| uniform |" + " 50.0 |" * 6 in text
    assert "| uniform |" + " 75.0 |" * 6 in text


@pytest.mark.slow
def test_the_books_of_the_reference_measurement():
    if not data_folder().is_dir():
        pytest.skip("the question sets do not lie beside the repository")
    counter = resolve_token_counter("cl100k_base")
    books = load_books("covidqa", data_folder(), counter)
    # 101,129 and 154,245 by the sets' own description: its count leaves out what
    # the joints add.
    assert [counter(book.text) for book in books] == [101_130, 154_248]
    assert sum(len(book.questions) for book in books) == 727
