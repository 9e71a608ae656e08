"""Number the passages of a conversation: no number is given to two passages.

A passage that is shown again has the number that it had. Only the place of each is
kept, packed as JSON, and no text: messages that were summarised or removed take no
number along. Texts are read again from the passages or documents that still hold them.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import count
from threading import RLock
from typing import Any

from oprag.chunk import Chunk, Passage, Span
from oprag.context.number_places import (
    Identity,
    NumberPlace,
    pack_places,
    unpack_places,
)
from oprag.context.passages import fill_gap, locate_spans
from oprag.context.text import header
from oprag.errors import InvalidOptionError
from oprag.marks import length_written, unescape_marks
from oprag.metadata import NUMBERS, text_hash

_HEAD = re.compile(r"\[(\d{1,9})\] ")
"""Not only at the beginning of a line: agents write before a tool's answer."""
_BRACKET = re.compile(r"\[\s*\d")
_SHOWN = re.compile(r"(?:^|\AObservation: )\[(\d{1,9})\] (.*)\n", re.MULTILINE)
_NEXT = re.compile(r"\n\n(?=\[\d{1,9}\] .*\n|\[…\]\n\n|\[see above)|\n\n\Z")
"""The text after a passage: the next one, a gap, or a line for those shown before."""
_SPAN = re.compile(r"(?:, page [^,]+)?, characters (\d+)-(\d+)$")


_NOTHING = NumberPlace("", "", None, (), "", -1, "")
"""The place of a number that was given, and of which nothing else is known."""
_IN_A_GRAPH = (
    "parts of a graph each began with numbers of their own. Give the state of the "
    "graph around them EvidenceState, and each part the oprag_numbers of that state."
)
_FAR = 100
"""How far above the last number a mention still counts as one of the conversation's."""
_FEW = 64
"""Packs of so many places or fewer are packed again with new ones: much repeats."""
_MOST_SHARED = 256
"""The most lists whose numbers are kept after reading."""
_shared: OrderedDict[int, tuple[Any, CitationNumbers]] = OrderedDict()
_shared_lock = RLock()


