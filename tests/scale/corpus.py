"""A corpus of 300 documents, 3,000 chunks; and the same after a while."""

from collections.abc import Iterator
from pathlib import Path

import langchain_oprag
import llamaindex_oprag

ADAPTERS = {"langchain": langchain_oprag, "llamaindex": llamaindex_oprag}
CHUNKS = 3_000
_DOCUMENTS, _SENTENCES = 300, 60


def text(number: int, sentences: int = _SENTENCES) -> str:
    """The text of a document, in ten chunks of oprag's splitter."""
    return " ".join(
        f"Sentence {n} of document {number} is about thing {n * number % 97} and "
        f"word{n % 13}."
        for n in range(sentences)
    )


def write(folder: Path, documents: int = _DOCUMENTS) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for number in range(documents):
        (folder / f"d{number:04}.txt").write_text(text(number))
    return folder


def changed(folder: Path) -> None:
    """Change the first of the texts: one each in every way there is."""
    (folder / "d0000.txt").write_text(text(0) + " One more sentence.")
    (folder / "d0001.txt").write_text(text(0, 30))
    (folder / "d0002.txt").write_text(" ")
    (folder / "d0003.txt").unlink()
    (folder / "d0004.txt").rename(folder / "d0004b.txt")
    (folder / "e.bin").write_bytes(bytes(range(256)))
    (folder / "new.txt").write_text(text(7_000))


def pages(framework: str, documents: int, each: int = 3) -> Iterator[object]:
    """Documents of a framework that come page by page."""
    if framework == "langchain":
        from langchain_core.documents import Document

        for number in range(documents * each):
            yield Document(text(number, 20), metadata=_page(number, each))
    else:
        from llama_index.core import Document as Node

        for number in range(documents * each):
            yield Node(text=text(number, 20), metadata=_page(number, each))


def _page(number: int, each: int) -> dict[str, object]:
    return {"source": f"{number // each}.pdf", "page": number % each, "size": 0.5}
