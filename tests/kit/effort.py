"""How many cases a law is tried on: fewer of them in `make test-fast`."""

import os

from hypothesis import settings

FAULT_STEP = int(os.environ.get("OPRAG_FAULT_STEP", "10"))
"""Where every call of a run may fail: so many calls from one that is tried to the next.
All of them hold; a few seconds are enough for some, from another one each time."""


def cases(number: int) -> int:
    """Scale a number of cases as the profile scales the usual 100."""
    return max(1, number * settings.default.max_examples // 100)
