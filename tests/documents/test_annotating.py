"""What a repair leaves of a chunk's own metadata."""

from oprag.documents import replaced
from oprag.metadata import counter_of, document_key

PLACED = {"char_start": 0, "char_end": 9, "token_count": 2, "token_counter": "cl100k"}


def test_a_token_count_stays_where_the_span_is_the_same():
    assert replaced(PLACED, {"char_start": 0, "char_end": 9}) == PLACED


def test_the_count_of_somebody_else_does_not_become_oprags():
    entry = {"doc_key": document_key("a"), "doc_uri": "a", "char_start": 0}
    entry |= {"doc_version": "123456-123456789012", "char_end": 9}
    theirs = {key: PLACED[key] for key in ("char_start", "char_end", "token_count")}

    stamped = replaced(theirs, entry)

    assert stamped["token_count"] == 2
    assert stamped["token_counter"] == "unknown"
    assert counter_of(stamped) == ""
    assert replaced(stamped, entry) == stamped


def test_a_count_of_oprags_stays_its_own():
    entry = {"doc_key": document_key("a"), "doc_uri": "a"}
    ours = {**entry, "doc_version": "123456-123456789012", "token_count": 2}

    assert replaced(ours, entry) == ours
    assert counter_of(ours) == "cl100k_base"
    # Under a name that proves nothing it keeps that of its counter.
    unnamed = replaced(ours, {"doc_key": "k"})
    assert counter_of(unnamed) == unnamed["token_counter"] == "cl100k_base"


def test_a_token_count_goes_with_another_span():
    entry = {"char_start": 0, "char_end": 5}

    assert replaced(PLACED, entry) == entry
    assert replaced(PLACED, {"chunk_index": 0}) == {"chunk_index": 0}
