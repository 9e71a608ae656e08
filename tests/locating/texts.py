"""Texts to split: what this machine has, and one made up; none is kept here."""

import random
from collections import Counter
from functools import cache
from importlib import metadata
from pathlib import Path
from pydoc_data import topics


@cache
def reference(size: int) -> str:
    """The language reference that every CPython ships."""
    return "\n\n".join(topics.topics.values())[:size]


@cache
def readmes(size: int) -> str:
    """Markdown: the descriptions of installed packages."""
    texts = [str(dist.metadata.get_payload()) for dist in _installed()]
    return "\n\n".join(text for text in texts if "\n## " in text)[:size]


@cache
def licences(size: int, repeated: float) -> str:
    """Licences of installed packages, the short ones first.

    Only those of whose lines at least a share is in others too.
    """
    texts = [text for dist in _installed() for text in _licences_of(dist)]
    lines = Counter(line for text in texts for line in _lines(text))
    texts = [
        text
        for text in texts
        if sum(lines[line] > 1 for line in _lines(text)) >= repeated * len(_lines(text))
    ]
    return "\n\n".join(sorted(texts, key=len))[:size]


@cache
def made_up(size: int, repeated: float) -> str:
    """Lines from a small stock, and some that stand once."""
    rng = random.Random(85)  # noqa: S311 - a text, no secret
    words = sorted({word for word in reference(20_000).split() if word.isalpha()})
    stock = [" ".join(rng.choices(words, k=rng.randint(1, 14))) for _ in range(60)]
    lines = [
        rng.choice(stock)
        if rng.random() < repeated
        else f"{number}. {' '.join(rng.choices(words, k=8))}"
        for number in range(size // 20)
    ]
    return "\n".join(lines)[:size]


def _lines(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.strip()]


def _installed() -> list[metadata.Distribution]:
    return sorted(metadata.distributions(), key=lambda dist: str(dist.name))


def _licences_of(dist: metadata.Distribution) -> list[str]:
    found = []
    for file in dist.files or []:
        if file.name.upper().startswith(("LICEN", "COPYING", "NOTICE")):
            try:
                text = Path(str(dist.locate_file(file))).read_text("utf-8")
            except (OSError, UnicodeDecodeError):
                continue
            found.append(f"{dist.name}: {file.name}\n\n{text}")
    return found
