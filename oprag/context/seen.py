"""Text that a reader has read: cut out of new chunks, so that nothing is sent twice.

An agent searches several times, and its searches overlap. Text that was sent once is
in its conversation. With exact places the rest is arithmetic: of a chunk, the slices
between the characters already read are left. The text is compared as well: another
text may go by the same name and the same numbers.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterable, Iterator, Mapping, Sequence
from operator import itemgetter
from typing import Any, TypeAlias

from oprag.chunk import Chunk, Passage, Span
from oprag.context.passages import locate_spans
from oprag.context.pieces import slice_of
from oprag.errors import InvalidOptionError, describe_type
from oprag.locating import merge_ranges
from oprag.metadata import DOC_VERSION, version_text
from oprag.positions import document_name, read_spans

SeenLike: TypeAlias = Iterable[Passage | Sequence[Any]]
"""Passages, or `[document, part, start, end]` for each span."""

_Source: TypeAlias = tuple[int | None, str]
"""The text that spans are relative to: part and version of a document, "" for any."""

_Piece: TypeAlias = tuple[Span | None, str]
"""Characters that were shown and their text ("" if it is not known), or a text without
a known place."""

_TURN = itemgetter(1)
"""The turn in which a piece came, from its entry in `_ShownPieces`."""
_NO_CHANCE = 40
"""Characters that do not occur twice in one document by chance."""


class _ShownPieces:
    """The shown pieces of one text, found by their places."""

    def __init__(self) -> None:
        self.numbers: dict[_Piece, int | None] = {}
        """The number of the passage in which each piece was shown, if it had one."""
        self.unplaced: list[_Piece] = []
        self._placed: list[tuple[int, int, _Piece]] = []
        """Sorted by their beginnings; those of equal beginnings by their arrival."""
        self._longest = 0

    def add(self, piece: _Piece, number: int | None) -> None:
        """Add a piece, or the number of a known one."""
        if piece not in self.numbers:
            span = piece[0]
            if span is None:
                self.unplaced.append(piece)
            else:
                insort(self._placed, (span.start, len(self.numbers), piece))
                self._longest = max(self._longest, span.end - span.start)
        self.numbers[piece] = number

    def near(self, span: Span) -> list[_Piece]:
        """Return the pieces that may overlap a span, in their order of arrival."""
        first = bisect_left(self._placed, (span.start - self._longest,))
        last = bisect_left(self._placed, (span.end,), first)
        return [piece for _, _, piece in sorted(self._placed[first:last], key=_TURN)]


class Seen:
    """The characters of documents that a reader has read.

    Args:
        shown: The shown text: passages, or `[document, part, start, end]` for each
            span, the document by its name or its key. If the text is known, a chunk
            counts as read only if its own text agrees.

    Raises:
        InvalidOptionError: An entry is neither a passage nor such a list.
    """

    def __init__(self, shown: SeenLike = ()) -> None:
        self._pieces: dict[str, dict[_Source, _ShownPieces]] = {}
        self._before: Seen | None = None
        self.add(shown)

    def add(self, shown: SeenLike) -> None:
        """Add shown text.

        Args:
            shown: See the class.

        Raises:
            InvalidOptionError: See the class.
        """
        single = isinstance(shown, (str, Passage, Mapping))
        if single or not isinstance(shown, Iterable):
            raise _refuse_entry("seen=", shown)
        for number, entry in enumerate(shown):
            if isinstance(entry, Passage):
                of = entry.chunks[0]
                self._add_text(entry.text, entry.spans, of, entry.number)
            else:
                self._add_entry(entry, number)

    def partition(self, chunks: Iterable[Chunk]) -> tuple[list[Chunk], list[Chunk]]:
        """Divide chunks into text to be read and text that was read.

        Args:
            chunks: Best first.

        Returns:
            Two lists, in the same order. The first has the text to be read: an unread
            chunk that overlaps no better one is unchanged, and of others there are
            slices, so that each character is there once. Slices of only white space
            are left out. The second has the text that was read: slices, or whole
            chunks without a place unless the places of both texts are known.
        """
        shown = Seen()
        shown._before = self
        unread: list[Chunk] = []
        read: list[Chunk] = []
        for chunk in chunks:
            unread += shown._unread(chunk)
            read += self._cut_read(chunk)
            shown._add_text(chunk.text, _list_spans(chunk), chunk)
        return unread, read

    def numbers_of(self, read: Iterable[Chunk]) -> list[int]:
        """Return the numbers of the passages in which these chunks were read.

        Args:
            read: The text that was read, from `partition`.

        Returns:
            Each number once, those of the first chunks first.
        """
        numbers: dict[int, None] = {}
        for chunk in read:
            for part, pieces in self._find_shown(chunk):
                if chunk.span is None:
                    candidates = [*pieces.numbers]
                elif part == chunk.part:
                    candidates = pieces.near(chunk.span)
                else:
                    continue
                for piece in candidates:
                    number = pieces.numbers[piece]
                    if number is not None and _shows(piece, chunk):
                        numbers[number] = None
        return list(numbers)

    def _unread(self, chunk: Chunk) -> Iterator[Chunk]:
        if self._has_shown(chunk):
            return
        places = locate_spans(chunk.text, _list_spans(chunk)) or []
        known = [self._find_read(chunk, *place) for place in places]
        if not any(known):
            yield chunk
            return
        for (span, offset), read in zip(places, known, strict=True):
            for start, end in _outside(span, read):
                text = chunk.text[start - offset : end - offset]
                if not text.isspace():
                    yield slice_of(chunk, start, end, text)

    def _cut_read(self, chunk: Chunk) -> Iterator[Chunk]:
        if self._has_shown(chunk):
            yield chunk._replace(position=None, span=None)
            return
        for span, offset in locate_spans(chunk.text, _list_spans(chunk)) or ():
            for start, end in self._find_read(chunk, span, offset):
                text = chunk.text[start - offset : end - offset]
                yield slice_of(chunk, start, end, text)

    def _has_shown(self, chunk: Chunk) -> bool:
        """Return whether a shown text has all of this one, unless both have a place.

        Such a chunk is never cut: that would be a guess.
        """
        text = chunk.text
        placed = locate_spans(text, _list_spans(chunk)) is not None
        for part, pieces in self._find_shown(chunk):
            if part != chunk.part and None not in {part, chunk.part}:
                continue
            for _, shown in pieces.unplaced if placed else pieces.numbers:
                if text == shown or (len(text) >= _NO_CHANCE and text in shown):
                    return True
        return False

    def _add_text(
        self, text: str, spans: Sequence[Span], chunk: Chunk, number: int | None = None
    ) -> None:
        document, source = _identify_source(chunk)
        places = locate_spans(text, spans)
        if places is None:
            self._add_piece(document, source, (None, text), number)
        for (start, end), offset in places or ():
            shown = text[start - offset : end - offset]
            self._add_piece(document, source, (Span(start, end), shown), number)

    def _add_entry(self, entry: Any, number: int) -> None:
        values = [*entry] if isinstance(entry, (list, tuple)) else []
        match values:
            case [str(document), int() | None as part, int(start), int(end)] if (
                0 <= start <= end
            ):
                self._add_piece(document, (part, ""), (Span(start, end), ""))
            case _:
                raise _refuse_entry(f"seen[{number}]", entry)

    def _add_piece(
        self, document: str, source: _Source, piece: _Piece, number: int | None = None
    ) -> None:
        span, text = piece
        is_empty = not text if span is None else span.start >= span.end
        if not is_empty:
            of = self._pieces.setdefault(document, {}).setdefault(
                source, _ShownPieces()
            )
            of.add(piece, number)

    def _find_shown(self, chunk: Chunk) -> Iterator[tuple[int | None, _ShownPieces]]:
        """Yield the shown pieces of its document; an unknown version matches any."""
        version = _version_of(chunk)
        names = [chunk.document_key, chunk.document_name]
        if chunk.shared_name is None:
            names += [chunk.text_id, document_name(chunk.metadata)]
        if self._before is not None:
            yield from self._before._find_shown(chunk)  # noqa: SLF001 -- of this class
        for name in dict.fromkeys(name for name in names if name is not None):
            for (part, shown), pieces in self._pieces.get(name, {}).items():
                if shown == version or "" in {shown, version}:
                    yield part, pieces

    def _find_read(self, chunk: Chunk, span: Span, offset: int) -> list[Span]:
        """Return the read parts of a span, ascending, none touching another."""
        known = []
        for part, pieces in self._find_shown(chunk):
            if part != chunk.part:
                continue
            for piece in pieces.near(span):
                shared = _overlap(chunk, span, offset, piece)
                if shared:
                    known.append(shared)
        return [Span(*each) for each in merge_ranges(known)]


def _overlap(chunk: Chunk, span: Span, offset: int, piece: _Piece) -> Span | None:
    """Return the part of a chunk's span that a piece shows."""
    shown, text = piece
    if shown is None:
        return None
    start, end = max(shown.start, span.start), min(shown.end, span.end)
    of_piece = text[start - shown.start : end - shown.start]
    if start >= end or (text and of_piece != chunk.text[start - offset : end - offset]):
        return None
    return Span(start, end)


