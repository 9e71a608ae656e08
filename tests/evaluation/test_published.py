"""Published figures: of sets that can be loaded, each with its source."""

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


def test_figures_have_the_deviations_that_their_papers_give():
    figures = [f for f in published_for("quality") if f.model == "GPT-4o"]

    assert {f.deviation for f in figures if f.tokens == 500} == {0.002, 0.003}
    assert all(figure.deviation is not None for figure in figures)
    assert {figure.deviation for figure in published_for("narrativeqa")} == {None}
