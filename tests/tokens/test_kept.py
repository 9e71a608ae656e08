"""What was counted lately is not counted again, and the memory for it is bounded."""

import asyncio
import gc
import weakref

import pytest

from oprag.tokens import NamedTokenCounter, resolve_token_counter


def test_a_text_is_counted_once_and_for_each_counter_by_itself():
    counted = []

    def words(text):
        counted.append(text)
        return len(text.split())

    mine = NamedTokenCounter(words, name="mine")
    characters = NamedTokenCounter(len, name="mine")
    text = "three short words"

    assert [mine(text), mine(" ".join(text.split())), characters(text)] == [3, 3, 17]
    assert resolve_token_counter(words)(text) == resolve_token_counter(words)(text) == 3
    assert counted == [text, text]


def test_a_count_that_failed_is_not_kept():
    def fails_once(text):
        if not attempts:
            attempts.append(text)
            raise RuntimeError("not yet")
        return len(text)

    attempts: list[str] = []
    count = resolve_token_counter(fails_once)

    with pytest.raises(RuntimeError):
        count("text")
    assert count("text") == 4


def test_a_counter_may_count_with_another():
    inner = NamedTokenCounter(lambda text: len(text.split()))
    outer = resolve_token_counter(lambda text: 2 * inner(text))

    assert outer("two words") == 4


async def test_threads_count_at_the_same_time():
    count = NamedTokenCounter(len)
    texts = [str(number) * 50_000 for number in range(400)]

    def all_of_them():
        return list(map(count, texts))

    lists = await asyncio.gather(*(asyncio.to_thread(all_of_them) for _ in range(4)))

    assert lists == [list(map(len, texts))] * 4


def test_texts_that_were_not_used_for_long_are_let_go():
    class Text(str):  # noqa: SLOT000 -- a plain one cannot be watched
        pass

    count = NamedTokenCounter(len)
    text = Text("first")
    gone = weakref.ref(text)
    count(text)
    del text

    for number in range(9_000):
        count(str(number))
    gc.collect()

    assert gone() is None


def test_counts_go_with_their_counter():
    def words(text):
        return len(text.split())

    count = NamedTokenCounter(words)
    count("a chunk"), count("a long text" * 2_000), count.count_end("an end")
    gone = weakref.ref(words)
    del count, words

    gc.collect()

    assert gone() is None
