"""The positions of the chunks of one document, read together."""

import math

import pytest

from oprag import order_context
from oprag.chunk import Hit, Links
from oprag.errors import MissingPositionError
from oprag.metadata import text_hash
from oprag.positions import Identity, read_chunks
from oprag.result_key import WrittenPlace, encode_place
from tests.positions.reading import read_hits, read_positions


@pytest.mark.parametrize(
    "metadata",
    [
        {},
        {"element_id": "9f8e7d"},
        {"chunk_id": "c0ffee"},
        {"chunk_index": "b1946ac92492d234"},
        {"start_index": None},
        {"start_index": math.nan},
        {"page_label": "iv"},
    ],
)
def test_no_usable_position_is_an_error_that_names_the_keys_found(metadata):
    with pytest.raises(MissingPositionError) as caught:
        read_positions([{"title": "x", **metadata}] * 2)
    assert caught.value.keys == tuple(sorted(["title", *metadata]))
    assert isinstance(caught.value, ValueError)


@pytest.mark.parametrize(
    "metadata",
    [
        {},
        {"start_index": -1},
        {"page_label": "iv"},
        {"chunk_index": "b1946ac92492d234"},
    ],
)
@pytest.mark.parametrize("problems", [None, {}])
def test_a_chunk_that_is_alone_in_its_document_needs_no_position(metadata, problems):
    hits = [Hit("one", metadata), Hit("two", metadata), Hit("one", metadata)]
    documents = [Identity(key, key) for key in "aba"]  # one text came twice

    chunks = read_chunks(hits, documents, problems=problems)
    assert not problems
    assert [(c.position, c.span) for c in chunks] == [(None, None)] * 3


PLACES: tuple[dict[str, int], ...] = ({}, {"start_index": 0}, {"start_index": 40})


def test_a_text_that_came_again_without_a_position_is_the_chunk_that_has_one():
    texts = ["The end.", "It begins.", "The end."]
    metadatas = [{"source": "a.txt"} | place for place in PLACES]

    passages = order_context(texts, metadatas)

    assert [passage.text for passage in passages] == ["It begins.", "The end."]
    assert [passage.rank for passage in passages] == [1, 0]
    with pytest.raises(MissingPositionError):  # another text has no twin
        order_context(["Nowhere.", *texts[1:]], metadatas)


@pytest.mark.parametrize(
    ("key", "values"),
    [("seq", (3, 1, 2)), ("pages", ([5, 6], [1, 2], [3])), ("page", ([5], [1], [3]))],
)
def test_a_key_with_another_number_on_each_chunk_is_named_as_the_way_out(key, values):
    metadatas = [{"source": "a.txt", key: value} for value in values]

    with pytest.raises(MissingPositionError, match=f"position_keys='{key}'"):
        order_context(["c", "a", "b"], metadatas)
    passages = order_context(["c", "a", "b"], metadatas, position_keys=key)
    assert "".join(passage.text for passage in passages) == "abc"


def test_links_number_no_result_that_has_no_place():
    links = [Links(None, "1"), Links("0", None)]
    hits = [Hit(f"tx{i}", {}, id=str(i), links=link) for i, link in enumerate(links)]
    written = WrittenPlace(0, text_hash("on page 3"), part=3, problem="not_located")
    hits.append(Hit("on page 3", {"oprag": encode_place(written)}))

    chunks = read_hits(hits)
    assert [chunk.position for chunk in chunks] == [(0, 0), (0, 1), (3,)]
    assert [chunk.is_linked for chunk in chunks] == [True, True, False]
