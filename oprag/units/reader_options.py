"""The options of the long reader: what is said of them, and what they can be."""

from __future__ import annotations

from typing import Any

from oprag.calls import CALL_DESCRIPTIONS, as_prices, check_count
from oprag.context import DESCRIPTIONS, check_option
from oprag.units.long_prompts import format_examples

READER_DESCRIPTIONS = {
    "examples": "Examples that the second call is given, 0 to 8.",
    "one_call_below": "A context of fewer tokens takes one call; 0: always two.",
    **CALL_DESCRIPTIONS,
    "separator": "Put between units.",
    "token_counter": DESCRIPTIONS["token_counter"],
}
"""What is said of the options that the long reader has in both frameworks."""

_LEAST = {"one_call_below": 0, "max_context_tokens": 1, "answer_tokens": 1}
"""The least number that an option takes."""


def check_reader_option(option: str, value: Any) -> None:
    """Make sure that an option has a value that is possible.

    Args:
        option: Its name. Those of a framework are not looked at.
        value: What was given.

    Raises:
        InvalidOptionError: It is not possible.
    """
    if option == "prices":
        as_prices(value)
    elif option == "examples":
        format_examples(value)
    elif option in _LEAST:
        check_count(option, value, _LEAST[option])
    else:
        check_option(option, value)
