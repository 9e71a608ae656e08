"""The page of the architecture says what the code says."""

import pytest

from tests.docs import architecture
from tests.docs.architecture import ELSEWHERE, PAGE, ROOT, decisions, floors, page
from tests.docs.walks import files_of
from tests.test_packaging import PACKAGES


def test_the_page_is_what_the_generator_writes():
    assert PAGE.read_text("utf-8") == page(), "make docs-architecture writes it anew"


@pytest.mark.parametrize(
    ("name", "most"),
    # One of Self-Route: a model, uncalled.
    [("langchain", 26), ("llamaindex-foreign", 28), ("self-route", 42)],
)
def test_a_query_runs_through_few_files(name, most):
    assert len(files_of(name)) <= most


def test_every_room_is_on_a_floor():
    rooms = {
        path.parent.relative_to(ROOT).as_posix()
        for path in (ROOT / "oprag").glob("*/__init__.py")
    }
    files = {
        path.relative_to(ROOT).as_posix() for path in (ROOT / "oprag").glob("[a-z]*.py")
    }
    packages = {*PACKAGES - {"oprag"}, *ELSEWHERE.values()}
    assert {place for floor in floors() for place in floor} == {
        *rooms,
        *files,
        *packages,
    }


def test_every_room_and_every_file_of_the_ground_decides_something():
    places = [place for floor in floors() for place in floor]

    assert list(decisions()) == places
    assert all(all(decided) for decided in decisions().values())


def test_no_decision_is_named_twice():
    named = [decision for decided in decisions().values() for decision in decided]
    assert len(named) == len(set(named))


def test_every_place_says_in_a_sentence_what_it_is_for():
    places = [place for floor in floors() for place in floor]

    assert all(architecture.sentence(place).endswith(".") for place in places)
