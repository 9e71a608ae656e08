"""Facts about a model that are read without a call, whatever wraps it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import UnionType
from typing import Any, NamedTuple, TypeVar, Union, get_args, get_origin

from langchain_core.messages import BaseMessage
from langchain_core.output_parsers import BaseOutputParser
from langchain_core.runnables import (
    Runnable,
    RunnableAssign,
    RunnableConfig,
    RunnableParallel,
    RunnableSequence,
    RunnableWithFallbacks,
)
from langchain_core.runnables.base import RunnableBindingBase
from langchain_core.runnables.config import merge_configs

from langchain_oprag._options import unwrap
from oprag.calls import DECLINE_TOOL, field_of

_T = TypeVar("_T")


def bind_tool(model: Any, config: RunnableConfig) -> Runnable[Any, Any] | None:
    """Give a model the tool with which it declines, inside all its wrappers.

    Args:
        model: The runnable that is called. Tools that were bound to it are not sent:
            nobody would carry them out.
        config: It decides configurable fields.

    Returns:
        The runnable to call instead; None if the model takes no tools, or if a step
        after it hides that it calls one.
    """
    if isinstance(model, RunnableBindingBase):
        bound = bind_tool(model.bound, merge_configs(model.config, config))
        kwargs = {k: v for k, v in model.kwargs.items() if k not in _OF_TOOLS}
        return bound and model.model_copy(update={"bound": bound, "kwargs": kwargs})
    if isinstance(model, RunnableWithFallbacks):
        given = [bind_tool(each, config) for each in model.runnables]
        changes = {"runnable": given[0], "fallbacks": given[1:]}
        return None if None in given else model.model_copy(update=changes)
    if isinstance(model, RunnableSequence):
        last = bind_tool(model.last, config)
        return last and RunnableSequence(*model.steps[:-1], last)
    inner, config, _ = unwrap(model, config)
    if inner is not model:
        return bind_tool(inner, config)
    try:
        return model.bind_tools([{"type": "function", "function": DECLINE_TOOL}])  # type: ignore[no-any-return]  # a Runnable
    except (AttributeError, NotImplementedError):
        return None


def gives_objects(model: Any) -> bool:
    """Return whether a runnable gives objects instead of text, as far as it says.

    `with_structured_output` and parsers do, whatever is wrapped around them.
    """
    if isinstance(model, RunnableSequence):
        return gives_objects(model.last)
    if isinstance(model, RunnableWithFallbacks):
        return any(map(gives_objects, model.runnables))
    typed = getattr(model, "custom_output_type", None)
    if typed is None and (inner := unwrap(model, {})[0]) is not model:
        return gives_objects(inner)
    if typed is None and isinstance(model, BaseOutputParser):
        typed = model.OutputType
    if isinstance(model, (RunnableParallel, RunnableAssign)):
        return True
    return typed is not None and not _is_text(typed)


def _is_text(typed: Any) -> bool:
    """Return whether all values of a type are texts or messages."""
    if get_origin(typed) in (Union, UnionType):
        return all(map(_is_text, get_args(typed)))
    is_class = isinstance(typed, type) and get_origin(typed) is None
    return is_class and issubclass(typed, (str, BaseMessage))


_OF_TOOLS = ("tools", "tool_choice", "tool_config", "functions", "function_call")
"""Names under which integrations keep the tools that `bind_tools` binds."""
_NAMES = ("model_name", "model", "model_id")
_ANSWER_LIMITS = (
    "max_completion_tokens",
    "max_tokens",
    "max_output_tokens",
    "num_predict",
)
"""Names that integrations give to the longest answer, in tokens."""


class ModelFacts(NamedTuple):
    """Facts about a model that are known without a call."""

    names: set[str]
    """The user's names of the model and its fallbacks; "" for one without a name."""
    window: int | None
    """Tokens that it takes at most, by its profile (LangChain 1.x)."""
    answer_tokens: int | None
    """The longest answer that it is set to give."""


def facts_of(model: Runnable[Any, Any], config: RunnableConfig) -> ModelFacts:
    """Look at the model inside `bind`, `with_retry`, `with_fallbacks` and the like.

    Args:
        model: The runnable that is called. Of fallbacks, the first one counts, with
            the names of all; of a sequence, the first step that is a model.
        config: It decides configurable fields.
    """
    bound: dict[str, Any] = {}
    others: set[str] = set()
    while True:
        model, config, more = unwrap(model, config)
        bound = {**more, **bound}
        if isinstance(model, RunnableWithFallbacks):
            others.update(*(facts_of(each, config).names for each in model.fallbacks))
            model = model.runnable
        elif isinstance(model, RunnableSequence):
            named = (step for step in model.steps if _find_value(step, _NAMES, str))
            model = next(named, model.steps[0])
        else:
            break
    profile = getattr(model, "profile", None)
    window = profile.get("max_input_tokens") if isinstance(profile, Mapping) else None
    return ModelFacts(
        {
            _find_value(bound, ("model",), str)
            or _find_value(model, _NAMES, str)
            or "",
            *others,
        },
        window if _is_said(window, int) else None,
        _find_value(bound, _ANSWER_LIMITS, int)
        or _find_value(model, _ANSWER_LIMITS, int),
    )


def _find_value(holder: Any, names: Iterable[str], kind: type[_T]) -> _T | None:
    """Return the first value of a kind that an object or a mapping has."""
    values = (field_of(holder, name) for name in names)
    return next((value for value in values if _is_said(value, kind)), None)


def _is_said(value: Any, kind: type) -> bool:
    # Some write -1 for "no limit".
    found: Any = type(value)
    return found is kind and bool(value if kind is str else value > 0)
