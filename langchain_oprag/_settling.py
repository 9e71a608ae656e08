"""Options of Self-Route that make sense together only."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from langchain_core.language_models import BaseChatModel
from langchain_core.runnables import Runnable

from langchain_oprag._self_route_prompts import Prompts
from oprag.errors import InvalidOptionError
from oprag.routing import DeclineDetector, DeclineRules, Rung, as_rungs

if TYPE_CHECKING:
    from langchain_oprag._self_route_options import SelfRouteOptions


class Settled(NamedTuple):
    """What the options come to."""

    rungs: tuple[Rung, ...]
    rules: DeclineRules
    prompts: Prompts


def settle(options: SelfRouteOptions) -> Settled:
    """Read rungs, rules and prompts, checked against one another.

    Pydantic keeps an assigned value that only a validator of the whole refuses, so
    that every question comes by here as well.

    Raises:
        InvalidOptionError: They contradict one another.
    """
    rungs = as_rungs(options.rungs)
    names = [rung.name for rung in rungs]
    _check_names("rung_llms", options.rung_llms, names)
    if isinstance(options.max_context_tokens, Mapping):
        _check_names("max_context_tokens", options.max_context_tokens, names)
    if options.documents is None and any(rung.full for rung in rungs):
        message = (
            'The rung "full" needs documents=: a mapping from document names to full '
            "texts, a function, a folder or a BaseStore. Without it, give rungs= "
            'without "full".'
        )
        raise InvalidOptionError(message, option="documents", value=None)
    for rung in rungs if options.structured_output else ():
        _check_structured(rung, model_of(options, rung))
    rules = DeclineDetector(options.sentinel, rules=options.decline_rules).rules
    prompts = Prompts(
        options.prompts or {},
        names,
        sentinels=rules.sentinels,
        structured=options.structured_output,
    )
    return Settled(rungs, rules, prompts)


def model_of(options: SelfRouteOptions, rung: Rung) -> Runnable[Any, Any]:
    """The model that a rung asks."""
    return (options.rung_llms or {}).get(rung.name, options.llm)


def _check_structured(rung: Rung, model: Runnable[Any, Any]) -> None:
    if not isinstance(model, BaseChatModel):
        message = (
            f"structured_output=True needs the chat model itself, and rung "
            f"{rung.name!r} has a {type(model).__name__}. Give the model without "
            "with_retry, bind and the like; set retries on the model."
        )
        raise InvalidOptionError(message, option="structured_output", value=True)


def _check_names(
    option: str, given: Mapping[str, Any] | None, names: Sequence[str]
) -> None:
    foreign = [name for name in given or {} if name not in names]
    if foreign:
        message = (
            f"{option} names the rungs {foreign!r}, which do not exist. The rungs "
            f"are: {', '.join(names)}."
        )
        raise InvalidOptionError(message, option=option, value=given)
