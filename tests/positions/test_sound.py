"""Chunks of which nothing is doubtful are what is read one by one."""

from __future__ import annotations

import warnings

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oprag import order_context
from oprag.chunk import Hit
from oprag.errors import OpragError
from oprag.positions import (
    check_positions,
    read_chunks,
    read_documents,
    sound_chunks,
    within_one_version,
    without_duplicates,
)
from oprag.positions.validity import overlaps_agree
from tests.effort import cases

TEXT = "One two. Three four five. Six.\n\nSeven eight. Nine ten, eleven."


def _hit(start=0, end=8, **more):
    metadata = {"doc_key": "d", "char_start": start, "char_end": end, **more}
    return Hit(TEXT[start:end], metadata, source=object(), score=0.5)


def _one_by_one(hits):
    chunks = read_chunks(hits, read_documents(hits))
    return check_positions(within_one_version(without_duplicates(chunks)))


@st.composite
def _hits(draw):
    """Chunks of a document or two, mostly as oprag's splitters write them."""
    hits = []
    odd = draw(st.booleans())
    parted = draw(st.booleans())
    for _ in range(draw(st.integers(1, 8))):
        start = draw(st.integers(0, len(TEXT) - 1))
        end = draw(st.integers(start + 1, len(TEXT)))
        hit = _hit(start, end, doc_key=draw(st.sampled_from("de")), source="a.txt")
        if parted:
            hit.metadata["part_index"] = draw(st.integers(0, 1))
        if draw(st.booleans()):
            hit.metadata["doc_version"] = "1-5"
        if odd:
            change = draw(
                st.sampled_from(
                    [
                        {},
                        {"doc_version": "1-6"},
                        {"doc_version": "2-5"},
                        {"doc_version": ["1-5"]},
                        {"doc_version": -1},
                        {"doc_version": -1.0},
                        {"char_start": float(start)},
                        {"char_end": end + 1},
                        {"char_spans": "0-3,5-9"},
                        {"part_index": "7"},
                        {"doc_key": ""},
                        {"source": ["a.txt"]},
                    ]
                )
            )
            hit.metadata.update(change)
        if odd and draw(st.integers(0, 9)) == 0:
            hit = hit._replace(text=hit.text.upper())
        hits.append(hit)
    return hits


@given(_hits())
@settings(max_examples=cases(500))
def test_what_is_read_by_columns_is_what_is_read_one_by_one(hits):
    found = sound_chunks(hits)

    if found is not None:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            expected = _one_by_one(hits)
        assert list(found) == expected
        assert [found[n] for n in range(len(found))] == expected
        assert [*found[1:]] == expected[1:]
        assert [chunk.rank for chunk in expected] == [*found.ranks]
        assert all(a.source is b.source for a, b in zip(found, expected, strict=True))


class _Told(dict):
    """Metadata that are not read by columns."""


@given(
    _hits(),
    st.sampled_from(["top_k", "budget", "segments", "expand", "recall"]),
    st.sampled_from([{}, {"top_n": 2}, {"order": "score"}, {"overflow": "skip"}]),
    st.sampled_from([8, 20, 60]),
)
@settings(max_examples=cases(400))
def test_a_context_is_the_same_whichever_way_its_chunks_are_read(
    hits, selection, more, budget
):
    options = {"selection": selection, "token_budget": budget, "token_counter": len}

    def context(kind):
        metadatas = [kind(hit.metadata) for hit in hits]
        texts = [hit.text for hit in hits]
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            try:
                found = order_context(texts, metadatas, **options, **more)
            except OpragError as error:
                found = [type(error), str(error)]
        return found, [str(each.message) for each in told]

    assert context(dict) == context(_Told)


def test_chunks_of_two_sizes_and_several_documents_are_sound():
    hits = [
        _hit(9, 26),
        _hit(0, 26),
        _hit(9, 26),
        _hit(0, 8, doc_key="e"),
        _hit(20, 40),
    ]

    found = sound_chunks(hits)

    assert found is not None
    assert [c.rank for c in found] == [0, 1, 3, 4]
    assert [c.text for c in found] == [hits[n].text for n in (0, 1, 3, 4)]


def test_the_pages_of_a_document_are_texts_of_their_own():
    hits = [_hit(0, 8, part_index=1), _hit(0, 26, part_index=0)]
    hits[0] = hits[0]._replace(text="Page two")

    found = sound_chunks(hits)

    assert found is not None
    assert [c.position for c in found] == [(1, 0, 8), (0, 0, 26)]


@pytest.mark.parametrize(
    "change",
    [
        {"doc_version": "1-6"},
        {"doc_version": -1.0},
        {"char_start": 1},
        {"char_start": "0"},
        {"char_start": True},
        {"char_end": 9},
        {"char_spans": "0-4,6-8"},
        {"part_index": 1},
        {"doc_key": "None"},
        {"doc_key": 7},
    ],
    ids=str,
)
def test_where_one_is_doubtful_none_is_read_by_columns(change):
    others = [_hit(9, 26, doc_version="1-5"), _hit(26, 31, doc_version="1-5")]

    assert sound_chunks([*others, _hit(0, 8, doc_version="1-5")]) is not None
    assert (
        sound_chunks([*others, _hit(0, 8, **{"doc_version": "1-5"} | change)]) is None
    )


def test_where_metadata_may_make_up_values_none_is_read_by_columns():
    hit = _hit()
    assert sound_chunks([hit._replace(metadata=_Told(hit.metadata))]) is None


_SPANS = st.lists(
    st.tuples(st.sampled_from("xy"), st.integers(0, 6), st.text("ab", min_size=1)),
    min_size=1,
    max_size=6,
)


@given(_SPANS)
@settings(max_examples=cases(1_000))
def test_spans_agree_where_each_character_has_one_text(spans):
    scopes = [scope for scope, _, _ in spans]
    starts = [start for _, start, _ in spans]
    texts = [text for _, _, text in spans]
    ends = [start + len(text) for start, text in zip(starts, texts, strict=True)]
    said = {
        (scope, start + at, character)
        for scope, start, text in spans
        for at, character in enumerate(text)
    }

    agree = len(said) == len({(scope, at) for scope, at, _ in said})
    assert overlaps_agree(scopes, starts, ends, texts) is agree
