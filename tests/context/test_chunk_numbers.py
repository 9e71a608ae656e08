"""Numbers before chunks, in the paper's form."""

import pytest

from oprag.chunk import Chunk
from oprag.context import count_unnumbered, number_text


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


@pytest.mark.parametrize("position", [None, (0.5,), ("b",)])
def test_a_chunk_without_a_whole_number_stays_as_it_is(position):
    assert number_text(Chunk("t", "a", 0, position), "t") == "t"


AT = 0.9, 0.1, 2


def test_chunks_without_whole_numbers_are_counted_in_their_document():
    a, b, c = (Chunk(text, "d", 0, (at,)) for text, at in zip("abc", AT, strict=True))
    other = Chunk("x", "e", 0, (7,))

    numbers = count_unnumbered([a, b, c, other])
    assert numbers == {("d", (0.1,)): 0, ("d", (0.9,)): 1, ("d", (2,)): 2}
