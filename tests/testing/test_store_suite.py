"""Each fault of a store fails the test that is named for it; a sound store none."""

from __future__ import annotations

import unittest

import pytest

from oprag.testing import failures
from oprag.testing.samples import CHUNKS
from tests.testing import stores
from tests.testing.stores import SoundStore, suite_of

ORDER = "what_is_found_stands_in_order_however_it_was_added"
WHOLE = "documents_come_back_as_they_were_split"
REPLACED = "a_replaced_document_leaves_nothing_stale"
VERSIONS = "all_versions_of_a_document_come"
FILTERED = "chunks_are_read_through_the_filter_of_a_search"

FAULTS = {
    stores.DropsMetadata: ["metadata_comes_back", WHOLE],
    stores.MakesFloats: ["whole_numbers_stay_whole_numbers"],
    stores.StopsAt100: ["nothing_is_cut_off_at_a_limit"],
    stores.SearchesFor10: [
        "a_search_finds_as_many_as_asked_for",
        "a_search_keeps_to_its_filter",
        ORDER,
    ],
    stores.IgnoresTheSearchsFilter: ["a_search_keeps_to_its_filter"],
    stores.FiltersTooLate: ["a_search_keeps_to_its_filter"],
    stores.ReadsForEveryone: [FILTERED],
    stores.CutsTexts: ["texts_come_back_character_for_character", WHOLE, ORDER],
    stores.MixesUpTexts: [WHOLE, ORDER],
    stores.MakesIds: ["ids_come_back"],
    stores.StampsAnew: ["metadata_comes_back"],
    stores.DoublesRows: ["no_chunk_comes_twice", "chunks_are_read_by_their_numbers"],
    stores.LosesTheLastChunk: [
        "no_chunk_is_missing",
        "nothing_is_cut_off_at_a_limit",
        FILTERED,
        REPLACED,
        WHOLE,
        VERSIONS,
        "chunks_of_one_text_are_not_one",
        "white_space_is_a_chunk_too",
    ],
    stores.GivesHalfWhenAwaited: [
        "awaited_it_gives_the_same",
        "chunks_are_read_by_their_ids",
        FILTERED,
    ],
    stores.NumbersFromOne: [
        "chunks_are_read_by_their_numbers",
        "nothing_is_cut_off_at_a_limit",
        FILTERED,
        VERSIONS,
    ],
    stores.FindsWhatWasDeleted: ["deleted_chunks_are_gone", REPLACED],
    stores.RemembersWhatItFetched: [
        "deleted_chunks_are_gone",
        REPLACED,
        "a_replaced_chunk_leaves_nothing_stale",
    ],
    stores.KeepsTheFirst: ["a_replaced_chunk_leaves_nothing_stale"],
    stores.DeletesDocuments: ["deleted_chunks_are_gone", REPLACED],
    stores.SharesABuffer: ["threads_read_at_once"],
    stores.AwaitsNumbersForEveryone: [FILTERED],
    stores.FetchesIdsForEveryone: [FILTERED],
    stores.FetchesOneId: ["chunks_are_read_by_their_ids"],
    stores.CountsWhatItOnceHeld: ["chunks_are_read_by_their_ids"],
    stores.Takes100Numbers: ["nothing_is_cut_off_at_a_limit"],
    stores.HasARowForEachText: ["chunks_of_one_text_are_not_one"],
    stores.DropsWhiteSpace: ["white_space_is_a_chunk_too"],
    stores.FetchesOneVersion: [VERSIONS],
    stores.HasOneFilter: ["filters_add_up"],
    stores.TakesAnyFilter: ["a_filter_that_cannot_be_read_is_not_taken"],
}
"""The tests that fail, first the one whose name says what is wrong."""


class TestSoundStore(suite_of(SoundStore)):
    """The suite as pytest runs it."""


def test_a_sound_store_passes_without_pytest():
    assert failures(suite_of(SoundStore)) == {}


def test_unittest_runs_the_suite():
    case = type("TestStore", (suite_of(SoundStore), unittest.TestCase), {})

    result = unittest.TestResult()
    unittest.defaultTestLoader.loadTestsFromTestCase(case).run(result)

    assert result.testsRun > 20
    assert result.wasSuccessful()
    assert not result.skipped


@pytest.mark.parametrize("kind", FAULTS, ids=lambda kind: kind.__name__)
def test_a_fault_fails_the_tests_that_name_it(kind):
    failed = failures(suite_of(kind))

    assert set(failed) == {f"test_{name}" for name in FAULTS[kind]}
    assert all(message.endswith(".") for message in failed.values())


def test_every_faulty_store_is_tried():
    kinds = {k for k in vars(stores).values() if isinstance(k, type)}

    assert {k for k in kinds if issubclass(k, SoundStore)} == {SoundStore, *FAULTS}


def test_every_test_of_the_suite_is_failed_by_a_fault():
    names = {name for name in dir(suite_of(SoundStore)) if name.startswith("test_")}
    failed = {f"test_{name}" for named in FAULTS.values() for name in named}

    assert names == failed


def test_what_a_store_cannot_do_is_skipped():
    class TestPoorStore(suite_of(SoundStore)):
        def new_store(self):
            return super().new_store()._replace(delete=None, replace=None, filters=())

    skipped = {}
    for name in dir(TestPoorStore):
        if name.startswith("test_"):
            try:
                getattr(TestPoorStore(), name)()
            except unittest.SkipTest as reason:
                skipped[name] = str(reason)

    assert skipped == {
        "test_a_replaced_chunk_leaves_nothing_stale": "the store does not replace "
        "chunks",
        "test_a_replaced_document_leaves_nothing_stale": "the store cannot delete",
        "test_a_search_keeps_to_its_filter": "the store has no filters",
        "test_chunks_are_read_through_the_filter_of_a_search": "the store has no "
        "filters",
        "test_deleted_chunks_are_gone": "the store cannot delete",
        "test_filters_add_up": "the store has no filters",
    }


def test_a_message_says_what_was_found_and_what_to_change():
    failed = failures(suite_of(stores.MakesFloats))

    assert failed["test_whole_numbers_stay_whole_numbers"].endswith(
        " gave something else for a whole number: 'char_end=96.0'. Store integers as "
        "integers."
    )


def test_no_two_samples_are_alike_and_none_is_blank():
    texts = [chunk.text for chunk in CHUNKS]

    assert len({*texts, *(text.strip() for text in texts)}) >= len(set(texts))
    assert len(set(texts)) == len(texts)
    assert all(text.strip() for text in texts)
