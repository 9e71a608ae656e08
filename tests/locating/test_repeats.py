"""Texts are counted as if they were searched from end to end."""

import random

import pytest

from oprag.locating.repeats import CountedText, has_repeated_run


def generated(seed: int) -> tuple[str, list[str]]:
    """A text of lines that say much the same, and its lines, but for short ones."""
    rng = random.Random(seed)  # noqa: S311 -- a text, no secret
    words = ["rent", "lease", "0.00", "tenant", "the", "of", "clause", "12"]
    lines = [" ".join(rng.choices(words, k=rng.randint(4, 24))) for _ in range(30)]
    text = "\n".join(rng.choices(lines, k=60))
    return text, sorted({line for line in lines if len(line) >= 20})


def count(text: str, part: str) -> int:
    return sum(text.startswith(part, at) for at in range(len(text)))


@pytest.mark.parametrize("seed", range(20))
def test_a_part_is_there_twice_if_a_search_finds_it_twice(seed):
    text, lines = generated(seed)
    counted = CountedText(text.encode())
    for part in lines:
        found = count(text, part)
        if found > 1:
            assert counted.has_twice(part.encode()) == (found == 2)


def test_a_rare_end_counts_behind_a_beginning_that_is_everywhere():
    head = "2024-01-01 10:00 INFO the service was started by the worker "
    rng = random.Random(2)  # noqa: S311 -- a text, no secret
    lines = [head + "".join(rng.choices("abcdefgh", k=30)) for _ in range(300)]
    text = "\n".join([*lines, lines[7]])
    counted = CountedText(text.encode())
    assert counted.has_twice(lines[7].encode())
    assert not counted.has_twice(head.encode())


@pytest.mark.parametrize("separator", ["\n", " "])
def test_a_run_is_found_wherever_it_is_there_again(separator):
    rng = random.Random(3)  # noqa: S311 -- as above
    words = ["".join(rng.choices("abcdefgh", k=6)) for _ in range(900)]
    text = separator.join(
        " ".join(words[at : at + 8]) for at in range(0, len(words), 8)
    )
    assert not has_repeated_run(text, 100)
    for at in rng.sample(range(len(text) - 100), 40):
        again = text[at : at + 100]
        assert has_repeated_run(f"{text} {again} and no more", 90)
        assert not has_repeated_run(f"{text} {again[:40]} and no more", 90)


def test_a_text_of_one_word_has_no_run_twice():
    assert not has_repeated_run("", 20)
    assert not has_repeated_run("word", 20)
