"""The prompts of Self-Route in LangChain: format strings or prompt templates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from langchain_core.messages import BaseMessage, HumanMessage
from langchain_core.prompts import BasePromptTemplate

from langchain_oprag._questions import Question
from langchain_oprag._replies import text_of
from oprag.calls import (
    CHOICE_VARIABLES,
    QA_VARIABLES,
    check_prompt,
    choice_prompt,
    fill_prompt,
    format_options,
    qa_prompt,
)
from oprag.errors import InvalidOptionError

_VARIABLES = {"qa": QA_VARIABLES, "choice": CHOICE_VARIABLES}
_HISTORY = "chat_history"


class Prompts:
    """The prompts of all rungs, checked.

    Args:
        given: As `SelfRouteChain(prompts=)` takes them.
        rungs: The rungs' names, in order.
        sentinels: One of these has to occur in the prompts of all rungs but the
            last; the first stands in the built-in ones.
        structured: The model declines by a field instead, so none has to occur.

    Raises:
        InvalidOptionError: A prompt has no such name, lacks a variable, has another
            one, or does not let the model decline.
    """

    def __init__(
        self,
        given: Mapping[str, Any],
        rungs: Sequence[str],
        *,
        sentinels: Sequence[str],
        structured: bool,
    ) -> None:
        _check_names(given, rungs)
        self._given = given
        self._built_in = {
            "qa": qa_prompt(sentinels[0]),
            "choice": choice_prompt(sentinels[0]),
        }
        for number, rung in enumerate(rungs, start=1):
            must_decline = number < len(rungs) and not structured
            for kind, variables in _VARIABLES.items():
                name, prompt = self._of(rung, kind)
                wanted = sentinels if must_decline else ()
                _check(prompt, variables, wanted, f"prompts[{name!r}]")

    def messages(
        self, rung: str, context: str, question: Question
    ) -> list[BaseMessage]:
        """Fill the prompt of a rung in.

        The conversation stands behind the context, so that what comes before it is
        the same for every question on a document.
        """
        _, prompt = self._of(rung, "choice" if question.options else "qa")
        values: dict[str, Any] = {"context": context, "question": question.text}
        if question.options:
            values["options"] = format_options(question.options)
        if isinstance(prompt, str):
            values["question"] = question.in_conversation
            return [HumanMessage(fill_prompt(prompt, **values))]
        if _HISTORY in _names_in(prompt):
            values[_HISTORY] = list(question.history)
        else:
            values["question"] = question.in_conversation
        return prompt.format_prompt(**values).to_messages()

    def _of(self, rung: str, kind: str) -> tuple[str, str | BasePromptTemplate[Any]]:
        """The prompt and its name: the rung's own, the given one, the built-in one."""
        for name in (f"{rung}.{kind}", kind):
            if name in self._given:
                return name, self._given[name]
        return kind, self._built_in[kind]


def _check_names(given: Mapping[str, Any], rungs: Sequence[str]) -> None:
    known = [*_VARIABLES, *(f"{rung}.{kind}" for rung in rungs for kind in _VARIABLES)]
    foreign = [name for name in given if name not in known]
    if foreign:
        message = f"prompts= has no {foreign[0]!r}. It takes {', '.join(known)}."
        raise InvalidOptionError(message, option="prompts", value=given)


def _check(
    prompt: Any, variables: Sequence[str], sentinels: Sequence[str], option: str
) -> None:
    if isinstance(prompt, str):
        check_prompt(prompt, variables, sentinels=sentinels, option=option)
        return
    if not isinstance(prompt, BasePromptTemplate):
        message = (
            f"{option} is a {type(prompt).__name__}. It takes a format string or a "
            "prompt template."
        )
        raise InvalidOptionError(message, option=option, value=prompt)
    names = _names_in(prompt)
    foreign = [n for n in prompt.input_variables if n not in (*variables, _HISTORY)]
    if foreign:
        message = (
            f"{option} has the variables {', '.join(foreign)}, and nothing is there to "
            f"fill them with. It may have {', '.join((*variables, _HISTORY))}."
        )
        raise InvalidOptionError(message, option=option, value=prompt)
    # What the messages say, as a format string, is checked as any other.
    values: dict[str, Any] = {name: f"{{{name}}}" for name in variables}
    values = {name: value for name, value in values.items() if name in names}
    if _HISTORY in names:
        values[_HISTORY] = []
    messages = prompt.format_prompt(**values).to_messages()
    text = "\n".join(text_of(message) for message in messages)
    missing = [name for name in variables if f"{{{name}}}" not in text]
    _refuse(missing, text, sentinels, option, prompt)


def _refuse(
    missing: Sequence[str],
    text: str,
    sentinels: Sequence[str],
    option: str,
    prompt: Any,
) -> None:
    said = any(word.casefold() in text.casefold() for word in sentinels)
    if not missing and (said or not sentinels):
        return
    fault = (
        f"lacks {', '.join(f'{{{name}}}' for name in missing)}."
        if missing
        else f"does not tell the model to write {' or '.join(map(repr, sentinels))} "
        "when the text does not hold the answer, so no question could be routed on."
    )
    message = f"{option} {fault} The prompt's text: {text!r}"
    raise InvalidOptionError(message, option=option, value=prompt)


def _names_in(prompt: BasePromptTemplate[Any]) -> list[str]:
    return [*prompt.input_variables, *prompt.optional_variables]
