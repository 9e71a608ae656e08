"""How a passage is cited: by what the reader of the document knows."""

from __future__ import annotations

import pytest

from oprag import Span, order_context


@pytest.mark.parametrize(
    ("metadata", "cited"),
    [
        ({"page": 3, "page_label": "iv"}, "page iv"),
        ({"page": 3}, "page 4"),
        ({"page": 3.0}, "page 4"),  # some stores make floats of integers
        ({"page": "3"}, "page 3"),
        ({"page": 3, "page_number": 3}, "page 3"),
        ({"page_number": 3}, "page 3"),
        ({"loc": {"pageNumber": 3}}, "page 3"),
        ({"row": 3}, "row 3"),
        ({"seq_num": 3}, "record 3"),
        ({"part_index": 3, "char_start": 0, "char_end": 4}, "part 3"),
        ({"part_index": 2, "page_number": 3, "char_start": 0, "char_end": 4}, "page 3"),
    ],
)
def test_a_part_is_cited_as_its_reader_counts(metadata, cited):
    (passage,) = order_context(["text"], [{"source": "a", **metadata}])

    assert passage.citation.split(", ")[:2] == ["a", cited]


def test_a_span_is_counted_as_other_languages_count():
    text = "\U0001f600 Käse \ud800 日本."
    span = Span(2, 9)
    assert text[slice(*span)] == "Käse \ud800 "

    in_utf16, in_utf8 = span.in_utf16(text), span.in_utf8(text)

    assert in_utf16 == Span(3, 10)
    units = text.encode("utf-16-le", "surrogatepass")
    part = units[2 * in_utf16.start : 2 * in_utf16.end]
    assert part.decode("utf-16-le", "surrogatepass") == text[slice(*span)]
    written = text.encode("utf-8", "surrogatepass")
    part = written[slice(*in_utf8)]
    assert part.decode("utf-8", "surrogatepass") == text[slice(*span)]
    assert Span(0, 3).in_utf8("abc") == Span(0, 3).in_utf16("abc") == Span(0, 3)
