"""Positions by the keys and functions that the user gives."""

import math
from dataclasses import dataclass
from decimal import Decimal
from types import SimpleNamespace

import numpy as np
import pytest

from oprag import order_context
from oprag.chunk import Hit
from oprag.context import write_place
from oprag.errors import MissingPositionError, PositionError
from tests.positions.reading import read_hits, read_positions


def test_a_named_position_may_be_an_attribute():
    hit = Hit("text", {}, subject=SimpleNamespace(abs_idx=4))

    assert read_hits([hit], position_keys="abs_idx")[0].position == (4,)


def test_a_callable_may_give_a_tuple_of_positions():
    read = read_positions(
        [{"v": 2, "c": "11"}], position_keys=lambda m: (m["v"], m["c"])
    )
    assert read == [(2, 11)]


def test_named_numbers_are_not_mixed_with_the_characters_of_a_result():
    (result,) = order_context(["One."], [{"source": "d", "start_index": 500}])
    place = {"source": "d", "v": 2, "c": 1, "p": 1}
    metadatas = [write_place(result, place), place | {"v": 1}]

    read = order_context(["One.", "Two."], metadatas, position_keys=["v", "c", "p"])
    assert [passage.text for passage in read] == ["Two.", "One."]


@pytest.mark.parametrize("value", [12.5, np.float32(12.5), Decimal("12.5")])
def test_fractions_are_positions_where_the_user_names_the_key(value):
    assert read_positions([{"seconds": value}], position_keys="seconds") == [(12.5,)]


def test_a_fraction_is_no_character():
    (chunk,) = read_hits([Hit("a", {"start_index": 2.5})], position_keys="start_index")
    assert chunk.span is None


def test_a_known_character_key_says_where_a_chunk_begins_alone():
    hit = Hit("text", {"v": 2, "start_index": 5, "Header 1": "x"})

    (chunk,) = read_hits([hit], position_keys=["v", "start_index"])
    assert chunk.position == (2, 5, 5)
    assert chunk.span == (5, 5)
    assert not chunk.exact


@pytest.mark.parametrize("value", [None, "x", -1, math.nan, [], ["x"]])
def test_a_named_value_that_is_no_number_is_an_error(value):
    with pytest.raises(MissingPositionError, match="position_keys='abs'"):
        read_positions([{"abs": 1}, {"abs": value}], position_keys="abs")


def test_values_without_a_hash_are_an_error_that_says_how_to_get_one():
    @dataclass(order=True)
    class Version:
        number: int

    with pytest.raises(PositionError, match=r"be hashed \(Version\)") as raised:
        read_positions(
            [{"v": 2}, {"v": 1}], position_keys=lambda metadata: Version(metadata["v"])
        )
    assert raised.value.kind == "not_comparable"
