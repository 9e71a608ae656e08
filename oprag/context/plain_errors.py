"""Our errors in the place of pydantic's, for components that are of its classes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Self

from oprag.errors import InvalidOptionError, OpragError, invalid_option, named


class PlainErrors:
    """Raises oprag's errors where pydantic raises its own; name it before its classes.

    Pydantic's message begins with its own words, shows the input, which may have a
    secret in it, and ends with a link. Its class is not one of ours.
    """

    by_name: ClassVar[str] = "token_budget=8000"
    """How an option is given, for who gives one without its name."""

    used_by: ClassVar[str] = ""
    """How lists are given to it, behind the call that makes it."""

    def __new__(cls, *given: Any, **_: Any) -> Self:
        """Refuse what was given without a name.

        Here, because `__init__` is refused by Python before it can say anything.

        Raises:
            InvalidOptionError: Something was.
        """
        if given:
            many = isinstance(given[0], (list, tuple))
            by_name, used_by = cls.by_name_for(given[0]), cls.used_by if many else ""
            raise unnamed(cls.__name__, given[0], by_name, used_by)
        return super().__new__(cls)

    def __init__(self, **options: Any) -> None:
        try:
            super().__init__(**options)
        except ValueError as error:
            raise refusal(type(self).__name__, error) from None

    @classmethod
    def by_name_for(cls, value: Any) -> str:  # noqa: ARG003 -- components look at it
        """Return how a value that came without a name is given."""
        return cls.by_name

    if not TYPE_CHECKING:  # else type checkers took every name for an attribute

        def __setattr__(self, name: str, value: Any) -> None:
            """Assign, with our errors for a value that is not possible."""
            try:
                super().__setattr__(name, value)
            except ValueError as error:
                raise refusal(type(self).__name__, error) from None


def unnamed(
    component: str, value: Any, by_name: str, used_by: str = ""
) -> InvalidOptionError:
    """Return the error for an argument that has to be given by name.

    Args:
        component: Class name of what was to be made.
        value: What was given.
        by_name: How it is made.
        used_by: How it is used then, where that was meant.
    """
    message = (
        f"{component} takes its arguments by name, and was given {named(value)} "
        f"without one. Write {component}({by_name}){used_by}."
    )
    return InvalidOptionError(message, option=by_name.partition("=")[0], value=value)


def refusal(component: str, error: ValueError) -> ValueError:
    """Return our error for the first thing that pydantic refused.

    Args:
        component: Class name of what was to be made.
        error: A `ValidationError` of pydantic. Any other is returned as it is.
    """
    listed = getattr(error, "errors", None)
    if isinstance(error, OpragError) or not callable(listed):
        return error
    first: Mapping[str, Any] = listed(include_url=False)[0]
    cause = first.get("ctx", {}).get("error")
    if isinstance(cause, ValueError) and isinstance(cause, OpragError):
        return cause
    option = str(next(iter(first["loc"]), ""))
    if not option:
        fault = str(first["msg"]).removeprefix("Value error, ").rstrip(".")
        message = f"{component} cannot be made: {fault}."
        return InvalidOptionError(message, option=component, value=None)
    if first["type"] == "missing":
        message = f"{component} needs {option}=, which is missing. Give {option}=."
        return InvalidOptionError(message, option=option, value=None)
    return invalid_option(option, first["input"], f"{first['msg']}.")
