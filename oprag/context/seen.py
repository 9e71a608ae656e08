"""What a reader has read already: cut out of new chunks, so that nothing is sent twice.

An agent searches several times, and its searches overlap. What was sent once stands
in its conversation. With exact places the rest is arithmetic: a chunk without the
characters that were read is its slices between them.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from oprag.chunk import Chunk, Passage, Span
from oprag.context.merging import JOINT
from oprag.context.pieces import slice_of
from oprag.context.results import spans_of
from oprag.errors import InvalidOptionError, named
from oprag.metadata import DOC_VERSION, short_hash, version_text

SeenLike: TypeAlias = Iterable[Passage | Sequence[Any]]
"""Passages, or entries of `Seen.as_json`."""

_Source: TypeAlias = tuple[str, int | None, str]
"""A text that spans are relative to: document, part, version; "" for any version."""

_HASH_DIGITS = 16


class Seen:
    """The characters of documents that a reader has read.

    Args:
        shown: What was shown: passages, or `[document, part, start, end]` for each
            span, the document by its name or its key; and behind that the version of
            the text where it is known.

    Raises:
        InvalidOptionError: An entry is neither a passage nor such a list.
    """

    def __init__(self, shown: SeenLike = ()) -> None:
        self._spans: dict[_Source, list[Span]] = {}
        self._texts: dict[tuple[str, str], None] = {}
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
            `[document, part, start, end, version]` for each span, ascending, none
            touching another; `[document, hash]` for a text of which no place is known.
        """
        spans = [
            [document, part, start, end, *([version] if version else [])]
            for (document, part, version), found in self._spans.items()
            for start, end in found
        ]
        spans.sort(key=lambda e: (e[0], e[1] is not None, e[1] or 0, e[4:], e[2]))
        return [*spans, *map(list, sorted(self._texts))]

    def divided(self, chunks: Iterable[Chunk]) -> tuple[list[Chunk], list[Chunk]]:
        """Divide chunks into what is to be read and what was read.

        Args:
            chunks: Best first.

        Returns:
            Two lists, in the same order. What is to be read: a chunk of which nothing
            was read and that overlaps no better one, as it is; of others the slices,
            so that each character is there once. Slices of nothing but white space
            are left out. And what was read: slices, or chunks of which no exact
            characters are known and whose text was read.
        """
        shown = Seen(self.as_json())
        unread: list[Chunk] = []
        read: list[Chunk] = []
        for chunk in chunks:
            unread += shown._unread(chunk)
            read += self._read(chunk)
            spans = () if chunk.span is None else spans_of(chunk.span, chunk.metadata)
            shown._add_text(chunk.text, spans, chunk)
        return unread, read

    def _unread(self, chunk: Chunk) -> Iterator[Chunk]:
        if self._has_text(chunk):
            return
        places = _places(chunk)
        if places is None:
            yield chunk
            return
        known = self._known(chunk)
        if not any(list(_inside(span, known)) for span, _ in places):
            yield chunk
            return
        for span, offset in places:
            for start, end in _outside(span, known):
                text = chunk.text[start - offset : end - offset]
                if not text.isspace():
                    yield slice_of(chunk, text, start, end)

    def _read(self, chunk: Chunk) -> Iterator[Chunk]:
        if self._has_text(chunk):
            yield chunk
            return
        known = self._known(chunk)
        for span, offset in _places(chunk) or ():
            for start, end in _inside(span, known):
                yield slice_of(
                    chunk, chunk.text[start - offset : end - offset], start, end
                )

    def _has_text(self, chunk: Chunk) -> bool:
        # Whether or not it has a place here: it may have had none there.
        known = self._texts
        return bool(known) and (chunk.document, _hash_of(chunk.text)) in known

    def _add_text(self, text: str, spans: Sequence[Span], chunk: Chunk) -> None:
        places = _slices(text, spans)
        if places is None:
            self._texts[chunk.document, _hash_of(text)] = None
        for span, _ in places or ():
            self._add_span(_source_of(chunk), span)

    def _add_entry(self, entry: Any, number: int) -> None:
        match list(entry) if isinstance(entry, (list, tuple)) else entry:
            case [str(document), str(text)]:
                self._texts[document, text] = None
            case [
                str(document),
                int() | None as part,
                int(start),
                int(end),
                *version,
            ] if 0 <= start <= end and (not version or [*map(type, version)] == [str]):
                of = version[0] if version else ""
                self._add_span((document, part, of), Span(start, end))
            case _:
                raise _refused(entry, number)

    def _add_span(self, source: _Source, span: Span) -> None:
        start, end = span
        if start == end:
            return
        spans = self._spans.setdefault(source, [])
        first = bisect_left(spans, start, key=lambda known: known.end)
        last = bisect_right(spans, end, key=lambda known: known.start)
        if first < last:
            start = min(start, spans[first].start)
            end = max(end, spans[last - 1].end)
        spans[first:last] = [Span(start, end)]

    def _known(self, chunk: Chunk) -> list[Span]:
        """What was read of a text; of an unknown version it may be of any."""
        _, part, version = _source_of(chunk)
        found = [
            spans
            for known, spans in self._spans.items()
            if known[0] in {chunk.document, chunk.name}
            and known[1] == part
            and (known[2] == version or "" in {known[2], version})
        ]
        if len(found) == 1:
            return found[0]
        joined = Seen([["", part, *span] for spans in found for span in spans])
        return joined._spans.get(("", part, ""), [])


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
    version = version_text(chunk.metadata.get(DOC_VERSION))
    return chunk.document, chunk.part, version


def _hash_of(text: str) -> str:
    return short_hash(text, _HASH_DIGITS)


def _places(chunk: Chunk) -> list[tuple[Span, int]] | None:
    if chunk.span is None:
        return None
    return _slices(chunk.text, spans_of(chunk.span, chunk.metadata))


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


def _inside(span: Span, known: Sequence[Span]) -> Iterator[Span]:
    """The parts of a span that are known; `known` ascends and does not touch."""
    first = bisect_right(known, span.start, key=lambda each: each.end)
    for start, end in known[first:]:
        if start >= span.end:
            break
        yield Span(max(start, span.start), min(end, span.end))


def _outside(span: Span, known: Sequence[Span]) -> Iterator[Span]:
    """The parts of a span that are not known."""
    at = span.start
    for start, end in _inside(span, known):
        if start > at:
            yield Span(at, start)
        at = end
    if at < span.end:
        yield Span(at, span.end)
