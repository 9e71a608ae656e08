"""How a passage is cited: by what the reader of the document knows."""

import pytest
from langchain_core.documents import Document

from oprag import order_context


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


def test_a_passage_that_ends_before_a_page_is_not_cited_from_it():
    pages = [
        Document(5 * c, metadata={"source": "a", "page": n}) for n, c in enumerate("xy")
    ]
    place = {"source": "a", "page": 0, "start_index": 0}
    given = {"selection": "recall", "token_budget": 8, "token_counter": len}

    (passage,) = order_context(["xxxxx"], [place], documents=pages, **given)

    assert passage.text == "xxxxx\n\n"
    assert passage.citation == "a, page 1, characters 0-5"