def _shows(piece: _Piece, chunk: Chunk) -> bool:
    """Return whether a piece shows some of a chunk that was read."""
    if chunk.span is None:
        return chunk.text in piece[1]
    return _overlap(chunk, chunk.span, chunk.span.start, piece) is not None


def _refuse_entry(where: str, found: Any) -> InvalidOptionError:
    message = (
        f"{where} is {describe_type(found)}. It takes a list of passages, or of "
        "[document, part, start, end] for each span, part None for a document of "
        "one text."
    )
    return InvalidOptionError(message, option="seen", value=found)


def _identify_source(chunk: Chunk) -> tuple[str, _Source]:
    """Return a chunk's document, by its name, and its source.

    Of several stores that have the document, not all have a key.
    """
    document = chunk.text_id if chunk.shared_name is None else chunk.document_key
    return document, (chunk.part, _version_of(chunk))


def _version_of(chunk: Chunk) -> str:
    return version_text(chunk.metadata.get(DOC_VERSION))


def _list_spans(chunk: Chunk) -> Sequence[Span]:
    return () if chunk.span is None else read_spans(chunk.metadata, chunk.span)


def _outside(span: Span, known: Sequence[Span]) -> Iterator[Span]:
    """Yield the parts of a span that are not known."""
    at = span.start
    for start, end in known:
        if start > at:
            yield Span(at, start)
        at = end
    if at < span.end:
        yield Span(at, span.end)
