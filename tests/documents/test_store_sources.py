"""A store as a source of full texts, also where it holds several versions of one."""

import pytest

from oprag.documents import DocumentSource, StoreSource, exact_text, rebuild
from oprag.errors import (
    ConflictingPositionsError,
    DocumentNotFoundError,
    IncompleteDocumentError,
    InvalidOptionError,
    PositionWarning,
)
from oprag.metadata import STAMP_KEYS, document_key
from tests.documents.test_whole_text import NAME, annotated, at, inexact, stored
from tests.kit.fake_store import FakeStore


async def test_a_store_is_a_source_of_full_texts():
    text = "one two"
    other = stored("other", ("foreign", at((0, 7))))
    store = FakeStore([*other, *stored(NAME, (text, at((0, 4), (4, 7))))])
    source = StoreSource(store)

    assert isinstance(source, DocumentSource)
    assert source.get(NAME) == text
    assert await source.aget(NAME) == text
    assert source.read("other").text == "foreign"
    assert (await source.aread(NAME)).exact
    keys = [document_key(name) for name in (NAME, NAME, "other", NAME)]
    assert store.asked == [{key: None} for key in keys]


async def test_a_source_never_gives_a_part():
    source = StoreSource(FakeStore(stored(NAME, ("one two", at((0, 4), (4, 7))))[1:]))

    with pytest.raises(IncompleteDocumentError, match="fake store gave 1 of its 2"):
        source.get(NAME)
    with pytest.raises(IncompleteDocumentError):
        await source.aget(NAME)
    with pytest.raises(DocumentNotFoundError, match="in fake store"):
        await source.aget("other")


async def test_options_reach_the_rebuilding():
    parts = ("one       two", at((0, 3), (10, 13))), ("x", at((0, 1)))
    store = FakeStore(annotated(NAME, *parts))
    source = StoreSource(store, exact=False)

    assert source.get(NAME) == "one\n\n     two\n\nx"
    assert not (await source.aread(NAME)).exact
    with pytest.raises(InvalidOptionError, match="does not give the exact text"):
        exact_text(NAME, source.read(NAME))
    with pytest.raises(IncompleteDocumentError):
        StoreSource(store).get(NAME)
    with pytest.raises(IncompleteDocumentError):
        await StoreSource(store).aread(NAME)


def sized(text: str, size: int) -> list:
    """All chunks of a text, of so many characters each."""
    starts = range(0, len(text), size)
    spans = at(*((start, min(start + size, len(text))) for start in starts))
    return stored(NAME, (text, spans), settings=f"{size}")


def test_of_two_sizes_one_is_taken_that_is_complete():
    small, large = sized("all of it", 2), sized("all of it", 4)

    assert rebuild(NAME, [*small, *large]).text == "all of it"
    assert rebuild(NAME, [*small[::-1], *large[1:]]).text == "all of it"
    assert rebuild(NAME, [*small[2:], *large]).exact
    with pytest.raises(IncompleteDocumentError, match="chunks of 2 versions of it"):
        rebuild(NAME, [*small[1:], *large[1:]])


def test_of_two_sizes_one_is_taken_that_is_not_damaged():
    small, large = sized("all of it", 2), sized("all of it", 4)
    large[1] = large[1]._replace(text="XX X")

    assert rebuild(NAME, [*small, *large]).text == "all of it"
    small[1] = small[1]._replace(text="")
    with pytest.raises(ConflictingPositionsError):
        rebuild(NAME, [*small, *large])


def test_of_two_texts_the_complete_one_is_taken():
    old, new = sized("the old text", 5), sized("the new text", 5)

    assert rebuild(NAME, [*old[1:], *new]).text == "the new text"
    assert rebuild(NAME, [*new[1:], *old]).text == "the old text"
    # By number and place they would fit together.
    with pytest.raises(IncompleteDocumentError, match="chunks of 2 versions of it"):
        rebuild(NAME, [old[0], *new[1:]])


@pytest.mark.parametrize("size", [5, 4])
def test_of_two_complete_texts_one_is_given_and_it_is_said(size):
    """Chunks are added before old ones go: an interrupted run leaves both."""
    old, new = sized("the old text", 5), sized("the new text", size)

    with pytest.warns(PositionWarning, match="2 versions"):
        found = rebuild(NAME, [*old, *new])
    with pytest.warns(PositionWarning):
        again = rebuild(NAME, [*new[::-1], *old])

    assert found == again
    assert found.text in {"the old text", "the new text"}


def test_parts_that_changed_places_are_refused():
    chunks = stored(NAME, ("one", at((0, 3))), ("two", at((0, 3))))
    for made, place in zip(chunks, (1, 0), strict=True):
        made.metadata.update(chunk_index=place, part_index=place)

    with pytest.raises(ConflictingPositionsError, match="not in their order"):
        rebuild(NAME, chunks)


def test_chunks_without_the_stamp_are_refused_and_that_is_said():
    chunks = stored(NAME, ("one two", at((0, 4), (4, 7))))
    for key in STAMP_KEYS:
        chunks[0].metadata.pop(key, None)

    for read in (rebuild, inexact):
        with pytest.raises(IncompleteDocumentError, match="no length and hash") as e:
            read(NAME, chunks)
        assert "Index the document again" in str(e.value)
