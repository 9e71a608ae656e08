"""What a chain is asked: the question, and the conversation before it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langchain_core.messages.utils import convert_to_messages

from oprag.calls import text_of
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
    history: Sequence[BaseMessage]
    """What was said before, oldest first."""
    given: Mapping[str, Any]
    """The chain's whole input."""

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
            and perhaps `chat_history` (messages in any form that LangChain takes).
            Other keys have no meaning here.
        component: Class name of the chain, for the error.

    Raises:
        InvalidOptionError: There is no question in it, or there are `options`.
    """
    if isinstance(given, str):
        return Question(given, (), {"input": given})
    text = given.get("input") if isinstance(given, Mapping) else None
    if not isinstance(text, str):
        found = (
            f"a mapping with the keys {sorted(map(str, given))}"
            if isinstance(given, Mapping)
            else f"a {type(given).__name__}"
        )
        message = (
            f'{component} takes a question: a string, or a mapping with "input", and '
            f'perhaps "chat_history". It was given {found}.'
        )
        raise InvalidOptionError(message, option="input", value=given)
    if given.get("options"):
        message = (
            f"{component} knows no options. Write them below the question, as "
            "oprag.calls.format_options does; how to answer is said by the prompt."
        )
        raise InvalidOptionError(message, option="options", value=given["options"])
    history = convert_to_messages(given.get("chat_history") or [])
    return Question(text, tuple(history), given)
