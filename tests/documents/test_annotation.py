"""A repair, and a chunk's own metadata."""

from oprag.documents import replace_positions

PLACED = {"char_start": 0, "char_end": 9, "token_count": 2, "token_counter": "cl100k"}


def test_a_token_count_stays_where_the_span_is_the_same():
    assert replace_positions(PLACED, {"char_start": 0, "char_end": 9}) == PLACED


def test_a_token_count_goes_with_another_span():
    entry = {"char_start": 0, "char_end": 5}

    assert replace_positions(PLACED, entry) == entry
    assert replace_positions(PLACED, {"chunk_index": 0}) == {"chunk_index": 0}
