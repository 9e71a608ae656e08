"""What a reader has read already: cut out of new chunks, so that nothing is sent twice.

An agent searches several times, and its searches overlap. What was sent once stands
in its conversation. With exact places the rest is arithmetic: a chunk without the
characters that were read is its slices between them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, TypeAlias

from oprag.chunk import Chunk, Passage, Span
from oprag.context.merging import JOINT
from oprag.context.pieces import slice_of
from oprag.context.results import spans_of
from oprag.errors import InvalidOptionError, named
from oprag.metadata import DOC_VERSION, short_hash, version_text

SeenLike: TypeAlias = Iterable[Passage | Sequence[Any]]
"""Passages, or entries of `Seen.as_json`: `[document, part, start, end]`, and behind
that the version of the text where it is known."""

_Source: TypeAlias = tuple[str, int | None, str]
"""A text that spans are relative to: document, part, version; "" for any version."""

_HASH_DIGITS = 16


class Seen:
    """The characters of documents that a reader has read.

    Args:
        shown: What was shown, see `SeenLike`.

    Raises:
        InvalidOptionError: An entry is neither a passage nor such a list.
    """

    def __init__(self, shown: SeenLike = ()) -> None:
        self._spans: dict[_Source, list[Span]] = {}
        self._texts: dict[tuple[str, str], None] = {}
        self.add(shown)

    def __bool__(self) -> bool:
        """Whether anything was read."""
        return bool(self._spans or self._texts)

    def add(self, shown: SeenLike) -> None:
        """Add what was shown.

        Args:
            shown: See the class.

        Raises:
            InvalidOptionError: See the class.
        """
        for entry in shown:
            if not isinstance(entry, Passage):
                self._add_entry(entry)
                continue
            source = _source_of(entry.chunks[0])
            places = _slices(entry.text, entry.spans)
            if places is None:
                self._texts[source[0], _hash_of(entry.text)] = None
            for span, _ in places or ():
                self._add_span(source, span)

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
        spans.sort(key=lambda e: (e[0], e[1] is not None, e[1], e[4:], e[2]))
        return [*spans, *map(list, sorted(self._texts))]

    def read_of(self, chunk: Chunk) -> list[Span]:
        """Return the spans of a chunk that were read; ascending, apart."""
        read = self._read_in(_source_of(chunk))
        return [
            Span(max(start, span.start), min(end, span.end))
            for span, _ in self._places(chunk) or ()
            for start, end in read
            if start < span.end and end > span.start
        ]

    def without(self, chunks: Iterable[Chunk]) -> list[Chunk]:
        """Return chunks without the characters that were read.

        Args:
            chunks: In any order.

        Returns:
            In the same order; a chunk of which nothing was read as it is, of others
            the slices that were not. Slices of nothing but white space are left out,
            as is a chunk without exact characters whose text was read before.
        """
        return [kept for chunk in chunks for kept in self._unread(chunk)]

    def _unread(self, chunk: Chunk) -> Iterator[Chunk]:
        places = self._places(chunk)
        if places is None:
            if (chunk.document, _hash_of(chunk.text)) not in self._texts:
                yield chunk
            return
        if not self.read_of(chunk):
            yield chunk
            return
        read = self._read_in(_source_of(chunk))
        for span, offset in places:
            for start, end in _between(span, read):
                first = offset + start - span.start
                text = chunk.text[first : first + end - start]
                if not text.isspace():
                    yield slice_of(chunk, text, start, end)

    @staticmethod
    def _places(chunk: Chunk) -> list[tuple[Span, int]] | None:
        if chunk.span is None:
            return None
        return _slices(chunk.text, spans_of(chunk.span, chunk.metadata))

    def _add_entry(self, entry: Any) -> None:
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
                source = document, part, *(version or [""])
                self._add_span((source[0], source[1], source[2]), Span(start, end))
            case _:
                message = (
                    f"seen= has {named(entry)}. It takes passages, or "
                    "[document, part, start, end] for each span, part None for a "
                    "document of one text."
                )
                raise InvalidOptionError(message, option="seen", value=entry)

    def _add_span(self, source: _Source, span: Span) -> None:
        if span.start < span.end:
            self._spans[source] = _joined([*self._spans.get(source, ()), span])

    def _read_in(self, source: _Source) -> list[Span]:
        """What was read of a text; of an unknown version it may be of any."""
        document, part, version = source
        return _joined(
            span
            for known, spans in self._spans.items()
            if known[:2] == (document, part)
            and (known[2] == version or "" in {known[2], version})
            for span in spans
        )


def _source_of(chunk: Chunk) -> _Source:
    version = version_text(chunk.metadata.get(DOC_VERSION))
    return chunk.document, chunk.part, version


def _hash_of(text: str) -> str:
    return short_hash(text, _HASH_DIGITS)


def _slices(text: str, spans: Sequence[Span]) -> list[tuple[Span, int]] | None:
    """Each span and where it begins in the text; None where they are not its slices."""
    places, offset = [], 0
    for span in spans:
        places.append((span, offset))
        offset += span.end - span.start + len(JOINT)
    return places if spans and offset - len(JOINT) == len(text) else None


def _joined(spans: Iterable[Span]) -> list[Span]:
    """The same characters as spans that ascend and do not touch."""
    joined: list[Span] = []
    for span in sorted(spans):
        if joined and span.start <= joined[-1].end:
            joined[-1] = Span(joined[-1].start, max(span.end, joined[-1].end))
        else:
            joined.append(span)
    return joined


def _between(span: Span, read: Sequence[Span]) -> Iterator[Span]:
    """The parts of a span that are in none of those that were read."""
    at = span.start
    for start, end in read:
        if start >= span.end:
            break
        if start > at:
            yield Span(at, start)
        at = max(at, end)
    if at < span.end:
        yield Span(at, span.end)
