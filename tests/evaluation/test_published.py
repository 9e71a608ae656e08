"""Published figures: of sets that can be loaded, each with its source."""

from __future__ import annotations

import pytest

from oprag.errors import InvalidOptionError
from oprag.evaluation.data import DATASETS
from oprag.evaluation.published import all_published, published_for
from oprag.evaluation.reports.measuring import title_of


def test_every_figure_is_of_a_set_and_a_measure_that_exist():
    assert {figure.dataset for figure in all_published()} <= set(DATASETS)
    assert all(title_of(figure.measure) != figure.measure for figure in all_published())


def test_figures_are_shares_with_a_source_and_occur_once():
    assert all(0 < figure.value < 1 for figure in all_published())
    assert all("arXiv:" in figure.source for figure in all_published())
    keys = [
        (f.dataset, f.measure, f.model, f.method, f.tokens, f.source)
        for f in all_published()
    ]
    assert len(set(keys)) == len(keys)


@pytest.mark.parametrize(
    ("dataset", "model", "method", "tokens", "value"),
    [
        ("infinitebench/en.qa", "Llama-3.1-70B", "OP-RAG", 48_000, 0.4725),
        ("infinitebench/en.mc", "GPT-4o", "DOS RAG", 30_000, 0.931),
        ("infinitebench/en.mc", "GPT-4o-mini", "RAPTOR", 1_500, 0.656),
        ("quality", "GPT-4o", "full document", 5_800, 0.912),
        ("narrativeqa", "GPT-4o-mini", "Vanilla RAG", 40_000, 0.195),
    ],
)
def test_a_figure_stands_where_the_paper_has_it(dataset, model, method, tokens, value):
    measure = {"narrativeqa": "token_f1", "infinitebench/en.qa": "token_f1"}.get(
        dataset, "choice_match"
    )
    found = [
        figure.value
        for figure in published_for(dataset, model=model, measure=measure)
        if (figure.method, figure.tokens) == (method, tokens)
    ]

    assert found == [value]


def test_a_reader_is_chosen_without_regard_to_case():
    found = published_for("quality", model="gpt-4o-MINI")

    assert {figure.model for figure in found} == {"GPT-4o-mini"}
    assert published_for("quality") != found


@pytest.mark.parametrize(
    ("name", "loaded"),
    [("quality/dev", "quality"), ("narrativeqa/test", "narrativeqa")],
)
def test_a_set_that_was_loaded_has_the_figures_of_its_split(name, loaded):
    assert published_for(name) == published_for(loaded) != ()
    assert published_for(f"{loaded}/train") == ()


def test_a_set_without_figures_has_none():
    assert published_for("jsonl") == ()
    assert published_for("jsonl", model="GPT-4o") == ()


def test_an_unknown_reader_is_told_those_there_are():
    with pytest.raises(InvalidOptionError, match="GPT-4o, GPT-4o-mini"):
        published_for("quality", model="GPT-9")
