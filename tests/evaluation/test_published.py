"""Published figures: of sets that can be loaded, each with its source."""

from oprag_eval.reproduction import all_published


def test_figures_are_shares_with_a_source_and_occur_once():
    for figure in all_published():  # routing may cost more than it saves
        assert 0 < figure.value < (1.1 if figure.measure == "token_share" else 1)
    assert all("arXiv:" in figure.source for figure in all_published())
    keys = [
        (f.dataset, f.measure, f.model, f.method, f.tokens, f.source)
        for f in all_published()
    ]
    assert len(set(keys)) == len(keys)
