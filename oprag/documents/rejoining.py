"""The text of one part out of its pieces, by their offsets, and the proof that it is.

Of oprag's own splitters the pieces are slices that touch or overlap. Others drop white
space; beside their chunks stands a hash of the text without it.
"""

from __future__ import annotations

from collections.abc import Sequence

from oprag.documents.refusing import (
    REPAIR,
    Gap,
    altered,
    gap_in_text,
    inconsistent,
    unknown_overlap,
    unproved,
    white_space_lacks,
)
from oprag.documents.stored_chunks import PartStamp, Piece
from oprag.documents.stored_pieces import NO_PLACE
from oprag.errors import ConflictingTextError, InvalidSpanError
from oprag.metadata import NONSPACE_HASH, TEXT_HASH, text_stamp


def join_part(
    name: str, pieces: Sequence[Piece], stamp: PartStamp | None, *, exact: bool
) -> tuple[str, bool]:
    """Join the pieces of one part, and prove the text.

    Returns:
        The text of the part, and whether it is proved to be that.
    """
    if stamp is None:
        if exact:
            raise unproved(name, pieces[0])
        return _join(name, pieces, None)[0], False
    text, gap = _join(name, pieces, stamp)
    proof = text_stamp(text, exact=stamp.nonspace_hash is None)
    if proof[TEXT_HASH] == stamp.text_hash:
        return text, True
    if proof.get(NONSPACE_HASH, "") != stamp.nonspace_hash:
        raise altered(name, pieces, stamp, gap)
    if exact:
        raise white_space_lacks(name, pieces, gap)
    return text, False


def _join(
    name: str, pieces: Sequence[Piece], stamp: PartStamp | None
) -> tuple[str, Gap | None]:
    """The text, and the widest gap that white space was put into."""
    strict = stamp is None or stamp.nonspace_hash is None
    if strict:
        for piece in pieces:
            if piece[3] - piece[2] != len(piece[5]):
                raise _unlike_its_place(name, piece)
    texts, gaps, reach = _laid_out(name, [p for p in pieces if p[2] != NO_PLACE])
    length, last = reach if stamp is None else stamp.length, pieces[-1][0]
    if reach > length:
        what = f"chunk {last} ends at character {reach:,} of a text that had {length:,}"
        raise inconsistent(name, what, (last,))
    if reach < length:
        gaps.append(Gap(reach, length, last, None))
        texts.append(_white_space(length - reach))
    gap = max(gaps, key=lambda gap: gap.end - gap.start, default=None)
    if strict and gap is not None:
        raise gap_in_text(name, gap, pieces[0][1])
    return "".join(texts), gap


def _laid_out(name: str, pieces: Sequence[Piece]) -> tuple[list[str], list[Gap], int]:
    """What stands one behind another, white space in the gaps, and where it ends."""
    texts: list[str] = []
    gaps: list[Gap] = []
    reach = 0
    last: Piece | None = None
    widest: Piece | None = None
    for piece in pieces:
        index, _, start, end, _, text = piece
        if start != reach or end < start:
            if start > reach:
                _check_order(name, last, piece)
                before = None if widest is None else widest[0]
                gaps.append(Gap(reach, start, before, index))
                texts.append(_white_space(start - reach))
            elif widest is not None:
                text = _beyond(name, widest, last, piece)
        texts.append(text)
        last = piece
        if end >= reach:
            reach, widest = end, piece
    return texts, gaps, reach


def _unlike_its_place(name: str, piece: Piece) -> Exception:
    index, _, start, end, _, text = piece
    if end < start:
        _check_order(name, None, piece)
    place = "has no place"
    if start != NO_PLACE:
        place = f"its place {start}-{end} says {end - start:,}"
    what = f"the text of chunk {index} has {len(text):,} characters, and {place}"
    return inconsistent(name, what, (index,))


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
        raise unknown_overlap(name, before, piece)
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
