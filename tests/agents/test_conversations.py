"""Conversations that are read again: what is known is kept, and nothing else."""

import pickle
from dataclasses import dataclass

import pytest

from oprag.agents import Conversations
from oprag.chunk import Chunk, Passage, Span
from oprag.context import CitationNumbers


@dataclass
class Read:
    text: str
    shown: list[Passage]
    mentioned: tuple[int, ...] = ()

    def is_of(self, message):
        return message == self.text


def passage(start):
    chunk = Chunk("word", "a.txt", 0, span=Span(start, start + 4))
    return Passage("word", "a.txt", (chunk,), (Span(start, start + 4),), "a.txt")


def read_one(message, seen, numbers):
    shown = numbers.assign([passage(int(message))])
    numbers.add(shown)
    seen.add(shown)
    return Read(message, shown)


class Counting:
    def __init__(self):
        self.messages = []

    def __call__(self, message, seen, numbers):
        self.messages.append(message)
        return read_one(message, seen, numbers)


def numbers_of(conversation):
    return [passage.number for read in conversation.messages for passage in read.shown]


def test_a_message_is_read_once_while_it_is_the_same():
    counting = Counting()
    conversations = Conversations(counting)
    said = [str(8 * n) for n in range(50)]
    for end in range(1, len(said) + 1):
        with conversations.begin_reading(said[:end]) as conversation:
            assert numbers_of(conversation) == [*range(1, end + 1)]

    assert counting.messages == said


def test_a_fork_goes_on_from_what_both_say():
    counting = Counting()
    conversations = Conversations(counting)
    for said in ("0 8 16", "0 8 24", "0 8 16 32", "0 8 24 32", "8"):
        with conversations.begin_reading(said.split()) as conversation:
            assert [read.text for read in conversation.messages] == said.split()
            assert numbers_of(conversation) == [*range(1, len(said.split()) + 1)]
            known = [Chunk("word", "a.txt", 0, span=Span(n, n + 4)) for n in (16, 24)]
            _, seen = conversation.seen.partition(known)
            assert {str(chunk.span.start) for chunk in seen} == {*said.split()} & {
                "16",
                "24",
            }

    assert counting.messages == ["0", "8", "16", "24", "32", "32", "8"]


def test_what_was_read_under_other_numbers_is_read_again():
    counting = Counting()
    conversations = Conversations(counting)
    first, other = CitationNumbers(), CitationNumbers()
    other.add(other.assign([passage(80)]))
    for numbers, expected in ((first, [1]), (other, [2]), (first, [1])):
        with conversations.begin_reading(["0"], numbers) as conversation:
            assert numbers_of(conversation) == expected

    assert counting.messages == ["0", "0"]


def test_a_message_that_cannot_be_read_leaves_no_half_conversation():
    conversations = Conversations(read_one)
    with (
        pytest.raises(ValueError, match="invalid literal"),
        conversations.begin_reading(["0", "none"]),
    ):
        pass
    with conversations.begin_reading(["0", "8"]) as conversation:
        assert numbers_of(conversation) == [1, 2]


def test_two_callers_at_once_do_not_share_what_they_read():
    conversations = Conversations(read_one)
    with conversations.begin_reading(["0"]):
        pass
    with (
        conversations.begin_reading(["0"]) as one,
        conversations.begin_reading(["0"]) as other,
    ):
        assert one is not other


def test_the_oldest_conversations_are_forgotten(monkeypatch):
    monkeypatch.setattr("oprag.agents.conversations._MOST_KEPT", 3)
    counting = Counting()
    conversations = Conversations(counting)
    for said in (["0", "8"], ["16", "24"], ["16", "24"], ["0", "8"]):
        with conversations.begin_reading(said):
            pass

    assert counting.messages == ["0", "8", "16", "24", "0", "8"]


def test_a_copy_reads_anew():
    conversations = Conversations(read_one)
    with conversations.begin_reading(["0"]) as read:
        pass
    copied = pickle.loads(pickle.dumps(conversations))  # noqa: S301 -- our own
    with copied.begin_reading(["0"]) as other:
        assert other is not read
        assert numbers_of(other) == [1]
