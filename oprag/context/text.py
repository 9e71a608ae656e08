"""Passages as text: separators, gap marks, citations."""

from __future__ import annotations

from collections.abc import Sequence

from oprag.chunk import Chunk, Passage
from oprag.context.options import check_option
from oprag.context.ordinals import find_own_number
from oprag.documents import check_entries
from oprag.marks import GAP_MARK, escape_marks
from oprag.result_key import read_written


def headers(passages: Sequence[Passage], *, separator: str = "\n\n") -> list[str]:
    """Write the number and place of each passage, and the gap mark before these.

    The mark goes before a passage that follows another of the same document and
    does not touch it. The headers, each with its text behind it, joined by
    `separator`, are the context.
    """
    written = []
    before: Passage | None = None
    for number, passage in enumerate(passages, 1):
        has_gap = before is not None and gap_between(before, passage)
        mark = f"{GAP_MARK}{separator}" if has_gap else ""
        written.append(mark + header(number, passage))
        before = passage
    return written


def cite_text(number: int, passage: Passage) -> str:
    """Return the text of a passage after its number and place, as `render` does."""
    return header(number, passage) + escape_marks(passage.text)


def header(number: int, passage: Passage) -> str:
    """Write the number and place of a passage: its own number if it has one."""
    return f"[{passage.number or number}] {passage.citation}".rstrip() + "\n"


def render(
    passages: Sequence[Passage],
    *,
    separator: str = "\n\n",
    citations: bool | None = False,
) -> str:
    """Join passages into one context string, in the order given.

    The one place where citations and gap marks are written. A component with
    `citations=True` has left room for them in its own `token_budget`.

    Args:
        passages: As `order_context` returns them.
        separator: Between two passages.
        citations: Put each passage's number and place before it,
            `[1] contract.txt, characters 0-120`, on a separate line, and `[…]`
            between passages of one document that do not touch. A line of a text that
            begins as these do gets a backslash before its bracket
            (`oprag.marks.unescape_marks` takes it away). None: do so unless they are
            results of a component whose token budget has no room for these.

    Returns:
        The context; the empty string for no passages.

    Raises:
        InvalidOptionError: An option does not exist or cannot have this value; or
            something in `passages` is no passage.
    """
    check_entries("passages", passages, Passage)
    check_option("separator", separator)
    if citations is None:
        written = [read_written(passage.chunks[0].metadata) for passage in passages]
        citations = all(place is None or place.has_room for place in written)
    check_option("citations", citations)
    if not citations:
        return separator.join(passage.text for passage in passages)
    heads = headers(passages, separator=separator)
    return separator.join(
        head + escape_marks(passage.text, separator)
        for head, passage in zip(heads, passages, strict=True)
    )


def gap_between(before: Passage, after: Passage) -> bool:
    """Return whether text of one document was left out between two passages.

    Passages whose spans are not known count as having a gap if they name their
    document: else nothing says that they are of one.
    """
    if before.document_key != after.document_key:
        return False
    if not (before.spans and after.spans):
        return bool(before.document_key)
    if before.part != after.part:
        return True
    return after.spans[0].start > before.spans[-1].end or (
        after.spans[0].start < before.spans[0].start
    )


def number_text(chunk: Chunk, text: str, number: int | None = None) -> str:
    """Return the text to send for a chunk, after a number for its place.

    The number ascends with the place in the document. It is the `chunk_index` of the
    metadata, or else the beginning of the chunk that its position names (a character,
    an ordinal, a page). No line of the text can be taken for another such number.

    Args:
        chunk: The chunk. Without a position that is a whole number it has no number.
        text: Its text as sent.
        number: The number to write instead, see `count_unnumbered`.
    """
    if number is None:
        number = find_own_number(chunk)
    return text if number is None else f"[Chunk {number}] {escape_marks(text)}"