class CitationNumbers:
    """Passages and their numbers, from 1.

    Args:
        entries: The result of `as_json`.
    """

    def __init__(self, entries: Iterable[Any] = ()) -> None:
        self.lock = RLock()
        """To be held while passages are numbered and then added."""
        self._packed = [(text, unpack_places(text)) for text in entries]
        self._entries = [place for _, places in self._packed for place in places]
        self._known: dict[Identity, int] = {}
        self._left_out: set[int] = set()
        self._taken: set[tuple[int, int, str]] = set()
        self._carried: dict[int, Mapping[str, Any]] = {}
        """The mappings that `take` added, by id: it gets each one again and again."""
        for number, entry in enumerate(self._entries, start=1):
            self._know(number, entry)

    def _know(self, number: int, entry: NumberPlace) -> None:
        if entry != _NOTHING:
            self._known.setdefault(entry.identity, number)

    @classmethod
    def share(cls, entries: Any) -> CitationNumbers:
        """Return the numbers of a state: the same object for the same list.

        Branches that run at the same time read one list. Each goes on with the numbers
        that the others added, so that none is given twice.

        Args:
            entries: The result of `as_json` that the state holds.
        """
        if not isinstance(entries, list):
            return cls(entries or ())
        with _shared_lock:
            held, numbers = _shared.pop(id(entries), (None, None))
            if numbers is None or held is not entries:
                numbers = cls(entries)
            numbers._share(entries)
        return numbers

    def _share(self, entries: Any) -> None:
        """Let all readers of this list go on with these numbers."""
        with _shared_lock:
            _shared[id(entries)] = entries, self  # it stays, so that its id does
            while len(_shared) > _MOST_SHARED:
                _shared.popitem(last=False)

    def __len__(self) -> int:
        """Return how many numbers were given."""
        return len(self._entries)

    def assign(self, passages: Iterable[Passage]) -> list[Passage]:
        """Return passages with their numbers: those they had, or the next ones."""
        new: dict[Identity, int] = {}
        made = []
        free = (n for n in count(len(self) + 1) if n not in self._left_out)
        for passage in passages:
            identity = NumberPlace.of(passage).identity
            number = self._known.get(identity) or new.get(identity)
            if number is None:
                number = new[identity] = next(free)
            made.append(passage._replace(number=number))
        return made

    def add(self, passages: Iterable[Passage]) -> None:
        """Keep the numbers that `assign` gave."""
        for passage in passages:
            entry = NumberPlace.of(passage)
            if entry.identity not in self._known:
                self.pass_over((passage.number or 0) - 1)
                self._entries.append(entry)
                self._known[entry.identity] = len(self)

    def pass_over(self, highest: int) -> None:
        """Give no number up to the highest that something else may mean.

        Args:
            highest: For example, the highest number mentioned in an answer of which
                nothing else is known.
        """
        self._entries += [_NOTHING] * (highest - len(self))

    def leave_out(self, mentioned: Iterable[int]) -> None:
        """Give no number that a text mentions, even if its passage is gone.

        Lower ones are not given either. A number that is more than a hundred above the
        last is taken for something else, such as a year: it alone is left out.

        Args:
            mentioned: Ascending.
        """
        for number in mentioned:
            if number <= len(self) + _FAR:
                self.pass_over(number)
            else:
                self._left_out.add(number)

    def carry(self, first: int, last: int) -> dict[str, Any]:
        """Return numbers for a message to carry, for readers of that message alone.

        Args:
            first: The first number that no earlier message carries.
            last: The last number that was given when the message was written.
        """
        places = self._entries[first - 1 : last]
        return {
            "first": first,
            "last": last,
            "places": pack_places(places) if places else "",
        }

    def take(self, carried: Mapping[str, Any]) -> None:
        """Add the numbers that a message carries.

        Args:
            carried: The result of `carry`.

        Raises:
            InvalidOptionError: A number means another passage here.
        """
        if self._carried.get(id(carried)) is carried:
            return
        self._carried[id(carried)] = carried
        first, last, places = carried["first"], carried["last"], carried["places"]
        if (first, last, places) not in self._taken:
            self._enter_places(first, unpack_places(places) if places else [])
            self.pass_over(last)
            self._taken.add((first, last, places))

    def take_all(self, other: CitationNumbers, way_out: str | None = None) -> None:
        """Add all numbers of another object.

        Args:
            other: The other object; not changed.
            way_out: The reason and the remedy that an error names.

        Raises:
            InvalidOptionError: A number means another passage here.
        """
        if other is not self:
            self._enter_places(1, other._entries, way_out)

    def _enter_places(
        self, first: int, places: Sequence[NumberPlace], way_out: str | None = None
    ) -> None:
        for number, entry in enumerate(places, start=first):
            self.pass_over(number)
            known = self._entries[number - 1]
            if entry == _NOTHING:
                continue
            if known == _NOTHING:
                self._entries[number - 1] = entry
                self._know(number, entry)
                self._packed = []  # the packed places lack it
            elif entry.identity != known.identity:
                message = (
                    f"[{number}] means two passages, {known.citation} and "
                    f"{entry.citation}: {way_out or _IN_A_GRAPH}"
                )
                raise InvalidOptionError(message, option=NUMBERS, value=entry)

    def as_json(self) -> list[Any]:
        """Return the places of all numbers, in their order.

        Each text holds more places than the next, so that few are packed again each
        time.
        """
        done = sum(len(places) for _, places in self._packed)
        new = self._entries[done:]
        if new:
            while self._packed and len(self._packed[-1][1]) <= max(len(new), _FEW):
                new = self._packed.pop()[1] + new
            self._packed.append((pack_places(new), new))
        entries = [text for text, _ in self._packed]
        self._share(entries)
        return entries

    @classmethod
    def join(cls, one: list[Any], other: list[Any]) -> list[Any]:
        """Return the numbers of two branches of a graph: a reducer of its state.

        Args:
            one: The result of `as_json` in one of them, or nothing.
            other: The same in the other.

        Raises:
            InvalidOptionError: A number means one passage in one branch, and another
                in the other.
        """
        if not one or one is other:
            return other  # also if it is empty: branches know each other by it
        if not other:
            return one
        numbers, others = cls.share(one), cls.share(other)
        if numbers is others:  # the one that was written later has all of the other
            written = [len(unpack_places(text)) for text in one]
            later = [len(unpack_places(text)) for text in other]
            return one if sum(written) > sum(later) else other
        if len(numbers) > len(others):
            longer, shorter = one, others
        else:
            longer, shorter = other, numbers
        both = cls(longer)
        both.take_all(shorter)
        return both.as_json()

    @staticmethod
    def may_be_in(text: str) -> bool:
        """Return whether a text may show or mention passages: most texts do not."""
        return _BRACKET.search(text) is not None

    def find_in(self, conversation: str) -> dict[int, Passage]:
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
            if entry == _NOTHING:
                continue
            passage = entry.passage(number, "")
            start = found.start() + len(header(number, passage))
            end = start + length_written(conversation, start, entry.length)
            text = unescape_marks(conversation[start:end])
            if entry.is_of_text(text):
                shown[number] = entry.passage(number, text)
        return shown

    @staticmethod
    def read_from(message: str) -> Iterator[Passage]:
        """Read the passages that one message shows, by their own numbers.

        Args:
            message: A tool's answer, as a model reads it.

        Yields:
            Each passage with its text, and the place as written there. Its characters
            are not known, and nothing of it is exact.
        """
        at = 0
        while found := _SHOWN.search(message, at):
            number, citation, start = int(found[1]), found[2], found.end()
            after = _NEXT.search(message, start)
            end = after.start() if after else len(message)
            name = citation
            if (named := _SPAN.search(citation)) is not None:
                name = citation[: named.start()]
                # If the text ends with white space, its length tells how much.
                length = int(named[2]) - int(named[1])
                last = start + length_written(message, start, length)
                if last == len(message) or message.startswith("\n\n", last):
                    end = last
            text = unescape_marks(message[start:end])
            chunk = Chunk(text, name, number, document_name=name)
            yield Passage(text, name, (chunk,), (), citation, number)
            at = end

    def resolve(self, read: Iterable[Passage]) -> dict[int, Passage]:
        """Return the passage of each number.

        Args:
            read: Passages of searches, or full texts, which may hold the texts.

        Returns:
            The passages by number. One that `read` holds has its text and all else that
            is known of it; any other has its place and an empty text.
        """
        texts: dict[str, Passage] = {}
        pieces: dict[tuple[str, int | None], list[tuple[Span, int, Passage]]] = {}
        for passage in read:
            texts.setdefault(text_hash(passage.text), passage)
            of = pieces.setdefault((passage.document_key, passage.part), [])
            for span, offset in locate_spans(passage.text, passage.spans) or ():
                of.append((span, offset, passage))
        cited = {}
        for number, entry in enumerate(self._entries, start=1):
            if entry == _NOTHING:
                continue
            of = pieces.get((entry.key, entry.part), [])
            text, first = _join_text(entry.spans, of)
            if not entry.is_of_text(text):
                first = texts.get(entry.hash)
                text = "" if first is None else first.text
            chunk = None if first is None else first.chunks[0]
            cited[number] = entry.passage(number, text, chunk)
        return cited


def _join_text(
    spans: Sequence[Span], pieces: Iterable[tuple[Span, int, Passage]]
) -> tuple[str, Passage | None]:
    """Put the text of spans together from pieces, as far as these hold it."""
    text, first = "", None
    for number, (start, end) in enumerate(spans):
        text += fill_gap(spans[:number], start)
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
