"""Behind our errors stands what clients raised, where no secret is in its words."""

from __future__ import annotations

import copy
import pickle
import traceback
from collections.abc import Callable

import pytest

from oprag.calls import (
    carried,
    hiding_secrets,
    hint_of,
    is_transient,
    is_window_overflow,
)
from oprag.calls.client_errors import errors_behind, said_by
from oprag.errors import ContextWindowError, RedactedError, RoutingError

KEY = "a-key-of-the-user"


class OverloadedError(ConnectionError):
    status_code = 429
    code = "context_length_exceeded"


class MuteError(Exception):
    def __str__(self) -> str:
        raise ValueError("has no words")


def fail(error: BaseException, cause: BaseException | None = None) -> None:
    raise error from cause


def ask(client: Callable[[], None]) -> None:
    """Ask a client, and make an error of ours of what it raises."""
    with hiding_secrets({"api_key": KEY}):
        try:
            client()
        except Exception as error:
            raise RoutingError("The model failed.") from error


def raised(client: Callable[[], None]) -> RoutingError:
    with pytest.raises(RoutingError) as caught:
        ask(client)
    return caught.value


def shown(error: BaseException) -> str:
    behind = [f"{one.args}" for one in errors_behind(error)]
    return "".join([*traceback.format_exception(error), *behind])


def test_a_cause_without_secrets_is_the_error_itself():
    inner = ValueError("The server is at home.")
    error = OverloadedError("Too many requests.")

    found = raised(lambda: fail(error, inner))

    assert found.__cause__ is error
    assert found.__context__ is error
    assert found.__cause__.__cause__ is inner


def in_an_argument() -> None:
    fail(OverloadedError("No.", {"sent": KEY}))


def in_the_cause() -> None:
    fail(OverloadedError("No."), ValueError(KEY))


def in_what_was_handled() -> None:
    try:
        fail(ValueError(KEY))
    except ValueError:
        fail(OverloadedError("No."))


def in_what_is_not_printed() -> None:
    try:
        fail(ValueError(KEY))
    except ValueError:
        raise OverloadedError("No.") from None


def in_an_error_of_ours_behind() -> None:
    try:
        fail(ValueError(KEY))
    except ValueError as error:
        raise ContextWindowError("Too long.") from error


def in_the_source() -> None:
    raise OverloadedError("No.") from ValueError(len("a-key-of-the-user"))


def among_several() -> None:
    group = ValueError("two failed")
    group.exceptions = (ValueError("1"), ValueError(KEY))  # type: ignore[attr-defined]
    fail(OverloadedError("No."), group)


def in_a_note() -> None:
    error = OverloadedError("No.")
    error.__notes__ = [f"sent: {KEY}"]
    fail(error)


def in_a_circle() -> None:
    first, second = OverloadedError("No."), ValueError(KEY)
    second.__cause__ = first
    fail(first, second)


@pytest.mark.parametrize(
    "client",
    [
        in_an_argument,
        in_the_cause,
        in_what_was_handled,
        in_what_is_not_printed,
        in_an_error_of_ours_behind,
        in_the_source,
        among_several,
        in_a_note,
        in_a_circle,
    ],
)
def test_a_secret_is_in_nothing_behind_our_error(client):
    error = raised(client)

    assert KEY not in shown(error)
    assert not isinstance(error.__cause__, OverloadedError)
    if isinstance(error.__cause__, RedactedError):
        assert error.__cause__ is error.__context__
        assert "test_causes.OverloadedError: " in str(error.__cause__)
        assert "No." in str(error.__cause__)


def test_what_stands_for_it_is_told_apart_as_it_is():
    def client() -> None:
        fail(OverloadedError(f"{KEY} asks too much"))

    found = raised(client).__cause__

    assert isinstance(found, RedactedError)
    assert found.kinds[:2] == ("OverloadedError", "ConnectionError")
    assert said_by(found) == found.said == "*** asks too much."
    assert is_window_overflow(found)
    assert not is_transient(found)
    found.code = None
    assert is_transient(found)
    found.status_code = None
    assert hint_of(found).startswith("Check that its server runs")
    assert "in client" in shown(found)
    assert copy.copy(found).said == "*** asks too much."


def test_a_context_that_was_not_to_be_printed_still_is_not():
    def without_a_cause() -> None:
        with hiding_secrets({"api_key": KEY}):
            try:
                fail(ValueError("words"))
            except ValueError:
                raise RoutingError("No.") from None

    with pytest.raises(RoutingError) as caught:
        without_a_cause()

    assert "words" in str(caught.value.__context__)
    assert "words" not in "".join(traceback.format_exception(caught.value))


def test_an_error_without_words_is_kept():
    assert isinstance(raised(lambda: fail(MuteError())).__cause__, MuteError)


def test_what_a_client_raises_goes_through_as_it_is():
    error = ValueError(KEY)

    with pytest.raises(ValueError, match=KEY) as caught, hiding_secrets(KEY):
        raise error

    assert caught.value is error


class OneWayError(Exception):
    """Comes out of pickling as something else: it asks for two arguments."""

    def __init__(self, first, second):
        super().__init__(f"{first} and {second}")


def test_an_error_is_sent_to_another_process_or_one_that_stands_for_it():
    plain = ValueError("no")

    assert carried(plain) is plain
    stand_in = carried(OneWayError("this", "that"))
    assert isinstance(stand_in, RedactedError)
    assert "this and that" in str(stand_in)
    assert pickle.loads(pickle.dumps(stand_in)).kinds == stand_in.kinds  # noqa: S301 -- our own
