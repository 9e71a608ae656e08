"""Prompts in LangChain: format strings or prompt templates, checked and filled in."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, TypeAlias

from langchain_core.messages import BaseMessage, HumanMessage
from langchain_core.prompts import BasePromptTemplate

from oprag.calls import (
    QA_VARIABLES,
    check_prompt,
    check_prompt_text,
    fill_prompt,
    qa_prompt,
    text_of,
    wrong_prompt,
)
from oprag.errors import InvalidOptionError, named
from oprag.units import DIRECT_PROMPT, LONG_PROMPT, PROMPT_VARIABLES, SHORT_PROMPT

Prompt: TypeAlias = str | BasePromptTemplate[Any]

HISTORY = "chat_history"
"""The messages that a template of Self-Route may hold besides."""

_LONG_READER = {"long": LONG_PROMPT, "short": SHORT_PROMPT, "direct": DIRECT_PROMPT}


def rung_prompts(
    given: Mapping[str, Any],
    rungs: Sequence[str],
    *,
    sentinels: Sequence[str],
    structured: bool,
) -> dict[str, Prompt]:
    """Return the prompts of Self-Route by rung.

    Args:
        given: As `SelfRouteChain(prompts=)` takes them.
        rungs: The rungs' names, in order.
        sentinels: One of these has to occur in the prompts of all rungs but the
            last; the first stands in the built-in one.
        structured: The model declines by a field instead, so none has to occur.

    Raises:
        InvalidOptionError: A prompt has no such name, lacks a variable, has another
            one, or does not let the model decline.
    """
    _check_names(given, ["qa", *(f"{rung}.qa" for rung in rungs)])
    prompts: dict[str, Prompt] = {}
    for number, rung in enumerate(rungs, start=1):
        must_decline = number < len(rungs) and not structured
        name = f"{rung}.qa" if f"{rung}.qa" in given else "qa"
        prompts[rung] = _checked(
            given.get(name, qa_prompt(sentinels[0])),
            QA_VARIABLES,
            f"prompts[{name!r}]",
            sentinels=sentinels if must_decline else (),
            optional=(HISTORY,),
        )
    return prompts


def long_prompts(given: Mapping[str, Any]) -> dict[str, Prompt]:
    """Return the prompts of the long reader by call.

    Args:
        given: As `LongReader(prompts=)` takes them.

    Raises:
        InvalidOptionError: A prompt has no such name, lacks a variable, or has
            another one.
    """
    _check_names(given, PROMPT_VARIABLES)
    return {
        name: _checked(given.get(name, built_in), PROMPT_VARIABLES[name], option)
        for name, built_in in _LONG_READER.items()
        for option in [f"prompts[{name!r}]"]
    }


def fill(prompt: Prompt, values: Mapping[str, Any]) -> list[BaseMessage]:
    """Put values into a prompt."""
    if isinstance(prompt, str):
        return [HumanMessage(fill_prompt(prompt, **values))]
    messages: list[BaseMessage] = prompt.format_prompt(**values).to_messages()
    return messages


def takes_history(prompt: Prompt) -> bool:
    """Say whether a prompt holds the messages of the conversation."""
    return not isinstance(prompt, str) and HISTORY in _variables(prompt)


def _check_names(given: Mapping[str, Any], known: Collection[str]) -> None:
    if not isinstance(given, Mapping):
        message = (
            f"prompts= is {named(given)}. It takes prompts by name: "
            f"prompts={{{next(iter(known))!r}: prompt}}."
        )
        raise InvalidOptionError(message, option="prompts", value=given)
    foreign = [name for name in given if name not in known]
    if foreign:
        message = f"prompts= has no {foreign[0]!r}. Its names are {', '.join(known)}."
        raise InvalidOptionError(message, option="prompts", value=given)


def _checked(
    prompt: Any,
    variables: Sequence[str],
    option: str,
    *,
    sentinels: Sequence[str] = (),
    optional: Sequence[str] = (),
) -> Prompt:
    if isinstance(prompt, str):
        return check_prompt(prompt, variables, sentinels=sentinels, option=option)
    if not isinstance(prompt, BasePromptTemplate):
        found = f"is a {type(prompt).__name__}."
        takes = "It takes a format string or a prompt template."
        raise wrong_prompt(option, prompt, f"{found} {takes}")
    allowed = (*variables, *optional)
    foreign = [name for name in prompt.input_variables if name not in allowed]
    if foreign:
        fault = f"has the variables {', '.join(foreign)}, which nothing fills in."
        may = f"It may have {', '.join(allowed)}."
        raise wrong_prompt(option, prompt, f"{fault} {may}")
    # What the messages say, as a format string, is checked as any other; a text of
    # the template's own may hold braces.
    names = _variables(prompt)
    values: dict[str, Any] = {
        name: f"{{{name}}}" for name in variables if name in names
    }
    values.update({name: [] for name in optional if name in names})
    text = "\n".join(text_of(message) for message in fill(prompt, values))
    missing = [name for name in variables if f"{{{name}}}" not in text]
    check_prompt_text(option, prompt, text, missing=missing, sentinels=sentinels)
    return prompt


def _variables(prompt: BasePromptTemplate[Any]) -> list[str]:
    return [*prompt.input_variables, *prompt.optional_variables]
