"""Places of texts that occur once in another one, whatever their order.

The index of the long text is made once and kept, as the next question is about the same
documents.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from threading import Lock

from oprag.chunk import CUT_CHARACTER, Span
from oprag.locating.chunks_in_order import Location, locate, placed_at
from oprag.locating.seeds import (
    ABSENT,
    SEED,
    UNKNOWN,
    Seeds,
    Stretch,
    spacing_for,
    starts_of,
    stretch_at,
)
from oprag.locating.squeezed_text import SqueezedText, squeeze

_MOST_KEPT = 8_000_000
"""Characters of the texts whose indexes are kept: some 50 MB of memory."""


class TextIndex:
    """A text in which others are found."""

    def __init__(self, source: str, spacing: int) -> None:
        self._squeezed = SqueezedText(source)
        self._seeds = Seeds(self._squeezed.flat, spacing)

    def only(self, text: str) -> Location:
        """Return the place of a text that occurs once; white space never counts.

        A text that was cut inside a character at an end has the place of the rest.
        """
        piece = squeeze(text)
        if not piece:
            return Location(None, "blank")
        start = self._seeds.searched(piece)
        if start == ABSENT and (rest := piece.strip(CUT_CHARACTER)):
            piece, start = rest, self._seeds.searched(rest)
        if start == UNKNOWN:
            return Location(None, "ambiguous")
        if start < 0:
            return Location(None, "not_found")
        return placed_at(self._squeezed, text, piece, start)

    def inside(
        self, text: str, recorded: Span | None, *, believed: bool = False
    ) -> Location:
        """Return the place of the slice in a text that has something else around it.

        This may be a header that a model wrote, or a line that names the document. The
        slice is half of the text at least, or begins at the recorded place. The text
        has nothing else of the source beside the slice, as it would if it was altered.
        Of several copies the recorded one counts, if the record is believed.
        """
        piece = squeeze(text)
        found = self._seeds.stretches(piece)
        best = self._recorded_stretch(piece, recorded)
        begun = best is not None
        if best is None:
            best = max(found, key=_length, default=None)
            if best is None or 2 * _length(best) < len(piece):
                return self._beside_a_line(text, recorded, believed=believed)
        elif not believed and self.copies(piece[best.start : best.end], 1) > 1:
            return Location(None, "ambiguous")
        begin, end, far = best.at, best.at + _length(best), len(piece)
        behind = [each for each in found if end - _length(each) < each.at < end + far]
        mixed = any(each.start > best.start for each in behind) or any(
            begin - far <= each.at <= begin - _length(each) and each.start < best.start
            for each in found
        )
        moved = 0
        for each in behind:
            if each.start < best.start:  # a header may quote the text after it
                outside = max(0, begin - each.at)
                moved += outside + max(0, each.at + _length(each) - end)
        is_header = begun and best.end == far  # it may quote text nearby
        if (mixed and not is_header) or 2 * moved > best.start:
            return Location(None, "not_found")
        begin, end = self._whole_words(text, best, begun=begun)
        first, last = self._squeezed.offset(begin), self._squeezed.offset(end - 1)
        return Location(Span(first, last + 1), "inside")

    def _whole_words(
        self, text: str, found: Stretch, *, begun: bool
    ) -> tuple[int, int]:
        """Return the ends of a stretch without letters that agree by chance.

        Such letters are of words that go on differently in the text and in the piece.
        """
        piece, shift = SqueezedText(text), found.at - found.start

        def common(at: int, step: int) -> int:
            count = 0
            if self._squeezed.goes_on(at + shift):
                while count < SEED and piece.goes_on(at + step * count):
                    count += 1
            return count % SEED  # so many are no chance

        start = found.start if begun else found.start + common(found.start, 1)
        end = found.end - common(found.end, -1)
        return start + shift, max(end, start + 1) + shift

    def _beside_a_line(
        self, text: str, recorded: Span | None, *, believed: bool
    ) -> Location:
        """Return the place of the text after its first line, or before its last."""
        behind, before = text.partition("\n")[2], text.rpartition("\n")[0]
        rests = text, behind.strip(), before.strip()
        found = [self.only(rest) for rest in rests]
        for rest, (span, _) in zip(rests, found, strict=True):
            if span and recorded and span.start >= recorded.start:
                return Location(span, "inside")
            if believed and recorded and (piece := squeeze(rest)):
                begin = self._squeezed.index(recorded.start)
                if self._squeezed.flat.startswith(piece, begin):
                    at = placed_at(self._squeezed, rest, piece, begin)
                    return Location(at.span, "inside")
        several = any(status == "ambiguous" for _, status in found)
        return Location(None, "ambiguous" if several else "not_found")

    def _recorded_stretch(self, piece: str, recorded: Span | None) -> Stretch | None:
        """Return the stretch that begins at the recorded place, if `SEED` agrees.

        A header may begin with the same words. Of several stretches it is the one that
        is the rest of the piece, else the first.
        """
        flat = self._squeezed.flat
        if recorded is None:
            return None
        begin = self._squeezed.index(recorded.start)
        seed = flat[begin : begin + SEED]
        starts = [*starts_of(seed, piece)] if len(seed) == SEED else []
        if not starts:
            return None
        rests = (at for at in starts if flat.startswith(piece[at:], begin))
        at = next(rests, starts[0])
        return stretch_at(flat, begin, piece, at, back=False)

    def copies(self, text: str, most: int) -> int:
        """Count the places of a text, as `only` finds it, up to `most` and one more."""
        starts = starts_of(squeeze(text), self._squeezed.flat)
        return sum(1 for _ in islice(starts, most + 1))


def _length(stretch: Stretch) -> int:
    return stretch.end - stretch.start


_kept: dict[tuple[str, int], TextIndex] = {}
_lock = Lock()


def place_some(
    source: str,
    texts: Sequence[str],
    order: Sequence[int] | None = None,
    recorded: Sequence[Span | None] = (),
) -> list[Location]:
    """Find the places of some chunks of a text, such as those that were retrieved.

    A place is proved in each of these cases:

    - The text occurs once.
    - There are as many chunks of a text as places, each recorded at a separate one.
    - All other texts begin as recorded.
    - The order of the chunks is recorded and leaves one place (see `locate`).

    Args:
        source: The full text. Its index is kept for the next call.
        texts: The texts of the chunks, in any order.
        order: Their numbers in the order that the index records; None if it records
            none.
        recorded: The place that the index records for each. It alone proves nothing: a
            search for a text that repeats itself finds any of its places. If given,
            texts that have something before or after their slice are also found.
    """
    index = _index_of(source, texts)
    found = [index.only(text) for text in texts]
    for i, span in enumerate(recorded):
        if found[i].status == "not_found":
            found[i] = index.inside(texts[i], span)
    if recorded:
        _place_all_copies(index, source, texts, found, recorded)
        _place_as_recorded(index, texts, found, recorded)
    if order is None or all(location.status != "ambiguous" for location in found):
        return found
    known = [span for i in order if (span := found[i].span) is not None]
    if known != sorted(known):
        return found  # the recorded order is wrong
    ordered = locate(source, [texts[i] for i in order], complete=False)
    for i, location in zip(order, ordered, strict=True):
        if found[i].status == "ambiguous":
            found[i] = location
    return found


def _place_all_copies(
    index: TextIndex,
    source: str,
    texts: Sequence[str],
    found: list[Location],
    recorded: Sequence[Span | None],
) -> None:
    """Place the chunks of repeated texts if each copy is recorded at its own place."""
    spans: dict[str, dict[Span, int]] = {}
    for number, (text, span) in enumerate(zip(texts, recorded, strict=True)):
        several = found[number].status == "ambiguous"
        if several and span and source[slice(*span)] == text:
            spans.setdefault(text, {})[span] = number
    for text, numbers in spans.items():
        if index.copies(text, len(numbers)) == len(numbers):
            for span, number in numbers.items():
                found[number] = Location(span, "exact")


def _place_as_recorded(
    index: TextIndex,
    texts: Sequence[str],
    found: list[Location],
    recorded: Sequence[Span | None],
) -> None:
    """Believe the recorded places of repeated texts if all others begin as recorded."""
    both = [(f.span, at) for f, at in zip(found, recorded, strict=True)]
    begins = {span.start == at.start for span, at in both if span and at}
    for i, span in enumerate(recorded if begins == {True} else ()):
        if found[i].status == "ambiguous":
            found[i] = index.inside(texts[i], span, believed=True)


def _index_of(source: str, texts: Sequence[str]) -> TextIndex:
    with _lock:  # questions on one document begin together
        key = source, spacing_for(texts)
        _kept[key] = index = _kept.pop(key, None) or TextIndex(*key)  # the last used
        while len(_kept) > 1 and sum(len(text) for text, _ in _kept) > _MOST_KEPT:
            del _kept[next(iter(_kept))]
    return index
