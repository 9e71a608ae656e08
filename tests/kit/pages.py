"""Texts of pages as a PDF reader gives them: lines, and no blank ones between them."""

import random

_LETTERS = "abcdefghijklmnopqrstuvwxyz"


def page_text(number: int, *, lines: int = 45) -> str:
    """Return a page whose lines are in no other."""
    rng = random.Random(f"page {number}")  # noqa: S311 -- a text, no secret
    return "\n".join(
        " ".join("".join(rng.choices(_LETTERS, k=6)) for _ in range(9))
        for _ in range(lines)
    )
