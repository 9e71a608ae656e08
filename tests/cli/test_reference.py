"""The demo's text: the whole language reference, each part once."""

import re
from pydoc_data.topics import topics

import pytest

from oprag.cli.demo import REFERENCE_NAME, language_reference


def words(text: str) -> str:
    return " ".join(re.findall(r"\w+", text))


@pytest.fixture(scope="module")
def reference() -> str:
    return language_reference()


@pytest.mark.parametrize("topic", sorted(topics))
def test_no_topic_is_missing(reference, topic):
    _, _, body = topics[topic].partition("\n\n")  # the heading's underline may differ

    assert words(body) in words(reference)


def test_no_text_is_there_twice(reference):
    sentences = [
        'The "with" statement is used to wrap the execution of a block',
        "A class definition is an executable statement.",
        'Called to implement the built-in function "len()".',
    ]

    assert [reference.count(sentence) for sentence in sentences] == [1, 1, 1]


def test_it_is_long(reference):
    assert 350_000 < len(reference) < 450_000


def test_chapters_stand_in_the_order_of_the_book(reference):
    headings = [
        "Objects, values and types",
        "Calls",
        "Assignment",
        "Compound statements",
    ]
    rule = re.compile(rf"^({'|'.join(headings)}).*\n\*\*\*", re.MULTILINE)

    assert [heading[1] for heading in rule.finditer(reference)] == headings


def test_the_name_says_which_python():
    assert re.fullmatch(r"Python 3\.1\d language reference", REFERENCE_NAME)
