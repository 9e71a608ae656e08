"""Checks of the options of evaluations."""

from __future__ import annotations

import pytest

from oprag.errors import InvalidOptionError
from oprag_eval import errors


def test_a_value_that_is_none_of_several_is_refused_with_all_of_them():
    errors.check_one_of("split", "dev", ("dev", "test"))
    with pytest.raises(InvalidOptionError, match="takes one of dev, test") as caught:
        errors.check_one_of("split", "train", ("dev", "test"))
    assert (caught.value.option, caught.value.value) == ("split", "train")
