"""The model's window: what is kept for the answer, and what is left."""

from __future__ import annotations

import pytest

from oprag.calls import PromptSize
from oprag.errors import ContextWindowError


def test_what_is_left_of_the_window_is_room_for_the_context():
    size = PromptSize(lambda values: 150 + len(values["context"]), 1000, 50)

    assert size.room() == 800
    assert size.excess("x" * 800) == 0
    assert size.excess("x" * 801) == 1
    assert PromptSize(len, None, 50).room() is None
    with pytest.raises(ContextWindowError, match="no room") as caught:
        PromptSize(lambda values: 150, 200, 50).room()
    assert caught.value.window == 200


@pytest.mark.parametrize(
    ("windows", "reserved", "expected"),
    [
        ((None, None), (None, None), (None, 256)),
        ((None, 10_000), (None, None), (10_000, 256)),
        ((None, 800), (None, None), (800, 100)),  # an eighth
        ((4_000, 10_000), (None, 700), (4_000, 700)),
        ((4_000, None), (50, 700), (4_000, 50)),
        (({"full": 9_000}, 10_000), (None, 700), (9_000, 700)),
        (({"other": 9_000}, 10_000), (None, 700), (10_000, 700)),
    ],
)
def test_what_the_user_says_of_a_model_comes_before_what_it_says_itself(
    windows, reserved, expected
):
    size = PromptSize.told(len, "full", windows=windows, reserved=reserved)

    assert (size.window, size.reserved) == expected
