"""Finds a Chromium on this machine."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
"""Commands that are looked for, the smallest first; as in the Makefile."""

REQUIRED = bool(os.environ.get("OPRAG_REQUIRE_BROWSER"))
"""Whether a missing browser fails the tests instead of skipping them."""


def find_browser(fetched: str) -> str | None:
    """Give the path of a browser's program.

    Args:
        fetched: Where Playwright keeps the one that it fetches.

    Returns:
        None where there is none.
    """
    found = next(filter(None, map(shutil.which, NAMES)), None)
    return found or (fetched if Path(fetched).exists() else None)


def watched(page: Any, *own: str) -> Any:
    """The page; `troubles` are what it says, and what it asks of other addresses."""
    page.troubles = []
    page.on("console", lambda said: page.troubles.append(said.text))
    page.on("pageerror", lambda error: page.troubles.append(str(error)))
    page.on(
        "request",
        lambda sent: sent.url.startswith(own) or page.troubles.append(sent.url),
    )
    return page


@contextmanager
def opened_browser() -> Iterator[Any]:
    """A browser for tests; they are skipped where there is none, or fail."""
    if not REQUIRED:
        pytest.importorskip("playwright")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        program = find_browser(playwright.chromium.executable_path)
        if program is None:
            message = f"none of {', '.join(NAMES)} is on this machine"
            (pytest.fail if REQUIRED else pytest.skip)(message)
        opened = playwright.chromium.launch(executable_path=program)
        yield opened
        opened.close()
