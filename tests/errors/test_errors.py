"""Values in messages: never the key of a client that was given by mistake."""

import builtins
import functools
import pickle
import re
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path, PurePosixPath

import numpy as np
import pytest

import oprag
from oprag import errors
from oprag.errors import invalid_option, safe_repr
from oprag.routing import Step
from tests.test_packaging import PACKAGES

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
        *(PurePosixPath("a"), Step("few", 100)),
    ],
    ids=repr,
)
def test_a_plain_value_is_shown_as_it_is_written(value):
    assert safe_repr(value) == repr(value)


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
    assert safe_repr(value) == shown
    message = invalid_option("order", value, "It takes a word.").message
    assert message == f"order={shown} is not possible. It takes a word."


def test_there_are_few_classes_and_no_other_place_for_them():
    root = Path(oprag.__file__).parents[1]
    packages = (*PACKAGES, "packages")
    files = [each for name in packages for each in (root / name).rglob("*.py")]
    pattern = re.compile(r"^class ([A-Z]\w*(?:Error|Warning))\(", re.MULTILINE)
    declared = [n for each in files for n in pattern.findall(each.read_text("utf-8"))]

    assert len(declared) == len(set(declared)) <= 23
    assert set(declared) - set(errors.__all__) == {
        "SpendingCapError",
        "BusyError",
        "NoTextError",
    }


DRAWN = re.findall(r"── (\w+) (?:\((\w+)\))?", errors.__doc__ or "")
"""Name and builtin of each, as the tree of the module draws them."""


def test_the_tree_draws_every_error_and_warning():
    classes = {name for name in errors.__all__ if isinstance(vars(errors)[name], type)}

    assert {name for name, _ in DRAWN} == classes - {"OpragError", "OpragWarning"}


@pytest.mark.parametrize(("name", "builtin"), [pair for pair in DRAWN if pair[1]])
def test_each_is_the_builtin_that_is_drawn_and_survives_pickling(name, builtin):
    whole = pickle.dumps(vars(errors)[name]("what was found", kind="k"))
    error = pickle.loads(whole)  # noqa: S301 -- our own bytes

    assert isinstance(error, errors.OpragError)
    assert isinstance(error, vars(builtins)[builtin])
    assert (error.message, error.kind) == ("what was found", "k")
