"""Evidence and order: what is measured of a context."""

import random
from itertools import combinations

import pytest
from scipy.stats import kendalltau

from oprag.errors import InvalidOptionError
from oprag_eval.metrics import evidence_recall, wrong_order

KINDS = ("any", "all")


def test_evidence_equals_a_count_of_characters_on_random_spans():
    rng = random.Random(12)  # noqa: S311 -- no secret

    def spans(most, least):
        cut = ((rng.randrange(30), rng.randint(1, 12)) for _ in range(most))
        return [(a, a + n) for a, n in list(cut)[: rng.randint(least, most)]]

    found = [0, 0]
    for _ in range(1_000):
        evidence, kept = spans(3, 1), spans(6, 0)
        held = {c for a, b in kept for c in range(a, b)}
        sets = [set(range(a, b)) for a, b in evidence]
        needed = set().union(*sets)
        whole = {"any": any(s <= held for s in sets), "all": needed <= held}
        for kind in KINDS:
            assert evidence_recall(evidence, kept, kind=kind) == whole[kind]
            found[whole[kind]] += 1

    assert min(found) > 100


@pytest.mark.parametrize("kind", KINDS)
def test_without_evidence_there_is_nothing_to_measure(kind):
    with pytest.raises(InvalidOptionError, match="evidence is empty"):
        evidence_recall([], [(0, 1)], kind=kind)


def test_without_a_pair_there_is_no_share():
    for places in ([], [("a", 1)], [("a", 1), ("b", 0)], [("a", 1), ("a", 1)]):
        assert wrong_order(places) is None


def test_order_equals_a_count_of_all_pairs_and_scipy_on_random_contexts():
    rng = random.Random(13)  # noqa: S311 -- no secret
    for case in range(1_000):
        size = rng.randint(2, 12)
        if case % 2:  # one document, no ties: what SciPy's τ means too
            places = [("d", p) for p in rng.sample(range(50), size)]
            tau = kendalltau(range(size), [p for _, p in places]).statistic
            assert 1 - 2 * wrong_order(places) == pytest.approx(tau)
        else:
            places = [(rng.choice("ab"), rng.randrange(8)) for _ in range(size)]
        pairs = [
            (p, q) for (a, p), (b, q) in combinations(places, 2) if a == b and p != q
        ]
        share = sum(p > q for p, q in pairs) / len(pairs) if pairs else None
        assert wrong_order(places) == share
