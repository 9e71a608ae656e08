"""Texts whose sentences are marked, and the order in which a model read them.

Sentence 7 of section 3 carries `[S003.07]`. Each text has sections of its own, so that
a prompt tells which is which; a hundred sections belong to one text.
"""

import re
from collections.abc import Sequence
from itertools import combinations

MARK = re.compile(r"\[S(\d{3})\.(\d\d)\]")
TOPICS = ("rent", "roof", "garden", "deposit", "noise", "heating", "keys")


def _sentence(section: int, number: int) -> str:
    words = f"Rule {number} of section {section} binds whoever signs the lease"
    return f"[S{section:03}.{number:02}] {words}."


def marked_sections(first: int, count: int, sentences: int = 20) -> list[str]:
    """Sections from a number on; each names some topics more often than others."""
    return [
        " ".join(
            _sentence(section, number).removesuffix(".")
            + f" about the {TOPICS[(section * number) % (2 + section % 6)]}."
            for number in range(sentences)
        )
        for section in range(first, first + count)
    ]


def marks(text: str) -> list[tuple[int, int]]:
    """Section and number of each sentence, as they are first read."""
    return list(
        dict.fromkeys(
            (int(section), int(number)) for section, number in MARK.findall(text)
        )
    )


def inversions_by_text(prompt: str) -> dict[int, int]:
    """The same of one prompt, inside each text: that of sections 100 to 199 is 1."""
    read = marks(prompt)
    return {
        text: _inversions([mark for mark in read if mark[0] // 100 == text])
        for text in sorted({section // 100 for section, _ in read})
    }


def _inversions(read: Sequence[tuple[int, int]]) -> int:
    return sum(first > second for first, second in combinations(read, 2))
