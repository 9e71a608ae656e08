"""What a chat model says of itself: its name, its window, the room for its answer."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple, TypeVar

from langchain_core.runnables import (
    Runnable,
    RunnableConfig,
    RunnableSequence,
    RunnableWithFallbacks,
)
from langchain_core.runnables.base import RunnableBindingBase
from langchain_core.runnables.config import merge_configs
from langchain_core.runnables.configurable import DynamicRunnable

_NAMES = ("model_name", "model", "model_id")
_ANSWER_LIMITS = (
    "max_completion_tokens",
    "max_tokens",
    "max_output_tokens",
    "num_predict",
)
"""How integrations name the longest answer, in tokens."""


class ModelFacts(NamedTuple):
    """What is known of a model without asking it."""

    name: str | None
    """As the user named it."""
    window: int | None
    """Tokens that it takes at most, by its profile (LangChain 1.x)."""
    answer_tokens: int | None
    """The longest answer that it was told to give."""


def facts_of(model: Runnable[Any, Any], config: RunnableConfig) -> ModelFacts:
    """Look at the model inside `bind`, `with_retry`, `with_fallbacks` and the like.

    Args:
        model: The runnable that is called. Of fallbacks the first counts, of a
            sequence the first step that is a model.
        config: It decides configurable fields.
    """
    bound: dict[str, Any] = {}
    while True:
        if isinstance(model, RunnableBindingBase):
            bound = {**model.kwargs, **bound}
            config = merge_configs(model.config, config)
            model = model.bound
        elif isinstance(model, RunnableWithFallbacks):
            model = model.runnable
        elif isinstance(model, DynamicRunnable):
            model, config = model.prepare(config)
        elif isinstance(model, RunnableSequence):
            named = (step for step in model.steps if _name(None, step))
            model = next(named, model.steps[0])
        else:
            break
    profile = getattr(model, "profile", None)
    window = profile.get("max_input_tokens") if isinstance(profile, Mapping) else None
    limits = [bound.get(name) for name in _ANSWER_LIMITS]
    limits += [getattr(model, name, None) for name in _ANSWER_LIMITS]
    return ModelFacts(
        _name(bound.get("model"), model), _number(window), _first(map(_number, limits))
    )


def _name(bound: Any, model: Any) -> str | None:
    names = [bound, *(getattr(model, name, None) for name in _NAMES)]
    return _first(name if isinstance(name, str) else None for name in names)


def _number(value: Any) -> int | None:
    # Some write -1 for "no limit".
    return value if type(value) is int and value > 0 else None


_T = TypeVar("_T")


def _first(values: Iterable[_T | None]) -> _T | None:
    """The first that says something."""
    return next((value for value in values if value), None)
