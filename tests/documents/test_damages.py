"""However chunks are damaged: the document comes back as it was, or not at all."""

import os
import random
from collections import Counter

import pytest

from oprag.documents import rebuild
from tests.documents.damages import DAMAGES, damaged
from tests.kit.effort import cases

MANY = int(os.environ.get("OPRAG_DAMAGES", "0"))
"""How many damages to try; 0: as many as the profile has cases."""


@pytest.mark.filterwarnings("ignore::oprag.errors.PositionWarning")
@pytest.mark.parametrize("exact", [True, False])
@pytest.mark.parametrize("foreign", [False, True])
def test_no_damage_gives_a_wrong_text(foreign, exact):
    rng = random.Random(f"{foreign} {exact}")  # noqa: S311 -- any will do
    outcomes: Counter[str] = Counter()
    done: Counter[str] = Counter()

    for number in range(MANY or max(150, cases(300))):
        case = damaged(f"o'brien {number}.txt", rng, foreign=foreign)
        outcome = case.check(
            lambda name, case=case: rebuild(name, case.chunks, exact=exact)
        )
        outcomes[outcome] += 1
        done.update(case.damages)

    assert set(done) == {damage.__name__ for damage in DAMAGES}
    assert outcomes["whole"] or foreign
    assert bool(outcomes["inexact"]) == (foreign and not exact)
    assert len(outcomes) >= 3 + (not exact and foreign)  # several kinds of refusals
