"""Suites run by hand, and what their tests say when they fail."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from unittest import SkipTest

_SHOWN = 300
"""Characters of a wrong value that a message shows."""


def expect(holds: object, message: str) -> None:
    """Fail a test with a message, also where Python leaves out `assert` (-O)."""
    if not holds:
        raise AssertionError(message)


def expect_none(wrong: Sequence[object], what: str, advice: str) -> None:
    """Fail a test if anything wrong was found: show the first, and say what to do."""
    if wrong:
        raise AssertionError(f"{what}: {wrong[0]!r:.{_SHOWN}}. {advice}")


def failures(suite: Callable[[], object]) -> dict[str, str]:
    """Run a suite without pytest.

    Args:
        suite: Your subclass of `StoreSuite`. Each of its tests runs on an instance of
            its own.

    Returns:
        By the name of each test that failed, what it said. Empty if all passed, or
        were skipped because the store cannot do what they are about.
    """
    found: dict[str, str] = {}
    for name in sorted(name for name in dir(suite) if name.startswith("test_")):
        try:
            getattr(suite(), name)()
        except SkipTest:
            continue
        except AssertionError as error:
            found[name] = str(error)
        except Exception as error:  # noqa: BLE001 -- what is tested may fail in any way
            found[name] = f"{type(error).__name__}: {error}"
    return found
