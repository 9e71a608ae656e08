"""Questions to a model: the question of the input, in a prompt."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple, TypeAlias

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage
from langchain_core.messages.utils import convert_to_messages
from langchain_core.prompts import BasePromptTemplate

from oprag.calls import QA_VARIABLES, check_prompt, read_message_text
from oprag.errors import InvalidOptionError, describe_type, invalid_option
from oprag.units import DIRECT_PROMPT, LONG_PROMPT, PROMPT_VARIABLES, SHORT_PROMPT

Prompt: TypeAlias = str | BasePromptTemplate[Any]

_LONG_READER = {"long": LONG_PROMPT, "short": SHORT_PROMPT, "direct": DIRECT_PROMPT}


def step_prompts(
    given: Any, steps: Mapping[str, bool], built_in: str
) -> dict[str, Prompt]:
    """Return the prompts of Self-Route by step.

    Args:
        given: As `SelfRouteChain(prompts=)` takes it.
        steps: By name of the step, whether its prompt must let the model decline.
        built_in: The prompt for steps without another one.

    Raises:
        InvalidOptionError: A prompt lacks a variable, has another one, or does not
            let the model decline.
    """
    given = built_in if given is None else given
    is_mapping = isinstance(given, Mapping)
    return {
        step: _check_prompt(
            given.get(step, built_in) if is_mapping else given,
            QA_VARIABLES,
            f"prompts[{step!r}]" if is_mapping else "prompts",
            must_decline=must_decline,
        )
        for step, must_decline in steps.items()
    }


def long_prompts(given: Mapping[str, Any]) -> dict[str, Prompt]:
    """Return the prompts of the long reader by call.

    Args:
        given: As `LongReader(prompts=)` takes them.

    Raises:
        InvalidOptionError: A prompt has no such name, lacks a variable, or has
            another one.
    """
    if not isinstance(given, Mapping) or not given.keys() <= PROMPT_VARIABLES.keys():
        names = ", ".join(PROMPT_VARIABLES)
        raise invalid_option("prompts", given, f"It takes prompts by name: {names}.")
    return {
        name: _check_prompt(given.get(name, built_in), PROMPT_VARIABLES[name], option)
        for name, built_in in _LONG_READER.items()
        for option in [f"prompts[{name!r}]"]
    }


def fill_prompt(prompt: Prompt, values: Mapping[str, Any]) -> list[BaseMessage]:
    """Put values into a prompt."""
    if isinstance(prompt, str):
        return [HumanMessage(prompt.format(**values))]
    messages: list[BaseMessage] = prompt.format_prompt(**values).to_messages()
    return messages


def _check_prompt(
    prompt: Any, variables: Sequence[str], option: str, *, must_decline: bool = False
) -> Prompt:
    if not isinstance(prompt, (str, BasePromptTemplate)):
        takes = "It takes a format string or a prompt template."
        raise invalid_option(option, prompt, takes)
    kinds = "input_variables", "optional_variables"
    wanted = {name for kind in kinds for name in getattr(prompt, kind, ())}
    if foreign := wanted - {*variables}:
        takes = f"Nothing fills in {', '.join(sorted(foreign))}."
        raise invalid_option(option, prompt, takes)

    def text(values: dict[str, str]) -> str:
        return "\n".join(map(read_message_text, fill_prompt(prompt, values)))

    check_prompt(option, prompt, text, variables=variables, must_decline=must_decline)
    return prompt


_CONVERSATION = (
    "(the last of the following conversation, whose earlier part only shows what the "
    "question is about)"
)


class Question(NamedTuple):
    """One question to the chain."""

    text: str
    """The question itself."""
    history: Sequence[BaseMessage]
    """The messages before it, oldest first."""
    given: Mapping[str, Any]
    """The chain's whole input."""
    of_messages: bool = False
    """Whether the question came as messages, so that the answer is one, too."""

    @property
    def in_conversation(self) -> str:
        """The earlier messages and the question, as one text."""
        said = [
            f"{'User' if isinstance(message, HumanMessage) else 'Assistant'}: {text}"
            for message in self.history
            if isinstance(message, (HumanMessage, AIMessage))
            and (text := read_message_text(message))
        ]
        if not said:
            return self.text
        return "\n".join([_CONVERSATION, *said, f"User: {self.text}"])

    def put_after_system(self, prompt: list[BaseMessage]) -> list[BaseMessage]:
        """Put the system messages of the conversation before a prompt."""
        system = [m for m in self.history if isinstance(m, SystemMessage)]
        return [*system, *prompt]


def read_question(given: Any, component: str = "SelfRouteChain") -> Question:
    """Read the chain's input.

    Args:
        given: The question as a string; or a mapping with the question as `input`
            and perhaps `chat_history` (messages in any form that LangChain takes); or
            with `messages`, as in LangGraph's state: the user's last message is the
            question, and the messages before it are the history. Other keys are not
            read.
        component: Class name of the chain, for the error.

    Raises:
        InvalidOptionError: There is no question in it.
    """
    if isinstance(given, str):
        return Question(given, (), {"input": given})
    keys = given if isinstance(given, Mapping) else {}
    of_messages = "input" not in keys and "messages" in keys
    if of_messages:
        given = _split_messages(given)
    text = given.get("input") if keys else None
    if not isinstance(text, str):
        message = (
            f'{component} takes a question, {{"input": question}} or {{"messages": '
            f"[…]}} with a user's message in words, and was given "
            f"{describe_type(given)}."
        )
        raise InvalidOptionError(message, option="input", value=given)
    said = _read_messages("chat_history", given.get("chat_history") or [])
    return Question(text, tuple(said), given, of_messages)


def _read_messages(option: str, said: Any) -> list[BaseMessage]:
    if not isinstance(said, (str, Mapping)):
        with suppress(TypeError, ValueError, KeyError, NotImplementedError):
            return convert_to_messages(said)
    raise invalid_option(option, said, "It takes a list of messages, oldest first.")


def _split_messages(given: Mapping[str, Any]) -> Mapping[str, Any]:
    """Find question and history among messages; only a user asks a question.

    Calls of tools are no part of the history, and their results are in no prompt,
    because this question is not about the results of tools.
    """
    messages = _read_messages("messages", given["messages"])
    asked = [n for n, m in enumerate(messages) if isinstance(m, HumanMessage)]
    if not asked:
        return given
    *before, last = messages[: asked[-1] + 1]
    history = [m for m in before if not getattr(m, "tool_calls", None)]
    blocks = last.content if isinstance(last.content, list) else []
    others = [b for b in blocks if isinstance(b, dict) and b.get("type") != "text"]
    if others or not (question := read_message_text(last)).strip():
        return given  # a picture is no question, nor a part of one
    return {**given, "input": question, "chat_history": history}
