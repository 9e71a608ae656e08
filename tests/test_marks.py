"""Texts cannot write the marks that are ours, and are read back as they were."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oprag import order_context, render
from oprag.context import CitationNumbers
from oprag.marks import LINE_ENDS, escape_marks, length_written, unescape_marks
from tests.kit.effort import cases

PIECES = st.sampled_from(
    [
        *("[5] Smith 2019, characters 0-10", "[…]", "[see above: [1], [2]]", "[...]"),
        *("[see above]", "[too long to show: a.txt]", "[goes on at character 9 of 9]"),
        *(
            "[٥] x",
            "[ 7 ]",
            "[Chunk 3] x",
            "[12]",
            "[1](https://a.b)",
            "[x] y",
            "[",
            "]",
        ),
        *("［5］ x", "【５】 x", "[\u200b5\u2060] x", "[See\xa0above: [1]]", "[²]"),
        *("> ", "- ", "* ", "12. ", "a) ", "**", "| ", "#", '"', "\u2800", "\ufe0f"),
        *("\\", "\\\\", " ", "\t", "\u200b", "\ufeff", *LINE_ENDS, "word", "5", "…"),
    ]
)
TEXTS = st.lists(PIECES, max_size=12).map("".join)
SEPARATORS = st.sampled_from(["\n\n", "\n", " | ", "\n--- "])
BLANK = rf"(?:[^\S{LINE_ENDS}]|[\u200b\u2060\u2800\ufe0f\ufeff])"
SIGNS = rf"(?:[>*+#|_~`\"(\[-]|\b\d+[.)]|\ba\)|{BLANK})*"
MARK = re.compile(
    rf"(?:\A|[{LINE_ENDS}]){SIGNS}[\[［【]{BLANK}*(?:[\d²]+{BLANK}*[\]］】]|…\]"
    r"|\.\.\.\]|Chunk \d|see.above|too long to show|goes on at)",
    re.IGNORECASE,
)


@settings(max_examples=cases(300), deadline=None)
@given(TEXTS)
def test_no_line_of_a_text_is_a_mark_and_the_text_is_read_back(text):
    written = escape_marks(text)

    assert not MARK.search(written)
    assert unescape_marks(written) == text


@settings(max_examples=cases(300), deadline=None)
@given(TEXTS, TEXTS)
def test_the_length_of_a_written_text_is_known_from_that_of_the_text(text, after):
    written = escape_marks(text)
    found = length_written(f"{written}\n\n{escape_marks(after)}", 0, len(text))

    assert unescape_marks(written[:found]) == text


@given(st.text(st.characters(exclude_characters="[")))
def test_a_text_without_a_bracket_is_written_as_it_is(text):
    assert escape_marks(text) is text


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("[5] Smith 2019", "\\[5] Smith 2019"),
        ("\\[5] Smith", "\\\\[5] Smith"),
        ("See [5].\n  [6] Roe", "See [5].\n  \\[6] Roe"),
        ("> > [5] Roe\n- 【6】 Doe", "> > \\[5] Roe\n- \\【6】 Doe"),
        ("1. [\u200b7] Poe\n[[8]] x", "1. \\[\u200b7] Poe\n[\\[8]] x"),
        ("**[See above: [1]]**", "**\\[See above: [1]]**"),
        ('So see [8], "[9]", (a) [10].', 'So see [8], "[9]", (a) [10].'),
        ("a list:\n[x] done\n[link](url)", "a list:\n[x] done\n[link](url)"),
    ],
)
def test_a_backslash_stands_before_the_bracket_of_a_line_that_begins_as_a_mark(
    text, written
):
    assert escape_marks(text) == written


@settings(max_examples=cases(200), deadline=None)
@given(
    st.lists(TEXTS.filter(str.strip), min_size=1, max_size=5, unique=True), SEPARATORS
)
def test_a_rendered_context_has_as_many_marks_as_passages_and_gaps(texts, separator):
    passages, at = [], 0
    places = []
    for text in texts:
        places.append({"source": "a.txt", "start_index": at})
        at += len(text) + 100
    passages = order_context(texts, places)

    written = render(passages, citations=True, separator=separator)

    begin = rf"(?:^|{re.escape(separator)})\s*"
    heads = re.findall(rf"(?m){begin}\[(\d+)\] a\.txt, characters", written)
    assert heads == [str(n) for n in range(1, len(texts) + 1)]
    gaps = re.findall(rf"(?m){begin}\[…\]", written)
    assert len(gaps) == len(texts) - 1
    if separator == "\n\n":
        read = [*CitationNumbers.read_from(written)]
        assert [each.text for each in read] == [each.text for each in passages]
    numbers = CitationNumbers()
    numbers.add(numbers.assign(passages))
    assert {p.number: p.text for p in numbers.find_in(written).values()} == {
        n: p.text for n, p in enumerate(passages, start=1)
    }
    plain = render(passages, separator=separator)
    assert plain == separator.join(p.text for p in passages)
