"""A long text is counted once in a process, in every prompt that it stands in."""

import asyncio
import gc
import random
import re
import threading
import weakref

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oprag.tokens import NamedTokenCounter, resolve_token_counter
from tests.effort import cases
from tests.strategies import counter, minilm

LONG = 10_000
SPACES = re.compile(r"[!-~] ")
WORDS = ["order", "1912,", "the", "bridge", "it's", "漢字", "end.", "é", "—"]
BREAKS = [" ", " ", " ", " ", "\n", "\n\n", "  "]


def prose(seed: int, length: int, breaks: list[str] = BREAKS) -> str:
    """Words and breaks by chance, the same for one seed."""
    chance = random.Random(seed)  # noqa: S311 -- texts, no secrets
    words = (chance.choice(WORDS) + chance.choice(breaks) for _ in range(length))
    return f"{seed} " + "".join(words)[: length - len(str(seed)) - 1]


class Spy:
    """Counts words, and remembers what it was given."""

    def __init__(self) -> None:
        self.given: list[str] = []
        self._lock = threading.Lock()

    def __call__(self, text: str) -> int:
        with self._lock:
            self.given.append(text)
        return len(text.split())

    @property
    def characters(self) -> int:
        return sum(map(len, self.given))


def additive(spy: Spy) -> NamedTokenCounter:
    return NamedTokenCounter(spy, name="words", additive_at=SPACES)


def in_prompt(text: str, question: str) -> str:
    return f"Read it.\n\n<text>\n{text}\n</text>\n\nQuestion: {question}\nAnswer:"


@pytest.mark.slow
@pytest.mark.parametrize("name", ["cl100k_base", "o200k_base", "minilm"])
@settings(max_examples=cases(10))
@given(
    seed=st.integers(0, 99),
    length=st.integers(LONG, 40_000),
    breaks=st.sampled_from([BREAKS, [" "], ["\n"], [""], ["\n", "\r\n", "\t", " "]]),
    before=st.text(max_size=40),
)
def test_a_long_text_has_as_many_tokens_as_counted_at_once(
    name, seed, length, breaks, before
):
    count = counter(name)
    text = before + prose(seed, length, breaks)

    assert count(text) == count.count(text)
    assert count(text) == count.count(text)  # now as it was kept


@pytest.mark.parametrize(
    "odd", ["-" * 50_000, "\n" * 50_000, "漢字" * 20_000, "\ud800 x" * 9_000]
)
def test_text_without_a_place_to_divide_it_is_counted_too(odd):
    count = counter("cl100k_base")

    assert count(odd) == count(odd) == count.count(odd)


def test_a_document_is_counted_once_in_the_prompts_of_many_questions():
    spy = Spy()
    count = additive(spy)
    text = prose(1, 200_000)

    prompts = [in_prompt(text, f"What is {number}?") for number in range(20)]
    for prompt in prompts:
        assert count(prompt) == len(prompt.split())

    count(text)

    # With each question comes the end of the piece that the question stands in.
    assert len(text) < spy.characters < 1.25 * len(text)


def test_documents_are_counted_once_in_whatever_company():
    spy = Spy()
    count = additive(spy)
    texts = [prose(seed, 60_000) for seed in (3, 4, 5)]

    for chosen in ((0, 1, 2), (2, 0), (1,), (1, 2), (2, 1, 0)):
        count(in_prompt("\n\n".join(texts[number] for number in chosen), "Who?"))

    assert spy.characters < 1.2 * sum(map(len, texts))


def test_what_was_cut_out_of_a_document_is_mostly_not_counted_again():
    spy = Spy()
    count = additive(spy)
    text = prose(6, 400_000)
    count(text)
    before = spy.characters

    for end in range(100_000, 200_000, 10_000):
        count(text[50_000:end] + "\n\n" + text[300_000 : 300_000 + end // 2])

    assert spy.characters - before < 0.5 * len(text)


def test_of_a_counter_of_which_nothing_is_known_whole_texts_are_kept():
    spy = Spy()
    count = resolve_token_counter(spy)
    text = prose(7, 50_000)

    assert {count(text) for _ in range(5)} == {len(text.split())}
    assert spy.given == [text]
    assert resolve_token_counter(spy) is count


def test_short_texts_are_counted_every_time():
    spy = Spy()
    count = additive(spy)

    for _ in range(3):
        count("a few words")

    assert len(spy.given) == 3


def test_the_counts_of_one_counter_are_not_anothers():
    text = prose(8, 30_000)
    words = NamedTokenCounter(lambda text: len(text.split()), name="mine")
    characters = NamedTokenCounter(len, name="mine")

    assert words(text) == len(text.split())
    assert characters(text) == len(text)


def test_a_count_that_failed_is_not_kept():
    def fails_once(text: str) -> int:
        if not attempts:
            attempts.append(text)
            raise RuntimeError("not yet")
        return len(text)

    attempts: list[str] = []
    count = resolve_token_counter(fails_once)
    text = prose(9, 20_000)

    with pytest.raises(RuntimeError):
        count(text)
    assert count(text) == len(text)


@pytest.mark.parametrize("known", [True, False])
async def test_questions_that_begin_together_count_a_document_once(known):
    spy = Spy()
    count = additive(spy) if known else resolve_token_counter(spy)
    text = prose(10, 300_000)

    counts = await asyncio.gather(*(asyncio.to_thread(count, text) for _ in range(8)))

    assert set(counts) == {len(text.split())}
    assert spy.characters == len(text)


def test_a_counter_may_count_with_another():
    inner = additive(Spy())
    outer = resolve_token_counter(lambda text: 2 * inner(text))
    text = prose(11, 20_000)

    assert outer(text) == 2 * len(text.split())


def test_texts_are_not_kept():
    class Text(str):  # noqa: SLOT000 -- a plain one cannot be watched
        pass

    count = counter("cl100k_base")
    text = Text(prose(12, 30_000))
    count(text)
    gone = weakref.ref(text)

    del text
    gc.collect()

    assert gone() is None


def test_a_tokenizer_is_copied_once_and_again_when_tokens_were_added():
    tokenizer = minilm()
    count = resolve_token_counter(tokenizer)

    assert resolve_token_counter(tokenizer) is count
    before = count("oprag retrieves")
    tokenizer.add_tokens(["oprag"])

    again = resolve_token_counter(tokenizer)
    assert again("oprag retrieves") < before
    assert count("oprag retrieves") == before
