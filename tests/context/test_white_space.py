"""Chunks of white space, with full texts: they keep their place, or are left out."""

from hypothesis import given
from hypothesis import strategies as st

from oprag import order_context

TEXT = "One.\n\nTwo. Three."
PARTS = ["One.", "\n\n", "Two.", " ", "Three."]
STARTS = [0, 4, 6, 10, 11]


def ordered(parts, **metadata):
    metadatas = [
        {"source": "a", **dict(zip(metadata, values, strict=True))}
        for values in zip(*metadata.values(), strict=True)
    ]
    return order_context(parts, metadatas, documents={"a": TEXT})


def test_a_recorded_place_is_kept_where_the_text_has_it():
    passages = ordered(PARTS, start_index=STARTS)

    assert [passage.text for passage in passages] == PARTS
    assert [passage.spans[0].start for passage in passages] == STARTS
    assert all(passage.exact for passage in passages)


def test_it_is_kept_beside_chunks_whose_own_place_is_wrong():
    passages = ordered(PARTS, start_index=[0, 4, 6, 10, 3])

    assert [passage.text for passage in passages] == PARTS
    assert [passage.spans[0].start for passage in passages] == STARTS


def test_without_a_place_it_is_left_out_and_counted():
    passages = ordered(PARTS, chunk_index=range(5))

    assert [passage.text for passage in passages] == ["One.", "Two.", "Three."]
    assert len(passages.why["dropped"]["blank"]) == 2
    assert "duplicates" not in passages.why


def test_alone_in_its_document_it_stays_and_two_are_not_one():
    passages = ordered([" ", " "], chunk_index=[3, 1])

    assert [passage.rank for passage in passages] == [1, 0]
    assert "blank" not in passages.why["dropped"]


@given(
    st.lists(st.sampled_from(["One.", "\n\n", " ", "\t\n", "Two "]), min_size=1),
    st.randoms(),
    st.booleans(),
)
def test_every_piece_of_a_text_with_its_place_comes_back(pieces, random, numbered):
    text = "".join(pieces)
    starts = [len("".join(pieces[:i])) for i in range(len(pieces))]
    hits = [*zip(pieces, starts, range(len(pieces)), strict=True)]
    random.shuffle(hits)
    metadatas = [
        {"source": "a", "start_index": start} | ({"chunk_index": n} if numbered else {})
        for _, start, n in hits
    ]

    passages = order_context(
        [piece for piece, *_ in hits], metadatas, documents={"a": text}
    )
    assert [passage.text for passage in passages] == pieces
