"""How many generated cases a law is tried on: fewer of them in `make test-fast`."""

from hypothesis import settings


def cases(number: int) -> int:
    """Scale a number of cases as the profile scales the usual 100."""
    return max(1, number * settings.default.max_examples // 100)
