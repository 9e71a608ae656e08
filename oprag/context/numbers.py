"""The numbers of the passages of a conversation: none is given to two passages.

A passage that is shown again has the number that it had. What is kept is the place of
each, as plain JSON, and no text: messages that were summarised or removed take no
number along. Texts are read again from what still holds them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, TypeAlias

from oprag.chunk import Chunk, Passage, Span, named_characters
from oprag.context.passages import joint, slices
from oprag.context.text import header
from oprag.metadata import result_hash

_Identity: TypeAlias = tuple[str, int | None, tuple[Span, ...], str]

_DIGITS = 4
"""Of the hash of a slice: its place and length are known, too."""
_HEAD = re.compile(r"\[(\d+)\] ")
"""Not only where a line begins: agents write before what a tool answered."""


class _Entry(NamedTuple):
    key: str
    name: str
    part: int | None
    spans: tuple[Span, ...]
    hash: str
    length: int
    citation: str | None = None
    """None where it follows from the others."""

    @property
    def identity(self) -> _Identity:
        return self.key, self.part, self.spans, self.hash

    @property
    def exact(self) -> bool:
        lengths = [end - start for start, end in self.spans]
        return lengths == [self.length] != [0]

    def holds(self, text: str) -> bool:
        return len(text) == self.length and result_hash(text).startswith(self.hash)

    def passage(self, number: int, text: str, chunk: Chunk | None = None) -> Passage:
        spans, exact = self.spans, self.exact and bool(text)
        whole = Span(spans[0].start, spans[-1].end) if spans else None
        chunk = (chunk or Chunk("", self.key, number))._replace(
            text=text, span=whole, part=self.part, name=self.name
        )
        return Passage(text, self.key, (chunk,), spans, exact, self.citation, number)


class Numbers:
    """Passages and their numbers, from 1.

    Args:
        entries: What `as_json` returned.
    """

    def __init__(self, entries: Iterable[Any] = ()) -> None:
        self._entries: list[_Entry] = []
        documents: list[tuple[str, str]] = []
        at = 0
        for entry in entries:
            if isinstance(entry, int):
                at = entry
            elif isinstance(entry[0], str):
                at = len(documents)
                documents.append((entry[0], entry[1]))
            else:
                where, length, digest, part, citation = [*entry, None, None][:5]
                if isinstance(where, int):
                    where = [[where, where + length]]
                spans = tuple(Span(*span) for span in where)
                if isinstance(citation, list):
                    citation = _citation(documents[at][1], citation[0], spans)
                made = _Entry(*documents[at], part, spans, digest, length, citation)
                self._entries.append(made)
        self._known = {e.identity: n for n, e in enumerate(self._entries, start=1)}

    def __len__(self) -> int:
        """Numbers that were given."""
        return len(self._entries)

    def numbered(self, passages: Iterable[Passage]) -> list[Passage]:
        """Return passages with their numbers: those they had, or the next ones."""
        known, made = dict(self._known), []
        for passage in passages:
            identity = _entry_of(passage).identity
            number = known.setdefault(identity, len(known) + 1)
            made.append(replace(passage, number=number))
        return made

    def add(self, passages: Iterable[Passage]) -> None:
        """Keep the numbers that `numbered` gave."""
        for passage in passages:
            entry = _entry_of(passage)
            if entry.identity not in self._known:
                self._entries.append(entry)
                self._known[entry.identity] = len(self._entries)

    def as_json(self) -> list[Any]:
        """Return the places of all numbers, in their order, with each document once.

        `[key, name]` of a document, or its place among these where it comes again,
        and after it its passages: `[start, length, hash]`, or all spans in the place
        of the start; the part, and the citation, where these are known: `["page 3"]`
        for what is between the name and the characters.
        """
        documents: dict[tuple[str, str], int] = {}
        written: list[Any] = []
        last = None
        for entry in self._entries:
            document = entry.key, entry.name
            if document != last:
                written.append(documents.get(document, [*document]))
                documents.setdefault(document, len(documents))
            where: Any = [[*span] for span in entry.spans]
            if entry.exact:
                where = where[0][0]
            further = [entry.part, _between(entry)]
            while further and further[-1] is None:
                further.pop()
            written.append([where, entry.length, entry.hash, *further])
            last = document
        return written

    def shown_in(self, conversation: str) -> dict[int, Passage]:
        """Return the passages that a conversation shows, by their numbers.

        Args:
            conversation: Its messages, as a model reads them.
        """
        shown = {}
        for found in _HEAD.finditer(conversation):
            number = int(found[1])
            if not 0 < number <= len(self):
                continue
            entry = self._entries[number - 1]
            passage = entry.passage(number, "")
            start = found.start() + len(header(number, passage))
            text = conversation[start : start + entry.length]
            if entry.holds(text):
                shown[number] = entry.passage(number, text)
        return shown

    def cited(self, read: Iterable[Passage]) -> dict[int, Passage]:
        """Return the passage of each number.

        Args:
            read: What holds the texts: passages of searches, or full texts.

        Returns:
            With its text, and what else is known of it, where `read` holds it; else its
            place and an empty text.
        """
        texts: dict[str, Passage] = {}
        pieces: dict[tuple[str, int | None], list[tuple[Span, int, Passage]]] = {}
        for passage in read:
            texts.setdefault(result_hash(passage.text), passage)
            of = pieces.setdefault((passage.document, passage.part), [])
            for span, offset in slices(passage.text, passage.spans) or ():
                of.append((span, offset, passage))
        cited = {}
        for number, entry in enumerate(self._entries, start=1):
            of = pieces.get((entry.key, entry.part), [])
            text, first = _joined(entry.spans, of)
            if not entry.holds(text):
                first = texts.get(entry.hash)
                text = "" if first is None else first.text
            chunk = None if first is None else first.chunks[0]
            passage = entry.passage(number, text, chunk)
            if first and len(first.spans) == 1 and not first.exact:
                passage = replace(passage, exact=False)
            cited[number] = passage
        return cited


def _entry_of(passage: Passage) -> _Entry:
    text, spans = passage.text, tuple(passage.spans)
    at = passage.document, passage.name, passage.part, spans
    entry = _Entry(*at, result_hash(text), len(text))
    if entry.exact:
        entry = entry._replace(hash=entry.hash[:_DIGITS])
    known = entry.passage(1, "").citation == passage.citation
    return entry if known else entry._replace(citation=passage.citation)


def _citation(name: str, part: str, spans: Sequence[Span]) -> str:
    return f"{name}, {part}, {named_characters(spans)}"


def _between(entry: _Entry) -> str | list[str] | None:
    """The citation, or what it has between its name and the characters."""
    if entry.citation and entry.spans:
        around = len(_citation(entry.name, "", entry.spans)) - len(entry.name) - 2
        part = entry.citation[len(entry.name) + 2 : -around]
        if _citation(entry.name, part, entry.spans) == entry.citation:
            return [part]
    return entry.citation


def _joined(
    spans: Sequence[Span], pieces: Iterable[tuple[Span, int, Passage]]
) -> tuple[str, Passage | None]:
    """The text of spans, put together from pieces; as much as these hold of it."""
    text, first = "", None
    for number, (start, end) in enumerate(spans):
        text += joint(spans[:number], start)
        at = start
        while at < end:
            over = [piece for piece in pieces if piece[0].start <= at < piece[0].end]
            if not over:
                return text, first
            (_, last), offset, passage = max(over, key=lambda piece: piece[0].end)
            first = first or passage
            text += passage.text[at - offset : min(end, last) - offset]
            at = last
    return text, first
