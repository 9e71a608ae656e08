"""Prompts in LangChain: format strings or prompt templates, checked and filled in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from langchain_core.messages import BaseMessage, HumanMessage
from langchain_core.prompts import BasePromptTemplate

from oprag.calls import (
    QA_PROMPT,
    QA_VARIABLES,
    check_prompt,
    check_prompt_text,
    fill_prompt,
    text_of,
    wrong_prompt,
)
from oprag.errors import InvalidOptionError, named
from oprag.units import DIRECT_PROMPT, LONG_PROMPT, PROMPT_VARIABLES, SHORT_PROMPT

Prompt: TypeAlias = str | BasePromptTemplate[Any]

_LONG_READER = {"long": LONG_PROMPT, "short": SHORT_PROMPT, "direct": DIRECT_PROMPT}


def rung_prompts(given: Any, rungs: Mapping[str, bool]) -> dict[str, Prompt]:
    """Return the prompts of Self-Route by rung.

    Args:
        given: As `SelfRouteChain(prompts=)` takes it.
        rungs: By name, whether the rung's prompt must let the model decline.

    Raises:
        InvalidOptionError: A prompt lacks a variable, has another one, or does not
            let the model decline.
    """
    given = QA_PROMPT if given is None else given
    named = isinstance(given, Mapping)
    return {
        rung: _checked(
            given.get(rung, QA_PROMPT) if named else given,
            QA_VARIABLES,
            f"prompts[{rung!r}]" if named else "prompts",
            must_decline=must_decline,
        )
        for rung, must_decline in rungs.items()
    }


def long_prompts(given: Mapping[str, Any]) -> dict[str, Prompt]:
    """Return the prompts of the long reader by call.

    Args:
        given: As `LongReader(prompts=)` takes them.

    Raises:
        InvalidOptionError: A prompt has no such name, lacks a variable, or has
            another one.
    """
    mapping = isinstance(given, Mapping)
    foreign = [name for name in given if name not in PROMPT_VARIABLES]
    if foreign or not mapping:
        found = f"names {foreign[0]!r}" if mapping else f"is {named(given)}"
        names = ", ".join(PROMPT_VARIABLES)
        message = f"prompts= {found}. It takes prompts by their names: {names}."
        raise InvalidOptionError(message, option="prompts", value=given)
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


def _checked(
    prompt: Any, variables: Sequence[str], option: str, *, must_decline: bool = False
) -> Prompt:
    if isinstance(prompt, str):
        return check_prompt(prompt, variables, must_decline=must_decline, option=option)
    if not isinstance(prompt, BasePromptTemplate):
        fault = "is neither a format string nor a prompt template."
        raise wrong_prompt(option, prompt, fault)
    foreign = [name for name in prompt.input_variables if name not in variables]
    if foreign:
        fault = f"has the variables {', '.join(foreign)}, which nothing fills in."
        raise wrong_prompt(option, prompt, fault)
    # What the messages say is checked; a text of the template's own may hold braces.
    values = {name: f"{{{name}}}" for name in prompt.input_variables}
    text = "\n".join(text_of(message) for message in fill(prompt, values))
    missing = [name for name in variables if f"{{{name}}}" not in text]
    check_prompt_text(option, prompt, text, missing=missing, must_decline=must_decline)
    return prompt
