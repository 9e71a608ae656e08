"""What a reader has read already: cut out of new chunks, so that nothing is sent twice.

An agent searches several times, and its searches overlap. What was sent once stands
in its conversation. With exact places the rest is arithmetic: a chunk without the
characters that were read is its slices between them. The text is compared as well:
another text may go by the same name and the same numbers.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from oprag.chunk import Chunk, Passage, Span
from oprag.context.merging import JOINT
from oprag.context.pieces import slice_of
from oprag.errors import InvalidOptionError, named
from oprag.metadata import DOC_VERSION, version_text
from oprag.positions import read_spans

SeenLike: TypeAlias = Iterable[Passage | Sequence[Any]]
"""Passages, or entries of `Seen.as_json`."""

_Source: TypeAlias = tuple[str, int | None, str]
"""A text that spans are relative to: document, part, version; "" for any version."""

_Piece: TypeAlias = tuple[Span | None, str]
"""Characters that were shown, and their text, "" where it is not known; or a text
of which no place is known."""

_NO_CHANCE = 40
"""Characters that do not stand twice in one document by chance."""


class Seen:
    """The characters of documents that a reader has read.

    Args:
        shown: What was shown: passages, or `[document, part, start, end]` for each
            span, the document by its name or its key; and behind that the version,
            "" for any, and the text, where they are known. A chunk counts as read
            only where its text agrees. Of a text without a place `start` and `end`
            are None.

    Raises:
        InvalidOptionError: An entry is neither a passage nor such a list.
    """

    def __init__(self, shown: SeenLike = ()) -> None:
        self._pieces: dict[_Source, dict[_Piece, None]] = {}
        self.add(shown)

    def add(self, shown: SeenLike) -> None:
        """Add what was shown.

        Args:
            shown: See the class.

        Raises:
            InvalidOptionError: See the class.
        """
        single = isinstance(shown, (str, Passage, Mapping))
        if single or not isinstance(shown, Iterable):
            raise _refused(shown)
        for number, entry in enumerate(shown):
            if isinstance(entry, Passage):
                self._add_text(entry.text, entry.spans, entry.chunks[0])
            else:
                self._add_entry(entry, number)

    def as_json(self) -> list[list[Any]]:
        """Return all of it as plain lists, the same for the same content.

        Returns:
            `[document, part, start, end, version, text]` for each span, ascending;
            what was given without version or text comes without, none touching
            another. Of texts without a place, which come first, `start` and `end`
            are None.
        """
        listed: list[list[Any]] = []
        for (document, part, version), pieces in self._pieces.items():
            place, behind = (document, part), [version] if version else []
            united = _united(span for span, text in pieces if span and not text)
            listed += [[*place, *span, *behind] for span in united]
            listed += [
                [*place, *(span or (None, None)), version, text]
                for span, text in pieces
                if text
            ]
        listed.sort(
            key=lambda e: [
                e[0],
                *((each is not None, each or 0) for each in e[1:4]),
                *e[4:],
            ]
        )
        return listed

    def kept_in(self, conversation: str) -> Seen:
        """Return what a conversation still holds.

        Args:
            conversation: Its messages. A text that was shown stands at the beginning
                of a line in one of them; of which no text is known, it is kept.
        """
        kept = Seen()
        for source, pieces in self._pieces.items():
            for span, text in pieces:
                if not text or f"\n{text}" in conversation:
                    kept._add_piece(source, (span, text))
        return kept

    def divided(self, chunks: Iterable[Chunk]) -> tuple[list[Chunk], list[Chunk]]:
        """Divide chunks into what is to be read and what was read.

        Args:
            chunks: Best first.

        Returns:
            Two lists, in the same order. What is to be read: a chunk of which nothing
            was read and that overlaps no better one, as it is; of others the slices,
            so that each character is there once. Slices of nothing but white space
            are left out. And what was read: slices; or chunks whose text was read
            without a place, or that have none here, each where it stands.
        """
        shown = Seen()
        shown._pieces = {source: {**pieces} for source, pieces in self._pieces.items()}
        unread: list[Chunk] = []
        read: list[Chunk] = []
        for each in chunks:
            chunk = shown._placed(each)
            unread += shown._unread(chunk)
            read += self._read(chunk)
            spans = () if chunk.span is None else read_spans(chunk.span, chunk.metadata)
            shown._add_text(chunk.text, spans, chunk)
        return unread, read

    def _unread(self, chunk: Chunk) -> Iterator[Chunk]:
        if self._standing(chunk):
            return
        places = _places(chunk) or []
        known = [self._known(chunk, *place) for place in places]
        if not any(known):
            yield chunk
            return
        for (span, offset), read in zip(places, known, strict=True):
            for start, end in _outside(span, read):
                text = chunk.text[start - offset : end - offset]
                if not text.isspace():
                    yield slice_of(chunk, text, start, end)

    def _read(self, chunk: Chunk) -> Iterator[Chunk]:
        if standing := self._standing(chunk):
            yield standing
            return
        for span, offset in _places(chunk) or ():
            for start, end in self._known(chunk, span, offset):
                yield slice_of(
                    chunk, chunk.text[start - offset : end - offset], start, end
                )

    def _placed(self, chunk: Chunk) -> Chunk:
        """The chunk as the beginning of its text, if what was read of that proves it.

        A page or a document as a whole mostly tells no place.
        """
        if chunk.span is not None:
            return chunk
        known: list[Span] = []
        for part, pieces in self._of(chunk):
            for span, text in pieces if part == chunk.part else ():
                if span is None or span.start >= len(chunk.text):
                    continue
                if not text or not chunk.text.startswith(text, span.start):
                    return chunk
                known.append(span)
        if sum(end - start for start, end in _united(known)) < _NO_CHANCE:
            return chunk
        whole = Span(0, len(chunk.text))
        return chunk._replace(position=(chunk.part or 0, *whole), span=whole)

    def _standing(self, chunk: Chunk) -> Chunk | None:
        """The chunk where all its text stands, if its place is not known here or there.

        It cannot be cut: without both places that would be a guess.
        """
        placed = _places(chunk) is not None
        for part, pieces in self._of(chunk):
            if part != chunk.part and None not in {part, chunk.part}:
                continue
            there = chunk._replace(part=part if part == chunk.part else None)
            for span, text in pieces:
                if span is None and _holds(text, chunk):
                    return there._replace(position=None, span=None)
                if span is not None and not placed and _holds(text, chunk):
                    at = span.start + text.index(chunk.text)
                    return slice_of(there, chunk.text, at, at + len(chunk.text))
        return None

    def _add_text(self, text: str, spans: Sequence[Span], chunk: Chunk) -> None:
        places = _slices(text, spans)
        if places is None:
            self._add_piece(_source_of(chunk), (None, text))
        for (start, end), offset in places or ():
            shown = text[start - offset : end - offset]
            self._add_piece(_source_of(chunk), (Span(start, end), shown))

    def _add_entry(self, entry: Any, number: int) -> None:
        match list(entry) if isinstance(entry, (list, tuple)) else entry:
            case [str(document), int() | None as part, None, None, str(of), str(text)]:
                self._add_piece((document, part, of), (None, text))
            case [str(document), int() | None as part, int(start), int(end), *told] if (
                0 <= start <= end
                and [*map(type, told)] in ([], [str], [str, str])
                and len("".join(told[1:])) in {0, end - start}
            ):
                version, text = (*told, "", "")[:2]
                piece = Span(start, end), text
                self._add_piece((document, part, version), piece)
            case _:
                raise _refused(entry, number)

    def _add_piece(self, source: _Source, piece: _Piece) -> None:
        span, text = piece
        if text if span is None else span.start < span.end:
            self._pieces.setdefault(source, {})[piece] = None

    def _of(self, chunk: Chunk) -> Iterator[tuple[int | None, Iterable[_Piece]]]:
        """What was shown of its document; of an unknown version it may be of any."""
        _, _, version = _source_of(chunk)
        for (document, part, shown), pieces in self._pieces.items():
            if document in {chunk.document, chunk.name} and (
                shown == version or "" in {shown, version}
            ):
                yield part, pieces

    def _known(self, chunk: Chunk, span: Span, offset: int) -> list[Span]:
        """What was read of a span."""
        found = []
        for part, pieces in self._of(chunk):
            for shown, text in pieces if part == chunk.part else ():
                if shown is None:
                    continue
                start, end = max(shown.start, span.start), min(shown.end, span.end)
                if start < end and (
                    not text
                    or text[start - shown.start : end - shown.start]
                    == chunk.text[start - offset : end - offset]
                ):
                    found.append(Span(start, end))
        return _united(found)


def _holds(text: str, chunk: Chunk) -> bool:
    """Whether a text that was shown has all of a chunk, and not by chance."""
    sought = chunk.text
    if len(sought) >= len(text):
        return sought == text
    if len(sought) >= _NO_CHANCE and sought in text:
        return True
    # A page or a document that was shown begins where spans are counted from.
    return chunk.span is not None and text.startswith(sought, chunk.span.start)


def _refused(found: Any, number: int | None = None) -> InvalidOptionError:
    where, what = "seen=", named(found)
    if number is not None:
        where = f"seen[{number}]"
        if isinstance(found, (list, tuple)) and found:
            what += f" of {', '.join(type(each).__name__ for each in found)}"
    message = (
        f"{where} is {what}. It takes a list of passages, or of "
        "[document, part, start, end] for each span, part None for a document of "
        "one text."
    )
    return InvalidOptionError(message, option="seen", value=found)


def _source_of(chunk: Chunk) -> _Source:
    """By its name: of several stores that have the document not all have a key."""
    version = version_text(chunk.metadata.get(DOC_VERSION))
    return chunk.name or chunk.document, chunk.part, version


def _places(chunk: Chunk) -> list[tuple[Span, int]] | None:
    if chunk.span is None:
        return None
    return _slices(chunk.text, read_spans(chunk.span, chunk.metadata))


def _slices(text: str, spans: Sequence[Span]) -> list[tuple[Span, int]] | None:
    """Each span and what to subtract for its place in the text.

    None where the text is not made of slices that long.
    """
    places, length = [], -len(JOINT)
    for span in spans:
        length += len(JOINT)
        places.append((span, span.start - length))
        length += span.end - span.start
    return places if spans and length == len(text) else None


def _united(spans: Iterable[Span]) -> list[Span]:
    """The same characters, ascending, none touching another."""
    united: list[Span] = []
    for start, end in sorted(spans):
        if united and start <= united[-1].end:
            united[-1] = Span(united[-1].start, max(end, united[-1].end))
        else:
            united.append(Span(start, end))
    return united


def _outside(span: Span, known: Sequence[Span]) -> Iterator[Span]:
    """The parts of a span that are not known; `known` as `_united` returns it."""
    at = span.start
    for start, end in known:
        if start > at:
            yield Span(at, start)
        at = end
    if at < span.end:
        yield Span(at, span.end)
