"""Each fault of a store fails the test that is named for it; a sound store none."""

import unittest

import pytest

from tests.testing.stores import FAULTS, SoundStore, suite_of


class TestSoundStore(suite_of(SoundStore)):
    """The suite as pytest runs it."""


def run(suite) -> unittest.TestResult:
    case = type("TestStore", (suite, unittest.TestCase), {})
    result = unittest.TestResult()
    unittest.defaultTestLoader.loadTestsFromTestCase(case).run(result)
    return result


def said(suite) -> dict[str, str]:
    result = run(suite)
    return {
        test.id().rpartition(".")[2]: said.strip().rpartition("\n")[2]
        for test, said in (*result.failures, *result.errors, *result.skipped)
    }


def test_unittest_runs_the_suite():
    result = run(suite_of(SoundStore))

    assert result.testsRun > 20
    assert result.wasSuccessful()
    assert not result.skipped


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_fails_the_tests_that_name_it(name):
    kind, names = FAULTS[name]

    failed = said(suite_of(kind))

    assert set(failed) == names
    assert all(message.endswith(".") for message in failed.values())


def test_every_test_of_the_suite_is_failed_by_a_fault():
    names = {name for name in dir(suite_of(SoundStore)) if name.startswith("test_")}

    assert names == set().union(*(failed for _, failed in FAULTS.values()))


def test_what_a_store_cannot_do_is_skipped():
    class TestPoorStore(suite_of(SoundStore)):
        def new_store(self):
            return super().new_store()._replace(delete=None, replace=None, filters=())

    assert said(TestPoorStore) == {
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
    failed = said(suite_of(FAULTS["MakesFloats"][0]))

    assert failed["test_whole_numbers_stay_whole_numbers"].endswith(
        " gave something else for a whole number: 'char_end=96.0'. Store integers as "
        "integers."
    )
