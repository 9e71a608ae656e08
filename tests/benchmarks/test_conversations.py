"""The counts of the benchmark of chats, on a text of three lines."""

from itertools import pairwise

from benchmarks.conversations import Read, Turn, chat, table

LINES = [f"{word} " * 100 for word in ("Rent", "Deposit", "Notice")]
TEXT = "".join(LINES)


def test_a_chat_that_appends_the_unseen_sends_nothing_twice_and_keeps_what_was_read():
    first, last = (0, 100), (len(TEXT) - 100, len(TEXT))
    turns = [Turn("rent", "900.", [first]), Turn("notice", "6.", [last])] * 2

    read = chat("lease.txt", TEXT, turns, budget=200)

    replaced, _, again, unseen, _ = read.values()
    assert [each.evidence for each in unseen] == [1, 1, 1, 1]
    assert [each.twice for each in again][:2] == [0, 0]
    assert again[-1].twice > 0
    assert [each.twice for each in unseen] == [0] * 4
    # Each prompt begins as the one before it: all of that is cached.
    assert all(b.cached >= a.tokens for a, b in pairwise(unseen))
    assert replaced[0].cached == unseen[0].cached == 0


def test_a_cached_token_costs_a_tenth():
    assert Read(100, 60, 0, None).price == 46
    row = table({"a": {"x": [Read(100, 60, 3, 0.5)]}}).splitlines()[-1]
    assert row == "| a | x | 100 | 60.0% | 46 | 100% | 3 | 50.0% |"
