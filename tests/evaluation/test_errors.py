"""The branch of errors that evaluations have."""

from __future__ import annotations

import builtins
import pickle
import re

import pytest

from oprag.errors import InvalidOptionError, OpragError, OpragWarning
from oprag.evaluation import errors

DRAWN = re.findall(r"── (\w+) (?:\((\w+)\))?", errors.__doc__)
"""Name and builtin of each, as the tree of the module draws them."""


def test_the_tree_draws_every_error_and_warning():
    defined = {
        name
        for name, value in vars(errors).items()
        if isinstance(value, type) and issubclass(value, (OpragError, OpragWarning))
    }

    assert {name for name, _ in DRAWN} == defined - {"OpragError", "OpragWarning"}


@pytest.mark.parametrize(("name", "builtin"), [pair for pair in DRAWN if pair[1]])
def test_each_is_the_builtin_that_is_drawn_and_survives_pickling(name, builtin):
    kind = getattr(errors, name)
    whole = pickle.dumps(kind("what was found", path="a.csv"))
    error = pickle.loads(whole)  # noqa: S301 -- our own bytes

    assert isinstance(error, OpragError)
    assert isinstance(error, getattr(builtins, builtin))
    assert (error.message, error.path) == ("what was found", "a.csv")


def test_a_value_that_is_none_of_several_is_refused_with_all_of_them():
    errors.check_one_of("split", "dev", ("dev", "test"))
    with pytest.raises(InvalidOptionError, match="takes one of dev, test") as caught:
        errors.check_one_of("split", "train", ("dev", "test"))
    assert (caught.value.option, caught.value.value) == ("split", "train")
