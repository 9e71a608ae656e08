"""The prompts of the long reader in LangChain: format strings or prompt templates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from langchain_core.messages import BaseMessage, HumanMessage
from langchain_core.prompts import BasePromptTemplate

from langchain_oprag._replies import text_of
from oprag.calls import check_prompt, fill_prompt
from oprag.errors import InvalidOptionError
from oprag.units import DIRECT_PROMPT, LONG_PROMPT, PROMPT_VARIABLES, SHORT_PROMPT, Call

_BUILT_IN = {"long": LONG_PROMPT, "short": SHORT_PROMPT, "direct": DIRECT_PROMPT}


class LongPrompts:
    """The prompts of all calls, checked.

    Args:
        given: As `LongReader(prompts=)` takes them.

    Raises:
        InvalidOptionError: A prompt has no such name, lacks a variable, or has
            another one.
    """

    def __init__(self, given: Mapping[str, Any]) -> None:
        for name, prompt in given.items():
            if name not in PROMPT_VARIABLES:
                known = ", ".join(PROMPT_VARIABLES)
                message = f"prompts= has no {name!r}. It takes {known}."
                raise InvalidOptionError(message, option="prompts", value=given)
            _check(prompt, PROMPT_VARIABLES[name], f"prompts[{name!r}]")
        self._prompts = {**_BUILT_IN, **given}

    def messages(self, call: Call) -> list[BaseMessage]:
        """Fill the prompt of a call in."""
        prompt = self._prompts[call.name]
        if isinstance(prompt, str):
            return [HumanMessage(fill_prompt(prompt, **call.values))]
        messages: list[BaseMessage] = prompt.format_prompt(**call.values).to_messages()
        return messages


def _check(prompt: Any, variables: Sequence[str], option: str) -> None:
    if isinstance(prompt, str):
        check_prompt(prompt, variables, option=option)
        return
    if not isinstance(prompt, BasePromptTemplate):
        kind = type(prompt).__name__
        message = f"{option} is a {kind}. It takes a format string or a template."
        raise InvalidOptionError(message, option=option, value=prompt)
    foreign = [name for name in prompt.input_variables if name not in variables]
    fault = f"has {foreign}, which nothing fills in."
    if not foreign:
        filled = {name: f"<the {name}>" for name in variables}
        messages = prompt.format_prompt(**filled).to_messages()
        text = "\n".join(text_of(message) for message in messages)
        missing = [name for name in variables if filled[name] not in text]
        if not missing:
            return
        fault = f"lacks {missing}."
    message = f"{option} {fault} It has to have {', '.join(variables)}, and no other."
    raise InvalidOptionError(message, option=option, value=prompt)
