"""A short form of the simulation."""

import pytest

from benchmarks.sampling import DOCUMENTS, NOISE, SHAPES, advised, covered


@pytest.mark.slow
@pytest.mark.parametrize("shape", SHAPES)
def test_advice_keeps_what_it_states_in_nine_of_ten_runs(shape):
    found = advised(shape, 40, 3, NOISE["answers of a model"], 60)

    assert found.right is None or found.right >= 0.9


@pytest.mark.parametrize("documents", DOCUMENTS)
def test_a_dozen_questions_are_no_ground_for_advice(documents):
    found = advised("rising", 12, documents, NOISE["what passages hold"], 10)

    assert found.decided == 0
    assert found.needed >= 30


@pytest.mark.slow
@pytest.mark.parametrize("documents", DOCUMENTS)
def test_intervals_hold_the_truth_as_often_as_they_say(documents):
    shares = covered(40, documents, 400)

    # Of 400 runs, 95 % are 380 ± 4. Passages differ on few of 40 questions.
    assert shares.scores_here is None or 0.91 <= shares.scores_here <= 0.99
    assert shares.scores is None or 0.91 <= shares.scores <= 0.99
    assert 0.91 <= shares.differences <= 0.99
    assert shares.alike >= 0.91
