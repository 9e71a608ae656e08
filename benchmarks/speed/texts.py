"""The text that everything is measured on."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

_DATA = Path(__file__).resolve().parents[3] / "shared" / "data"
_SETS = ("nocha_sample", "covidqa", "fairytaleqa")


def read_text(path: Path) -> str:
    """Read a text file, or all `.txt` files of a folder, by name."""
    files = sorted(path.rglob("*.txt")) if path.is_dir() else [path]
    return "\n\n".join(file.read_text("utf-8") for file in files)


def default_text(size: int | None) -> str:
    """Novels, scientific articles and tales, where their data are beside the project.

    Else the language reference that comes with Python.

    Args:
        size: Characters, of each set its share; None for all.
    """
    texts = [_read_set(_DATA / name / "docs.jsonl") for name in _SETS if _DATA.is_dir()]
    if not texts:
        from pydoc_data.topics import topics

        texts = ["\n\n".join(topics.values())]
    whole = sum(map(len, texts))
    kept = 1 if size is None else min(size / whole, 1)
    return "\n\n".join(text[: int(len(text) * kept)] for text in texts)


def longer(text: str, size: int) -> str:
    """Make a text of a size without repeating it: copies with the words shuffled.

    The words of each paragraph change places, by a fixed seed for each copy.
    """
    return "".join(_copies(text, size))[:size]


def whole_document(
    splitter: Any, text: str, name: str, n_chunks: int
) -> tuple[str, list[Any]]:
    """Make a document of about so many chunks, with all of its chunks.

    Args:
        splitter: One of oprag's for LangChain.
        text: What it is made of.
        name: Its name.
        n_chunks: Chunks that it is to have, some more or less.

    Returns:
        Its text, and its chunks.
    """
    long = longer(text, n_chunks * 400)
    chunks = splitter.create_documents([long], [{"source": name}])
    whole = long[: chunks[:n_chunks][-1].metadata["char_end"]]
    return whole, splitter.create_documents([whole], [{"source": name}])


def _copies(text: str, size: int) -> Iterator[str]:
    yield text
    made = len(text)
    copy = 0
    while made < size:
        copy += 1
        shuffle = random.Random(copy).shuffle  # noqa: S311 -- not for security
        for paragraph in text.split("\n\n"):
            words = paragraph.split()
            shuffle(words)
            shuffled = "\n\n" + " ".join(words)
            yield shuffled
            made += len(shuffled)
            if made >= size:
                return


def _read_set(path: Path) -> str:
    with path.open(encoding="utf-8") as lines:
        return "\n\n".join(json.loads(line)["text"] for line in lines)
