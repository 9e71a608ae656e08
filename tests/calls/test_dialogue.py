"""The model's window: what is kept for the answer, and what is left."""

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
