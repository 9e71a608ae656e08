"""Metadata that every store keeps as it is, and an error for the rest."""

import enum
import json
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oprag.errors import UnreadableFileError
from oprag.indexing.flat import flat_metadata


class Colour(enum.StrEnum):
    RED = "red"


class Size(enum.IntEnum):
    SMALL = 1


def test_strings_numbers_and_booleans_stay_and_none_is_left_out():
    metadata = {"a": "x", "b": 1, "c": 1.5, "d": True, "e": None, "f": ""}

    flat = flat_metadata(metadata, document="a.txt")

    assert flat == {"a": "x", "b": 1, "c": 1.5, "d": True, "f": ""}
    assert type(flat["d"]) is bool


def test_enumerations_become_their_values():
    flat = flat_metadata({"a": Colour.RED, "b": Size.SMALL}, document="a.txt")

    assert [(value, type(value)) for value in flat.values()] == [("red", str), (1, int)]


@pytest.mark.parametrize(
    "value",
    [[], ["a"], {}, {"a": 1}, (1,), b"x", Decimal(1), float("inf"), -(2**63) - 1],
    ids=repr,
)
def test_everything_else_is_an_error_or_left_out(value):
    metadata = {"kept": 1, "other": value}

    with pytest.raises(UnreadableFileError, match="'other'") as caught:
        flat_metadata(metadata, document="a.txt")
    dropped = flat_metadata(metadata, document="a.txt", unsupported_metadata="drop")

    assert caught.value.path == "a.txt"
    assert dropped == {"kept": 1}


def test_reserved_names_count_as_unsupported():
    with pytest.raises(UnreadableFileError, match="reserved"):
        flat_metadata({"doc_id": "x"}, document="a", reserved={"doc_id"})


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(), inner),
    max_leaves=4,
)


@given(st.dictionaries(st.text(max_size=3) | st.integers(), anything, max_size=5))
def test_what_is_kept_is_flat_unchanged_and_kept_again(metadata: dict[Any, Any]):
    flat = flat_metadata(metadata, document="a", unsupported_metadata="drop")

    assert json.loads(json.dumps(flat, allow_nan=False)) == flat
    assert all(metadata[key] == value for key, value in flat.items())
    assert all(type(value) in {str, int, float, bool} for value in flat.values())
    assert flat_metadata(flat, document="a") == flat
