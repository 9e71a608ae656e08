"""What messages show of values: never the key of a client that was given by mistake."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from decimal import Decimal
from pathlib import PurePosixPath

import numpy as np
import pytest

from oprag.errors import invalid_option, written
from oprag.routing import Rung

KEY = "the-very-secret-of-anna"


@dataclass
class Client:
    api_key: str = KEY

    def ask(self) -> None: ...


@pytest.mark.parametrize(
    "value",
    [
        *(0, -1.5, True, None, "abc", b"a", "\n", range(3), int, len),
        *((), [1, "a"], {"a": (1, 2)}, {1, 2}, frozenset({1}), Decimal(1), np.int64(3)),
        *(PurePosixPath("a"), Rung("few", 100)),
    ],
    ids=repr,
)
def test_a_plain_value_is_shown_as_it_is_written(value):
    assert written(value) == repr(value)


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (Client(), "<Client>"),
        ([Client()], "<list>"),
        ({"a": (1, [Client()])}, "<dict>"),
        ({Client().ask: 1}, "<dict>"),
        (Client().ask, "<method>"),
        (functools.partial(len, KEY), "<partial>"),
        (Client, "<class 'tests.errors.test_errors.Client'>"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_of_what_may_hold_a_key_the_class_is_shown(value, shown):
    assert written(value) == shown
    message = invalid_option("order", value, "It takes a word.").message
    assert message == f"order={shown} is not possible. It takes a word."
