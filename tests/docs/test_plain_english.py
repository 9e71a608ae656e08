"""The check of the docs' English finds the habits, and nothing in code or labels."""

import pytest

from tests.docs import plain_english
from tests.docs.plain_english import HABITS, PAGES, found, main, sentences


def habits_of(text: str) -> list[str]:
    return [
        habit.name
        for sentence in sentences(text)
        for habit in HABITS
        if habit.is_in(sentence)
    ]


@pytest.mark.parametrize(
    ("text", "habit"),
    [
        ("It returns what was found.", '"what" as a noun'),
        ("It stops: one is read; the other waits.", HABITS[1].name),
        ("Ordered where the store allows it.", '"where" for "if"'),
        ("The list is kept as it came.", '"as it is", "as they come"'),
        ("| a | keys of your own |", '"of its own"'),
        ("- An item\n  of its own.", '"of its own"'),
    ],
)
def test_a_habit_is_found_in_text_cells_and_items(text, habit):
    assert habits_of(text) == [habit]


@pytest.mark.parametrize(
    "text",
    [
        "What is a rank?",
        "Call it where your application starts.",
        "- **Budget**: some tokens; then more.",
        "`what is: a; b`",
        "```python\nwhat is it\n```",
        "One sentence: two. Another; three.",
        "[a page](what.md) of docs",
    ],
)
def test_questions_places_labels_and_code_are_no_habit(text):
    assert habits_of(text) == []


def test_words_are_those_of_prose(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("# Two words\n\n```sh\nnot these\n```\n\n- three `more` words\n")

    words, _ = found([page])

    assert words == 7  # with the marks of the heading and the item


def test_a_habit_over_its_limit_fails_and_shows_the_sentence(
    tmp_path, monkeypatch, capsys
):
    page = tmp_path / "page.md"
    page.write_text("Keys of their own.")
    monkeypatch.setattr(plain_english, "PAGES", (page,))

    assert main() == 1
    assert "page.md: Keys of their own." in capsys.readouterr().out


def test_the_pages_are_within_the_limits(capsys):
    assert len(PAGES) > 10
    assert main() == 0, capsys.readouterr().out
