"""The paper's form of a chunk: its number before its text.

Self-Route (arXiv 2407.16833) sends chunks best first and writes before each which
one of its document it is. With `order="score"` this is done here too; in document
order the model sees the order itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from oprag.chunk import Chunk
from oprag.metadata import CHUNK_INDEX
from oprag.positions import as_number

__all__ = ["number_of", "numbering"]


def number_of(chunk: Chunk) -> int | None:
    """Give a number that ascends with the chunk's place in its document.

    Returns:
        The `chunk_index` of its metadata; without one where it begins, as its
        position says (a character, an ordinal, a page). None without a position.
    """
    index = as_number(chunk.metadata.get(CHUNK_INDEX))
    if index is not None or not chunk.position:
        return index
    return int(chunk.position[min(1, len(chunk.position) - 1)])


def numbering(documents: Iterable[str]) -> Callable[[Chunk, str], str]:
    """Give the function that puts a chunk's number before its text.

    Args:
        documents: Keys of the documents of all chunks; with several the name of
            the document stands behind the number.

    Returns:
        A function from a chunk and the text to send for it to
        `[Chunk 12] text`, `[Chunk 12 of a.txt] text`; a chunk without a number
        stays as it is. Fit to be `sent_text` of `assemble`.
    """
    several = len(set(documents)) > 1

    def numbered(chunk: Chunk, text: str) -> str:
        number = number_of(chunk)
        if number is None:
            return text
        of = f" of {chunk.name or chunk.document}" if several else ""
        return f"[Chunk {number}{of}] {text}"

    return numbered
