"""Numbers that the messages of a model carry, wherever these are taken.

A graph around an agent gets its messages, but other keys only if it has them itself.
So each message of the model says in its `response_metadata` which numbers were given.
No provider is sent that, and it stays with the message in checkpoints.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage

from oprag.context import CitationNumbers
from oprag.metadata import NUMBERS


def take_carried(numbers: CitationNumbers, messages: Iterable[BaseMessage]) -> None:
    """Add the numbers that messages carry.

    Raises:
        InvalidOptionError: A number means another passage than in `numbers` or than
            in another message.
    """
    for message in messages:
        if isinstance(message, AIMessage):
            carried = message.response_metadata.get(NUMBERS)
            if carried is not None:
                numbers.take(carried)


def write_carried(
    replies: Sequence[BaseMessage],
    numbers: CitationNumbers,
    last: int,
    before: Sequence[BaseMessage],
) -> list[BaseMessage]:
    """Write into the replies of a model the numbers that it knows.

    An answer carries the numbers that no earlier answer carries, because often it alone
    is handed on. A message that calls tools carries the numbers that no earlier message
    carries.

    Args:
        replies: Not changed.
        numbers: The numbers of the conversation.
        last: The last number that the model has read.
        before: The messages before the reply.

    Returns:
        Copies of the replies.
    """
    return [_write_on_reply(reply, numbers, last, before) for reply in replies]


def _write_on_reply(
    reply: BaseMessage,
    numbers: CitationNumbers,
    last: int,
    before: Sequence[BaseMessage],
) -> BaseMessage:
    if not isinstance(reply, AIMessage) or not last:
        return reply
    known = _last_carried(before, by_answers=not reply.tool_calls)
    carried = numbers.carry(1 + min(last, known), last)
    metadata = {**reply.response_metadata, NUMBERS: carried}
    return reply.model_copy(update={"response_metadata": metadata})


def _last_carried(messages: Sequence[BaseMessage], *, by_answers: bool) -> int:
    """Return the last number that the messages carry, or only their answers."""
    for message in reversed(messages):
        carried = _read_carried(message)
        answers = isinstance(message, AIMessage) and not message.tool_calls
        if carried is not None and (answers or not by_answers):
            return int(carried["last"])
    return 0


def _read_carried(message: BaseMessage) -> dict[str, Any] | None:
    if not isinstance(message, AIMessage):
        return None
    return message.response_metadata.get(NUMBERS)
