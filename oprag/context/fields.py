"""Raise our errors, not pydantic's, in components that are pydantic models."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Never

from oprag.errors import (
    InvalidOptionError,
    OpragError,
    invalid_option,
    refuse_unknown,
    refuse_unnamed,
)


class OpragErrorsMixin:
    """Raise our errors for options; name this class before pydantic's.

    Pydantic wraps an error of a validator in its own, whose message shows the values
    that were given: one of them may be a key.
    """

    advice: ClassVar[Mapping[str, str]] = {}
    """Advice for words that are no option here, by the word."""

    def __init__(self, *unnamed: Never, **options: Any) -> None:
        fields = type(self).model_fields  # type: ignore[attr-defined]  # of pydantic
        refuse_unnamed(type(self).__name__, unnamed, fields)
        refuse_unknown(options, fields, self.advice)
        try:
            super().__init__(**options)
        except ValueError as error:
            raise own_error(error) from None

    if not TYPE_CHECKING:  # else type checkers would take any name for an attribute

        def __setattr__(self, name: str, value: Any) -> None:
            """Assign an option, or refuse its value."""
            try:
                super().__setattr__(name, value)
            except ValueError as error:
                raise own_error(error) from None


def own_error(error: ValueError) -> ValueError:
    """Return our error for the first that pydantic found; any other error unchanged."""
    errors = getattr(error, "errors", None)
    if isinstance(error, OpragError) or errors is None:
        return error
    first: Mapping[str, Any] = errors(include_url=False)[0]
    cause = first.get("ctx", {}).get("error")
    if isinstance(cause, ValueError) and isinstance(cause, OpragError):
        return cause
    option = ".".join(map(str, first["loc"]))
    if first["type"] == "missing":
        message = f"{option}= is needed, and was not given."
        return InvalidOptionError(message, option=option, value=None)
    return invalid_option(option, first["input"], f"{first['msg'].rstrip('.')}.")
