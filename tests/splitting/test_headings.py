"""Headings of Markdown: found, and the path of them to each place."""

import pytest

from oprag.splitting import find_headings, find_sections

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
    text = line_end.join(["---", "Note: hi", "", "# Real", "Text.", "---", ""])

    assert [each.title for each in find_headings(text)] == ["Real"]


def test_line_ends_of_windows_hide_no_heading():
    sections = find_sections(TEXT.replace("\n", "\r\n"))

    assert [each.path for each in sections] == [
        each.path for each in find_sections(TEXT)
    ]
