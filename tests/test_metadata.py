"""Ids of chunks, which anyone can make again, and numbers in metadata."""

import hashlib
import math
import uuid
from decimal import Decimal
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oprag.metadata import (
    as_number,
    chunk_id,
    document_key,
    document_version,
    make_indexed_id,
    make_joined_id,
    make_named_id,
    version_settings,
    version_text,
)
from oprag.splitting import splitter_settings

KEY = document_key("a.txt")


@given(
    st.text(max_size=20),
    st.integers(0, 10**9),
    st.sampled_from(["", "a1b2c3-0123456789"]),
    st.none() | st.integers(0, 99),
    st.integers(0, 99),
)
def test_an_id_is_the_uuid_of_what_tells_a_chunk_from_all_others(
    name, index, version, part, offset
):
    number = "" if part is None else part
    named = f"{document_key(name)}/{version}/{number}/{offset}/{index}"
    own = chunk_id(name, index, version=version, part=part, offset=offset)
    assert own == str(uuid.uuid5(uuid.NAMESPACE_OID, named))


def test_a_key_is_16_hex_digits_of_the_name():
    assert document_key("a.txt") == hashlib.sha256(b"a.txt").hexdigest()[:16]


@pytest.mark.parametrize(
    ("settings", "texts"),
    [("tokens 9", ["text"]), ("tokens 8", ["texts"]), ("tokens 8", ["te", "xt"])],
)
def test_other_settings_and_other_texts_are_another_version(settings, texts):
    version = document_version("tokens 8", ["text"])

    other = document_version(settings, texts)

    assert other != version
    same_settings = version_settings(other) == version_settings(version)
    assert same_settings == (settings == "tokens 8")
    assert (version_text(other) == version_text(version)) == (texts == ["text"])


def test_settings_are_named_the_same_way_on_every_run():
    facts = 9, None, [len, "a"], {"b": object(), "a": 1.5}, partial(sorted, 2)

    assert splitter_settings(*facts) == (
        "9 None [builtins.len, 'a'] {'a': 1.5, 'b': builtins.object} builtins.sorted 2"
    )


def test_what_is_joined_has_an_id_of_its_own_that_is_always_the_same():
    ids = [
        make_joined_id("ab"),
        make_joined_id("ba"),
        make_joined_id(["ab"]),
        make_joined_id("ab", [(0, 3)]),
    ]

    assert ids[0] == make_joined_id("ab")
    assert len({*ids, "a", "b", "ab"}) == 7


PLACED = {"source": "a.txt", "doc_key": KEY, "chunk_index": 3, "char_start": 30}


def test_the_id_of_a_chunk_beside_is_computed_where_the_metadata_are_the_same():
    beside = {**PLACED, "chunk_index": 4, "char_start": 40, "token_count": 9}

    assert make_indexed_id(PLACED, 4) == make_indexed_id(beside, 4)
    assert (
        make_indexed_id(PLACED, 3)
        == make_indexed_id(beside, 3)
        != make_indexed_id(PLACED, 4)
    )
    told = {**PLACED, "start_index": 30}
    assert make_indexed_id(told, 4) == make_indexed_id({**beside, "start_index": 40}, 4)


@pytest.mark.parametrize(
    "change",
    [
        {"author": "Swift"},
        {"start_index": 31},
        {"part_index": 0},
        {"doc_version": "123456-123456789012"},
        {"doc_uri": "b.txt"},
    ],
)
def test_with_other_metadata_a_chunk_has_another_id(change):
    assert make_indexed_id({**PLACED, **change}, 3) != make_indexed_id(PLACED, 3)


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_the_id_of_a_name_is_the_uuid_of_it(name):
    assert make_named_id(name) == str(uuid.uuid5(uuid.NAMESPACE_OID, name))


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (0, 0),
        (7, 7),
        (2**53 + 1, 2**53 + 1),
        (7.0, 7),
        ("7", 7),
        (" 10 ", 10),
        (np.int64(7), 7),
        (np.float32(7), 7),
        (Decimal(7), 7),
        (Decimal("NaN"), None),
        (7j, None),
        (np.array([7]), None),
        (-1, None),
        (-1.0, None),
        ("-1", None),
        (7.5, None),
        (math.nan, None),
        (math.inf, None),
        (1e308, None),
        (10**400, None),
        (True, None),
        (None, None),
        ("iv", None),
        ("", None),
        ("٣", None),  # a digit, but not an ASCII one
        ("d41d8cd98f00b204", None),
        ("1234567890123456", None),  # 16 digits: an id, not a place
        ([7], None),
    ],
)
def test_what_is_a_position_and_what_is_not(value, expected):
    assert as_number(value) == expected
