"""Passages as text: separators, gap marks, citations."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from oprag.chunk import Chunk, Passage
from oprag.errors import invalid_option
from oprag.metadata import CHUNK_INDEX
from oprag.positions import as_number


def marked_texts(
    passages: Sequence[Passage], *, gap_mark: str | None = None, separator: str = "\n\n"
) -> list[str]:
    """Text of each passage, behind the gap mark where something was left out.

    The mark goes before a passage that follows another of the same document and
    does not touch it. Joined by `separator` the texts are the context.
    """
    texts = [passage.text for passage in passages]
    return _with_marks(passages, texts, gap_mark, separator)


def without_mark(text: str, *, gap_mark: str | None, separator: str) -> str:
    """Take a gap mark off that an earlier run put before the text."""
    if gap_mark is None:
        return text
    return text.removeprefix(f"{gap_mark}{separator}")


def render(
    passages: Sequence[Passage],
    *,
    separator: str = "\n\n",
    gap_mark: str | None = None,
    citations: bool = False,
) -> str:
    """Join passages into one context string, in the order given.

    Args:
        passages: As `order_context` returns them.
        separator: Between two passages.
        gap_mark: Put on its own between passages of one document that do not
            touch; None for nothing.
        citations: Put each passage's number and place before it,
            `[1] contract.txt, characters 0-120`, on a line of its own.

    Returns:
        The context; the empty string for no passages.

    Raises:
        InvalidOptionError: `citations` is neither True nor False.
    """
    if type(citations) is not bool:
        raise invalid_option("citations", citations, "It takes True or False.")
    texts = [passage.text for passage in passages]
    if citations:
        texts = [
            f"[{number}] {passage.citation}\n{passage.text}"
            for number, passage in enumerate(passages, start=1)
        ]
    return separator.join(_with_marks(passages, texts, gap_mark, separator))


def gap_between(before: Passage, after: Passage) -> bool:
    """Whether text of one document was left out between two passages.

    Passages of which the spans are not known count as having a gap.
    """
    if before.document != after.document:
        return False
    if before.part != after.part or not (before.spans and after.spans):
        return True
    return after.spans[0].start > before.spans[-1].end or (
        after.spans[0].start < before.spans[0].start
    )


def _with_marks(
    passages: Sequence[Passage], texts: list[str], gap_mark: str | None, separator: str
) -> list[str]:
    if gap_mark is None:
        return texts
    befores = [None, *passages]
    return [
        text
        if before is None or not gap_between(before, passage)
        else f"{gap_mark}{separator}{text}"
        for before, passage, text in zip(befores, passages, texts, strict=False)
    ]


def number_of(chunk: Chunk) -> int | None:
    """Return a number that ascends with the chunk's place in its document.

    Returns:
        The `chunk_index` of its metadata; without one where it begins, as its
        position says (a character, an ordinal, a page). None without a position.
    """
    index = as_number(chunk.metadata.get(CHUNK_INDEX))
    if index is not None or not chunk.position:
        return index
    return int(chunk.position[min(1, len(chunk.position) - 1)])


def numbering(documents: Iterable[str]) -> Callable[[Chunk, str], str]:
    """Return the function that puts a chunk's number before its text.

    Args:
        documents: Keys of the documents of all chunks; with several the name of
            the document stands behind the number.

    Returns:
        A function from a chunk and the text to send for it to
        `[Chunk 12] text`, `[Chunk 12 of a.txt] text`; a chunk without a number
        stays as it is. Fit to be `sent_text` of `arrange`.
    """
    several = len(set(documents)) > 1

    def numbered(chunk: Chunk, text: str) -> str:
        number = number_of(chunk)
        if number is None:
            return text
        of = f" of {chunk.name or chunk.document}" if several else ""
        return f"[Chunk {number}{of}] {text}"

    return numbered
