"""Headings of Markdown: found, and the path of them to each place."""

from collections.abc import Callable

import pytest

from oprag.splitting import find_headings, find_sections
from tests.kit.growth import LINEAR, time_growth

TEXT = """\
Before.

# Lease

```
# no heading
```

## Rent ##

| Year | Coal |
| 1900 | 12 |

After.

# End
"""


def test_headings_are_found_outside_of_code():
    assert [(each.title, each.level) for each in find_headings(TEXT)] == [
        ("Lease", 1),
        ("Rent", 2),
        ("End", 1),
    ]


def test_a_path_holds_from_a_heading_on_and_names_the_columns_of_a_table():
    sections = find_sections(TEXT)

    assert [
        (TEXT[each.start :].split("\n", maxsplit=1)[0], each.path) for each in sections
    ] == [
        ("# Lease", "Lease"),
        ("## Rent ##", "Lease > Rent"),
        ("| 1900 | 12 |", "Lease > Rent: Year | Coal"),
        ("", "Lease > Rent"),
        ("# End", "End"),
    ]


UNDERLINED = """\
---
title: Lease
# no heading
---

Lease
=====

```
code
```

Rent
----

- item
---

Two lines
of prose
---
"""


@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_titles_may_be_underlined_and_facts_on_a_file_are_no_headings(line_end):
    text = UNDERLINED.replace("\n", line_end)

    headings = find_headings(text)

    assert [(each.title, each.level) for each in headings] == [
        ("Lease", 1),
        ("Rent", 2),
    ]
    assert [text[each.start :][:4] for each in headings] == ["Leas", "Rent"]


@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_a_heading_between_two_lines_across_a_text_is_one(line_end):
    text = line_end.join(["---", "Note: hi", "", "# Real", "Text.", "", "---", ""])

    assert [each.title for each in find_headings(text)] == ["Real"]


def test_line_ends_of_windows_hide_no_heading():
    sections = find_sections(TEXT.replace("\n", "\r\n"))

    assert [each.path for each in sections] == [
        each.path for each in find_sections(TEXT)
    ]


@pytest.mark.parametrize(
    ("text", "titles"),
    [
        ("A\n===\nB\n---\n# C\nD\n---\n", ["A", "B", "C", "D"]),
        ("In two\nlines\n===\n", ["In two lines"]),
        ("   ## A ##\n    ## code\n", ["A"]),
        ("# A\rtext\r## B\rC\r-----\r", ["A", "B", "C"]),
        ("**A**\n---\n", ["**A**"]),
        ("- item\n---\n> quoted\nstill\n---\nText\n-\n", []),
        ("- # in\n\n  # an item\n# A\n", ["A"]),
        ("- ```sh\n  run\n  ```\n\n# A\n", ["A"]),
        ("1. ~~~\n   # code\n   ~~~\n# A\n\n```\n# code\n```\n# B\n", ["A", "B"]),
        ("- ```\n  # code\n\n# A\n", ["A"]),
        ("````\n```\n# code\n````\n# A\n", ["A"]),
        ("Text ``` with\n``` a ` tick\n# A\n", ["A"]),
        ("<!--\n\n# old\n-->\n# A\n", ["A"]),
        ("<pre>\n\n# make\n</pre>\n# A\n", ["A"]),
        ("<div>\n# shown as it is\n\n# A\n", ["A"]),
        ("Text\n<b>\n# A\n<b>\n# shown as it is\n", ["A"]),
        ("+++\na = 1\n# remark\n\n+++\n# A\n", ["A"]),
    ],
)
def test_headings_are_those_that_are_shown(text, titles):
    assert [each.title for each in find_headings(text)] == titles


@pytest.mark.parametrize(
    ("first", "piece"),
    [("# a", " "), ("- a", " -"), ("", "- "), ("", "`"), ("<a", " b"), ("<a", " b = ")],
)
def test_a_long_line_takes_no_longer_than_its_length(first, piece):
    def make_work(size: int) -> Callable[[], object]:
        line = f"{first}{piece * size} `b\n"
        return lambda: find_sections(line * 8)

    assert time_growth(make_work, 8_000) < LINEAR
