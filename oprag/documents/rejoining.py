"""The text of one part out of its pieces, by their offsets."""

from __future__ import annotations

import re
from collections.abc import Sequence

from oprag.documents.refusing import REPAIR, gap_too_wide, inconsistent
from oprag.documents.stored_pieces import NO_PLACE, Piece
from oprag.errors import ConflictingTextError, InvalidSpanError

_BLANKS = re.compile(r"\s+")


def join_pieces(
    name: str, pieces: Sequence[Piece], *, max_gap: int | None
) -> tuple[str, bool]:
    """Join the pieces of one part.

    Args:
        name: The document's name.
        pieces: All of one part, in reading order. Not empty.
        max_gap: See `oprag.documents.rebuild`, as for the errors. None for the chunks
            of oprag's own splitters, which are slices that touch.

    Returns:
        The text of the part, and whether nothing of it was made up.
    """
    texts: list[str] = []
    exact = True
    reach = room = 0  # room: that of blanks whose place is not known
    last = widest = None
    for piece in pieces:
        _, _, start, end, _, text = piece
        if start == NO_PLACE:
            room += len(text)
            exact = False
            continue
        if end - start != len(text):
            _check_length(name, piece, ours=max_gap is None)
            exact = False
        if start != reach or end < start:
            if start > reach:
                _check_order(name, last, piece)
                _check_gap(name, widest, piece, max_gap, room)
                texts.append(_white_space(start - reach))
                exact = False
            elif widest is not None:
                text = _beyond(name, widest, last, piece)
        texts.append(text)
        last, room = piece, 0
        if end >= reach:
            reach, widest = end, piece
    return "".join(texts), exact


def _check_length(name: str, piece: Piece, *, ours: bool) -> None:
    index, _, start, end, _, text = piece
    if ours and end >= start:
        what = (
            f"the text of chunk {index} has {len(text):,} characters, and its place "
            f"{start}-{end} says {end - start:,}"
        )
        raise inconsistent(name, what, (index,))


def _check_order(name: str, last: Piece | None, piece: Piece) -> None:
    index, _, start, end, *_ = piece
    if end < start:
        message = (
            f"Document {name!r}: chunk {index} claims characters {start}-{end}, which "
            "end before they begin. Index the document again, or repair the "
            f"positions: {REPAIR}."
        )
        raise InvalidSpanError(message, document=name, start=start, end=end)
    if last is not None and start < last[2]:
        what = f"chunk {index} begins before chunk {last[0]}, which precedes it"
        raise inconsistent(name, what, (last[0], index))


def _check_gap(
    name: str, before: Piece | None, piece: Piece, max_gap: int | None, room: int
) -> None:
    reach = 0 if before is None else before[3]
    gap = piece[2] - reach
    if max_gap is None or (
        gap > max_gap + room and gap > room + _widest_blank(before, piece)
    ):
        raise gap_too_wide(
            name,
            (reach, piece[2]),
            (None if before is None else before[0], piece[0]),
            total=piece[1],
            max_gap=max_gap,
        )


def _widest_blank(before: Piece | None, piece: Piece) -> int:
    """The most white space in one place of the chunks on both sides of a gap.

    Between them may be as much: texts that are indented, or are tables, have more than
    prose.
    """
    texts = [piece[5]] if before is None else [before[5], piece[5]]
    blanks = [blank for text in texts for blank in _BLANKS.findall(text)]
    return max(map(len, blanks), default=0)


def _white_space(length: int) -> str:
    """What a splitter most likely stripped: line breaks, then an indentation."""
    return "\n" * min(length, 2) + " " * (length - 2)


def _beyond(name: str, before: Piece, last: Piece | None, piece: Piece) -> str:
    """What a piece adds to the text that `before` ends; it does not start earlier.

    A text that is not as long as its span had its white space altered. Where one of
    the two had, the overlap is measured in the other, without white space.
    """
    first, _, left, left_end, _, left_text = before
    second, _, start, end, _, text = piece
    if end < start or (last is not None and start < last[2]):
        _check_order(name, last, piece)
    shared = min(left_end, end) - start
    theirs = left_text[start - left : start - left + shared]
    left_altered = len(left_text) != left_end - left
    altered = len(text) != end - start
    if left_altered and altered:
        what = (
            f"chunks {first} and {second} overlap, and white space was altered in "
            "both, so that where one goes on is not known"
        )
        raise inconsistent(name, what, (first, second))
    if altered:
        solid = _solid(theirs)
        agree, added = _solid(text).startswith(solid), _without(text, len(solid))
    else:
        own, added = text[:shared], text[shared:]
        agree = _solid(own) in _solid(left_text) if left_altered else own == theirs
    if agree:
        return added
    spans = ((left, left_end), (start, end))
    message = (
        f"Document {name!r}: chunks {first} and {second} claim characters {left}-"
        f"{left_end} and {start}-{end}, but their texts differ where these overlap. "
        "Positions are wrong, or the chunks are of two versions of the document: "
        f"index the document again, or repair them: {REPAIR}."
    )
    raise ConflictingTextError(message, document=name, spans=spans)


def _solid(text: str) -> str:
    return "".join(text.split())


def _without(text: str, count: int) -> str:
    """The text after its first `count` characters that are not white space."""
    seen = 0
    for place, character in enumerate(text):
        if seen == count:
            return text[place:]
        seen += not character.isspace()
    return ""
