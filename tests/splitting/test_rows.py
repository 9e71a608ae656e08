"""Rows of tables: found in any form, and whole in their chunks."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oprag import split_sentences
from oprag.splitting.rows import find_rows

CSV = "Team,Location,Cups\n" + "".join(
    f"Team {n},City No. {n},{n}\n" for n in range(90)
)
QUOTED = "a,b,c\n" + "".join(
    f'{n},"He paid. Then\nhe left. It was ""so"", No. {n}",x\n' for n in range(40)
)
TABLES = {
    "commas": CSV,
    "semicolons": CSV.replace(",", ";"),
    "tabs": CSV.replace(",", "\t"),
    "blanks after commas": CSV.replace(",", ", "),
    "values of several lines": QUOTED,
    "values of several lines, last": "a,b\n"
    + "".join(f'{n},"line a of {n}\nline b\nline c"\n' for n in range(40)),
    "Markdown": "".join(f"| {n} | It was. Then not. |  |\n" for n in range(60)),
    "numbers and sentences": "".join(
        f"Port {n} 1{n:03} {n} Ole Petersen It is mended. Ships wait outside.\n"
        for n in range(60)
    ),
    "numbers": "".join(f"State {n} 1,{n:03} {n}.5% – 3\n" for n in range(90)),
}


@pytest.mark.parametrize("name", TABLES)
def test_no_chunk_begins_inside_a_row(name):
    text = "The figures of May. They are these.\n\n" + TABLES[name]

    starts = {start for start, _ in find_rows(text)}
    chunks = split_sentences(text, chunk_size=60)

    assert len(chunks) > 5
    assert {chunk.start for chunk in chunks[1:]} <= starts
    assert "".join(text[chunk.start : chunk.end] for chunk in chunks) == text


def test_a_value_of_several_lines_is_in_one_row():
    assert len(find_rows(QUOTED)) == 41


@pytest.mark.parametrize(
    "text",
    [
        (
            "The lease, which ends in May,\nis long. The tenant, who pays,\nwrites. The"
            " house, it is said,\nis old."
        ),
        "One line.\nAnother; one.\nAnd a third.",
        "In 1900 12 ships came. They\nleft. In 1901 13 came, and\nlater none at all.",
        "a,b\nc,d",
        "",
    ],
)
def test_prose_has_no_rows(text):
    assert find_rows(text) == []


@given(st.text(alphabet='a1 ,;|"\t\n', max_size=200))
def test_rows_are_lines_in_order_and_apart(text):
    edges = [edge for row in find_rows(text) for edge in row]

    assert edges == sorted(edges)
    for start, end in find_rows(text):
        assert start == 0 or text[start - 1] == "\n"
        assert end == len(text) or text[end - 1] == "\n"


def test_where_no_sentence_ends_a_chunk_ends_at_a_line():
    text = "".join(f"line {n} of a poem; it has, no end\n" for n in range(40))

    chunks = split_sentences(text, chunk_size=50)

    assert all(text[chunk.start - 1] == "\n" for chunk in chunks[1:])
