"""A text whose sentences are marked, and the order in which a model read them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import combinations

SECTIONS, SENTENCES = 12, 8
MARK = re.compile(r"\[S(\d{3})\.(\d\d)\]")


def _sentence(section: int, number: int) -> str:
    words = f"Rule {number} of section {section} binds whoever signs the lease"
    return f"[S{section:03}.{number:02}] {words}."


TEXT = "\n\n".join(
    " ".join(_sentence(section, number) for number in range(SENTENCES))
    for section in range(SECTIONS)
)


def marks(text: str) -> list[tuple[int, int]]:
    """Section and number of each sentence, as they are first read."""
    return list(
        dict.fromkeys(
            (int(section), int(number)) for section, number in MARK.findall(text)
        )
    )


def inverted_pairs(prompts: Iterable[str]) -> int:
    """How many pairs of sentences are read the wrong way round, in all prompts."""
    return sum(
        first > second
        for prompt in prompts
        for first, second in combinations(marks(prompt), 2)
    )
