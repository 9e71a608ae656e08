"""Contradicting positions are found, duplicates are dropped."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oprag import order_context
from oprag.chunk import Chunk, Span
from oprag.errors import ConflictingPositionsError, PositionWarning
from oprag.positions import check_positions, deduplicate

SOURCE = "abcdefghij" * 3


def _at(start, end, rank=0, text=None, part=None):
    text = SOURCE[start:end] if text is None else text
    return Chunk(text, "d", rank, (part or 0, start, end), Span(start, end), part)


def test_of_several_texts_at_one_position_each_is_kept_once_with_its_best_rank():
    chunks = [_at(0, 3, rank, text) for rank, text in enumerate("abbacba", 1)]

    kept = deduplicate([*chunks, _at(0, 3, 0, "b")])
    assert [(chunk.text, chunk.rank) for chunk in kept] == [
        ("a", 1),
        ("b", 0),
        ("c", 5),
    ]


def test_duplicates_do_not_use_up_top_n():
    metadatas = [{"source": "s", "start_index": i} for i in (5, 5, 0)]

    assert len(order_context(["b", "b", "a"], metadatas, top_n=2)) == 2


def test_the_same_start_in_two_parts_is_no_conflict():
    chunks = [_at(0, 5, part=0), _at(0, 5, rank=1, text="other", part=1)]

    assert check_positions(chunks) == chunks


def test_replaced_text_is_not_compared():
    window = Chunk("a much longer window", "d", 1, (0, 2, 4), Span(2, 4))

    chunks = [_at(0, 20), window]
    assert check_positions(chunks) == chunks


def test_a_chunk_without_a_span_between_two_does_not_hide_that_they_conflict():
    metadatas = [
        {"source": "d", "char_start": 10, "char_end": 30},
        {"source": "d", "char_start": 15, "char_end": 60},
        {"source": "d", "char_start": 25, "char_end": 45},
    ]

    with pytest.raises(ConflictingPositionsError) as caught:
        order_context(["a" * 20, "short", "b" * 20], metadatas)
    assert caught.value.spans == ((10, 30), (25, 45))


@given(
    st.lists(
        st.tuples(st.integers(0, 9), st.text("ab", min_size=1, max_size=4)),
        min_size=2,
        max_size=5,
    )
)
def test_a_conflict_is_found_exactly_when_no_source_could_hold_all_chunks(items):
    chunks = deduplicate(
        Chunk(
            text,
            "d",
            rank,
            (0, start, start + len(text)),
            Span(start, start + len(text)),
        )
        for rank, (start, text) in enumerate(items)
    )
    letters: dict[int, set[str]] = {}
    for start, text in items:
        for offset, letter in enumerate(text):
            letters.setdefault(start + offset, set()).add(letter)
    possible = all(len(found) == 1 for found in letters.values())

    if possible:
        assert check_positions(chunks) == chunks
    else:
        with pytest.raises(ConflictingPositionsError):
            check_positions(chunks)


@pytest.mark.parametrize("key", ["page", "chunk_index"])
def test_two_chunks_of_a_page_or_of_one_number_have_no_known_order(key):
    metadatas = [{"source": "a.pdf", key: 2}, {"source": "a.pdf", key: 2}]

    with pytest.raises(ConflictingPositionsError) as caught:
        order_context(["one", "two"], metadatas)
    assert caught.value.position[-1] == 2
    assert caught.value.ranks == (0, 1)
    with pytest.warns(PositionWarning, match="ambiguous_position"):
        passages = order_context(["one", "two"], metadatas, on_problem="warn")
    assert [p.text for p in passages] == ["one", "two"]


HEADER = "From the lease of 1807, about rent and repairs.\n"


@pytest.mark.parametrize("overlap", [0, 20])
def test_one_header_before_every_chunk_explains_what_disagrees(overlap):
    source = " ".join(map(str, range(200)))
    starts = [*range(0, 500, 50)]
    mixed = starts[5:] + starts[:5]
    texts = [HEADER + source[start : start + 50 + overlap] for start in mixed]
    metadatas = [{"source": "s", "start_index": start} for start in mixed]

    passages = order_context(texts, metadatas, merge=True)

    assert [p.spans[0].start for p in passages] == starts
    assert not any(p.exact for p in passages)
    other = [text.replace("1807", str(1800 + n)) for n, text in enumerate(texts)]
    with pytest.raises(ConflictingPositionsError):
        order_context(other, metadatas)
