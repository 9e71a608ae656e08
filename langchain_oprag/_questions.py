"""What a chain is asked: the question, and the conversation before it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langchain_core.messages.utils import convert_to_messages

from oprag.calls import text_of
from oprag.errors import InvalidOptionError, invalid_option, named

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
    of_messages: bool = False
    """Whether the question came as messages, so that the answer is one, too."""

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
            and perhaps `chat_history` (messages in any form that LangChain takes); or
            with `messages`, as in LangGraph's state: the last one of the user is the
            question, those before it are the history. Other keys have no meaning here.
        component: Class name of the chain, for the error.

    Raises:
        InvalidOptionError: There is no question in it, or there are `options`.
    """
    if isinstance(given, str):
        return Question(given, (), {"input": given})
    of_messages = (
        isinstance(given, Mapping) and "input" not in given and "messages" in given
    )
    if of_messages:
        given = _of_messages(given)
    text = given.get("input") if isinstance(given, Mapping) else None
    if not isinstance(text, str):
        message = (
            f'{component} takes the question as a string, as {{"input": question}} or '
            f'as {{"messages": […]}}, and was given {_found(given)}.{_instead(given)}'
        )
        raise InvalidOptionError(message, option="input", value=given)
    if given.get("options"):
        message = (
            f"{component} knows no options. Write them below the question, as "
            "oprag.calls.format_options does; how to answer is said by the prompt."
        )
        raise InvalidOptionError(message, option="options", value=given["options"])
    said = given.get("chat_history")
    if said is not None and not isinstance(said, (list, tuple)):
        takes = "It takes a list of messages, oldest first."
        raise invalid_option("chat_history", said, takes)
    history = convert_to_messages(given.get("chat_history") or [])
    return Question(text, tuple(history), given, of_messages)


def _found(given: Any) -> str:
    if isinstance(given, Mapping):
        if "input" in given:
            return f'{named(given["input"])} as "input"'
        if "messages" in given:
            return "messages of which none is of the user"
    return named(given)


def _instead(given: Any) -> str:
    """What to write, with a space before it."""
    if isinstance(given, Mapping):
        if "input" not in given and "messages" in given:
            return ' Add the question: {"role": "user", "content": question}.'
        asked = [key for key in ("question", "query") if key in given]
        return f' Write {{"input": {asked[0] if asked else "question"}}}.'
    if isinstance(given, (list, tuple)) and given:
        return ' Messages are given as {"messages": […]}.'
    return ' Write {"input": question}.'


def _of_messages(given: Mapping[str, Any]) -> Mapping[str, Any]:
    """Find question and history among messages; there is no question without a user.

    Calls of tools and their results are no part of what was said: providers refuse the
    one without the other, and what tools found is not what this question is about.
    """
    messages = convert_to_messages(given["messages"])
    asked = [n for n, m in enumerate(messages) if isinstance(m, HumanMessage)]
    if not asked:
        return given
    history = [
        message
        for message in messages[: asked[-1]]
        if isinstance(message, (HumanMessage, AIMessage))
        and not getattr(message, "tool_calls", None)
    ]
    question = text_of(messages[asked[-1]])
    return {**given, "input": question, "chat_history": history}
