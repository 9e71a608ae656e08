"""Which errors of providers mean that the prompt is too long."""

import pytest

from oprag.calls import is_window_overflow


class ContextOverflowError(Exception):
    """Named as LangChain names it."""


class DatedOverflowError(ContextOverflowError):
    pass


class StatusError(Exception):
    def __init__(self, message, *, code=None, status_code=400):
        super().__init__(message)
        self.code = code
        self.status_code = status_code


@pytest.mark.parametrize(
    "error",
    [
        DatedOverflowError("no words needed"),
        StatusError("too much", code="context_length_exceeded"),
        StatusError("This model's maximum context length is 4096 tokens."),
        StatusError("prompt is too long: 210000 tokens > 200000 maximum"),
        StatusError("input length and `max_tokens` exceed context limit: 190000"),
        StatusError("The input token count (9) exceeds the maximum number of tokens"),
        ValueError("Input is too long for requested model."),
        StatusError("Prompt too large for model with 32768 maximum context length"),
        StatusError("the request exceeds the available context size", status_code=500),
        StatusError("Please reduce the length of the messages or completion."),
        StatusError("`inputs` tokens + `max_new_tokens` must be <= 4096"),
    ],
)
def test_a_prompt_that_is_too_long_is_known(error):
    assert is_window_overflow(error)


@pytest.mark.parametrize(
    "error",
    [
        StatusError(
            "Too many tokens per minute: please reduce the length of the prompt",
            status_code=429,
        ),
        StatusError("Rate limit reached.", code="rate_limit_exceeded", status_code=429),
        StatusError("The context of this request is not allowed", status_code=403),
        TimeoutError("timed out"),
        ValueError("the answer is too long"),
    ],
)
def test_other_errors_are_not_taken_for_it(error):
    assert not is_window_overflow(error)
