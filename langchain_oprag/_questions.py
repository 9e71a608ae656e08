"""What a chain is asked: the question, its options, the conversation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langchain_core.messages.utils import convert_to_messages

from langchain_oprag._replies import text_of
from oprag.calls import format_options
from oprag.errors import InvalidOptionError

_SPEAKERS: tuple[tuple[type[BaseMessage], str], ...] = (
    (HumanMessage, "User"),
    (AIMessage, "Assistant"),
)
_CONVERSATION = (
    "(the last of the following conversation, whose earlier part only shows what the "
    "question is about)"
)


class Question(NamedTuple):
    """One question to the chain."""

    text: str
    """The question itself."""
    options: Sequence[str]
    """Of a multiple-choice question; empty for an open one."""
    history: Sequence[BaseMessage]
    """What was said before, oldest first."""
    given: Mapping[str, Any]
    """The chain's whole input."""

    @property
    def query(self) -> str:
        """What is searched for: the question, with its options."""
        return "\n".join([self.text, *self.options])

    @property
    def in_conversation(self) -> str:
        """The question behind what was said before, as one text."""
        said = [
            f"{speaker}: {text_of(message)}"
            for message in self.history
            for kind, speaker in _SPEAKERS
            if isinstance(message, kind) and text_of(message)
        ]
        if not said:
            return self.text
        return "\n".join([_CONVERSATION, *said, f"User: {self.text}"])


def read_question(given: Any, component: str = "SelfRouteChain") -> Question:
    """Read the chain's input.

    Args:
        given: The question as a string; or a mapping with the question as `input`
            and perhaps `chat_history` (messages in any form that LangChain takes)
            and `options` (a list of texts). Other keys have no meaning here.
        component: Class name of the chain, for the error.

    Raises:
        InvalidOptionError: There is no question in it, or the options are none.
    """
    if isinstance(given, str):
        return Question(given, (), (), {"input": given})
    text = given.get("input") if isinstance(given, Mapping) else None
    if not isinstance(text, str):
        found = (
            f"a mapping with the keys {sorted(map(str, given))}"
            if isinstance(given, Mapping)
            else f"a {type(given).__name__}"
        )
        message = (
            f'{component} takes a question: a string, or a mapping with "input", and '
            f'perhaps "chat_history" and "options". It was given {found}.'
        )
        raise InvalidOptionError(message, option="input", value=given)
    options = given.get("options") or ()
    if options:
        format_options(options)
    history = convert_to_messages(given.get("chat_history") or [])
    return Question(text, tuple(options), tuple(history), given)
