"""A repair, and a chunk's own metadata."""

from oprag.documents import replaced

PLACED = {"char_start": 0, "char_end": 9, "token_count": 2, "token_counter": "cl100k"}


def test_a_token_count_stays_where_the_span_is_the_same():
    assert replaced(PLACED, {"char_start": 0, "char_end": 9}) == PLACED


def test_a_token_count_goes_with_another_span():
    entry = {"char_start": 0, "char_end": 5}

    assert replaced(PLACED, entry) == entry
    assert replaced(PLACED, {"chunk_index": 0}) == {"chunk_index": 0}
