"""Finds a Chromium on this machine."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

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
