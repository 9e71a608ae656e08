"""Numbers before chunks, in the paper's form."""

import pytest

from oprag.chunk import Chunk
from oprag.context import numbering
from oprag.context.rendering import number_of


@pytest.mark.parametrize(
    ("position", "metadata", "number"),
    [
        ((0, 120.0, 240.0), {}, 120),
        ((0, 120.0, 240.0), {"chunk_index": 3}, 3),
        ((0, 120.0, 240.0), {"chunk_index": "3"}, 3),
        ((0, 120.0, 240.0), {"chunk_index": -1}, 120),
        ((2, 7), {}, 7),
        ((4,), {}, 4),
        (None, {}, None),
        (None, {"chunk_index": 5}, 5),
    ],
)
def test_the_number_is_the_index_else_where_it_begins(position, metadata, number):
    assert number_of(Chunk("t", "a", 0, position, metadata=metadata)) == number


def test_it_stands_before_the_text():
    chunk = Chunk("text", "a", 0, (0, 3), name="a.txt")

    assert numbering(["a", "a"])(chunk, "as sent") == "[Chunk 3] as sent"


def test_with_several_documents_it_names_them():
    number = numbering(["a", "b"])

    assert number(Chunk("t", "a", 0, (0, 3), name="a.txt"), "t") == (
        "[Chunk 3 of a.txt] t"
    )
    assert number(Chunk("t", "b", 1, (0, 3)), "t") == "[Chunk 3 of b] t"


def test_a_chunk_without_a_number_stays_as_it_is():
    assert numbering(["a"])(Chunk("t", "a", 0), "t") == "t"
