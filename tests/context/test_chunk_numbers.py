"""Numbers before chunks, in the paper's form."""

import pytest

from oprag.chunk import Chunk
from oprag.context import number_text


@pytest.mark.parametrize(
    ("position", "metadata", "number"),
    [
        ((0, 120.0, 240.0), {}, 120),
        ((0, 120.0, 240.0), {"chunk_index": "3"}, 3),
        ((0, 120.0, 240.0), {"chunk_index": -1}, 120),
        ((2, 7), {}, 7),
        ((4,), {}, 4),
        (None, {"chunk_index": 5}, 5),
    ],
)
def test_the_number_is_the_index_else_where_it_begins(position, metadata, number):
    chunk = Chunk("text", "a", 0, position, metadata=metadata)

    assert number_text(chunk, "as sent") == f"[Chunk {number}] as sent"


def test_a_chunk_without_a_number_stays_as_it_is():
    assert number_text(Chunk("t", "a", 0), "t") == "t"
