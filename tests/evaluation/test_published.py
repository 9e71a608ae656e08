"""Published figures: of sets that can be loaded, each with its source."""

from __future__ import annotations

import pytest

from oprag_eval.reproduction import all_published, published_for


def test_figures_are_shares_with_a_source_and_occur_once():
    for figure in all_published():  # routing may cost more than it saves
        assert 0 < figure.value < (1.1 if figure.measure == "token_share" else 1)
    assert all("arXiv:" in figure.source for figure in all_published())
    keys = [
        (f.dataset, f.measure, f.model, f.method, f.tokens, f.source)
        for f in all_published()
    ]
    assert len(set(keys)) == len(keys)


_MEASURES = {
    "infinitebench/en.qa": "token_f1",
    "longbench/musique": "token_f1",
    "longbench/qmsum": "rouge_l",
    "longrag/nq": "answer_recall",
    "narrativeqa": "token_f1",
    "passkey/larger": "exact_match",
    "passkey/reworded": "first_number_match",
    "self-route/average": "average",
}


@pytest.mark.parametrize(
    ("dataset", "model", "method", "tokens", "value"),
    [
        ("infinitebench/en.qa", "Llama-3.1-70B", "OP-RAG", 48_000, 0.4725),
        ("infinitebench/en.mc", "GPT-4o", "DOS RAG", 30_000, 0.931),
        ("infinitebench/en.mc", "GPT-4o-mini", "RAPTOR", 1_500, 0.656),
        ("quality", "GPT-4o", "full document", 5_800, 0.912),
        ("narrativeqa", "GPT-4o-mini", "Vanilla RAG", 40_000, 0.195),
        ("longbench/musique", "GPT-4o", "Self-Route", None, 0.4169),
        ("longbench/qmsum", "Gemini-1.5-Pro", "full document", None, 0.2073),
        ("infinitebench/en.mc", "Gemini-1.5-Pro", "RAG, Dragon", None, 0.5022),
        ("self-route/average", "Gemini-1.5-Pro", "Self-Route, k=50", None, 0.4519),
        ("passkey/reworded", "Gemini-1.5-Pro", "RAG", None, 0.0458),
        ("passkey/larger", "Gemini-1.5-Pro", "full document", None, 0.6424),
        ("longrag/nq", "retrieval alone", "LongRAG, k=4", 25_000, 0.863),
    ],
)
def test_a_figure_stands_where_the_paper_has_it(dataset, model, method, tokens, value):
    measure = _MEASURES.get(dataset, "choice_match")
    found = [
        figure.value
        for figure in published_for(dataset)
        if (figure.model, figure.measure) == (model, measure)
        and (figure.method, figure.tokens) == (method, tokens)
    ]

    assert found == [value]


def test_figures_have_the_deviations_that_their_papers_give():
    figures = [f for f in published_for("quality") if f.model == "GPT-4o"]

    assert {f.deviation for f in figures if f.tokens == 500} == {0.002, 0.003}
    assert all(figure.deviation is not None for figure in figures)
    assert {figure.deviation for figure in published_for("narrativeqa")} == {None}
