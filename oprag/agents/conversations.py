"""Read conversations over and over, but each message once while it is the same.

An agent reads all of its conversation again after each search. The passages that a
message shows follow from it and from the messages before it. So they are kept, and only
new messages are read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from threading import Lock
from typing import Any, Generic, Protocol, TypeVar

from oprag.chunk import Passage
from oprag.context import CitationNumbers, Seen

_MOST_KEPT = 8_192
"""The most messages to keep of all conversations together; of the last one, all."""


class ReadMessage(Protocol):
    """A message that was read."""

    @property
    def shown(self) -> Sequence[Passage]:
        """The passages that it shows, with their numbers."""

    @property
    def mentioned(self) -> Sequence[int]:
        """The numbers that it mentions and does not show, ascending."""

    def is_of(self, message: Any) -> bool:
        """Return whether it was made of this message, and this is unchanged."""


_Read = TypeVar("_Read", bound=ReadMessage)
AreOf = Callable[[Sequence[_Read], Sequence[Any]], bool]
"""Says whether read messages are of as many others, each as `is_of` says."""
ReadOne = Callable[[Any, Seen, CitationNumbers], _Read]
"""Reads a message, adds the passages that it shows to those seen and numbered, and
passes over the numbers that it mentions."""


class Conversation(Generic[_Read]):
    """The messages read in one conversation, and their passages and numbers.

    Args:
        numbers: Those of its state; None to begin with 1.
        messages: Those that were read before.
    """

    def __init__(
        self, numbers: CitationNumbers | None, messages: Sequence[_Read] = ()
    ) -> None:
        self.of_state = numbers
        self.numbers = CitationNumbers() if numbers is None else numbers
        self.messages = list(messages)
        self.seen = Seen()
        for each in messages:
            self.numbers.leave_out(each.mentioned)
            self.seen.add(each.shown)
            self.numbers.add(each.shown)

    def begins_as(self, messages: Sequence[Any], are_of: AreOf[_Read] | None) -> int:
        """Return how many of the first messages were read in this conversation."""
        count = len(self.messages)
        known = messages[:count]
        if are_of and len(known) == count and are_of(self.messages, known):
            return count
        count = 0
        for read, message in zip(self.messages, messages, strict=False):
            if not read.is_of(message):
                break
            count += 1
        return count


class Conversations(Generic[_Read]):
    """Conversations that were read, to go on with.

    Args:
        read_one: Reads a message that is new.
        are_of: Says of all messages at once whether they are unchanged: all are checked
            each time, however many there are. None to check one by one.
    """

    def __init__(
        self, read_one: ReadOne[_Read], are_of: AreOf[_Read] | None = None
    ) -> None:
        self._read_one, self._are_of = read_one, are_of
        self._lock = Lock()
        self._kept: list[Conversation[_Read]] = []  # the last read is last

    def __reduce__(self) -> tuple[Any, ...]:
        """Copy only how messages are read: the messages can be read again."""
        return type(self), (self._read_one, self._are_of)

    @contextmanager
    def begin_reading(
        self, messages: Sequence[Any], numbers: CitationNumbers | None = None
    ) -> Iterator[Conversation[_Read]]:
        """Read messages, and give the conversation to the caller alone.

        Args:
            messages: All that may show passages or mention some, from the first.
            numbers: Those of the conversation's state; new ones are added. None to
                begin with 1.

        Yields:
            The conversation of these messages, and no others.
        """
        conversation = self._take_longest(messages, numbers)
        for message in messages[len(conversation.messages) :]:
            seen, numbered = conversation.seen, conversation.numbers
            read = self._read_one(message, seen, numbered)
            conversation.messages.append(read)
        try:
            yield conversation
        finally:
            self._keep_for_later(conversation)

    def _take_longest(
        self, messages: Sequence[Any], numbers: CitationNumbers | None
    ) -> Conversation[_Read]:
        """Return the conversation that has most of these messages, and no others."""
        with self._lock:
            known = [each for each in self._kept if each.of_state is numbers]
            counts = [each.begins_as(messages, self._are_of) for each in known]
            most = max(counts, default=0)
            if not most:
                return Conversation(numbers)
            best = known[counts.index(most)]
            if most == len(best.messages):
                self._kept = [each for each in self._kept if each is not best]
                return best
        return Conversation(numbers, best.messages[:most])

    def _keep_for_later(self, conversation: Conversation[_Read]) -> None:
        with self._lock:
            self._kept.append(conversation)
            kept = sum(len(each.messages) for each in self._kept)
            while kept > _MOST_KEPT and len(self._kept) > 1:
                kept -= len(self._kept.pop(0).messages)
