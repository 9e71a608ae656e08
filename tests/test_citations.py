"""When the number of a page in citations is in doubt."""

import pytest

from oprag import order_context


@pytest.mark.parametrize(
    ("added", "doubts"),
    [
        ({}, {"a.pdf": ("page",)}),
        ({"total_pages": 9}, {}),
        ({"page_label": "2"}, {}),
        ({"page_number": 2}, {}),
    ],
)
def test_a_page_that_may_count_from_1_is_a_doubt(added, doubts):
    metadatas = [{"source": "a.pdf", "page": page, **added} for page in (2, 3)]

    assert order_context(["One.", "Two."], metadatas).why.get("doubts", {}) == doubts


def test_a_page_0_tells_the_count_of_its_whole_document():
    metadatas = [{"source": "a.pdf", "page": page} for page in (0, 3)]

    assert "doubts" not in order_context(["One.", "Two."], metadatas).why
