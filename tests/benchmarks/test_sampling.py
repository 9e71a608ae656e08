"""A short form of the simulation, and how its table is written."""

import pytest

from benchmarks.sampling import (
    PER_DOCUMENT,
    SHAPES,
    advised,
    as_markdown,
    covered,
    most_decided,
)


@pytest.mark.slow
@pytest.mark.parametrize("shape", SHAPES)
def test_advice_is_within_two_points_or_not_given(shape):
    found = advised(shape, 30, 10, 60)

    assert found.too_low <= 0.1


def test_no_rule_decides_for_equal_arms_and_is_seldom_wrong():
    four, _, _, _, ten = most_decided(30, 20_000)

    assert 0.3 < four < 0.6 < ten < 0.95


@pytest.mark.slow
@pytest.mark.parametrize("per_document", PER_DOCUMENT)
def test_intervals_hold_the_truth_from_ten_documents_on(per_document):
    shares = list(covered(10, per_document, 300))

    # Of 300 runs, 95 % are 285 ± 4.
    assert all(0.91 <= share <= 0.99 for share in shares)


def test_the_table_tells_every_run_and_interval():
    outcome = advised("flat", 30, 10, 2)
    page = as_markdown([outcome], [0.6] * 5, [(10, "10 each", [0.951] * 5)], 2)

    assert "| flat: 75, 75, 75, 75, 75, 75 | 30 | 10 | 0.0% | 0.0% | – |" in page
    assert "| decided where all are equal | 60% | 60% | 60% | 60% | 60% |" in page
    assert page.endswith("| 10 | 10 each | 95.1 | 95.1 | 95.1 | 95.1 | 95.1 |\n")
