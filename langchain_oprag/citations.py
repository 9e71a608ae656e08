"""`resolve`: the passage that each number of a conversation means."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from langchain_core.documents import Document
from langchain_core.messages import BaseMessage

from langchain_oprag._carried import take_carried
from langchain_oprag._tool_messages import documents_of, shows_documents
from langchain_oprag.results import as_documents, as_passages
from oprag.context import CitationNumbers
from oprag.documents import check_entries
from oprag.errors import InvalidOptionError
from oprag.metadata import NUMBERS
from oprag.result_key import read_number


def cited(
    conversation: Mapping[str, Any] | Iterable[BaseMessage],
) -> dict[int, Document]:
    """Return the passage that each number of a conversation means.

    Args:
        conversation: The state of an agent that has `EvidenceMiddleware`: the result of
            `invoke`, or `get_state(…).values`. Or the messages that its `apply`
            returned.

    Returns:
        A document for each number that the model has read, with the text and metadata
        of the passage; `oprag.place_of(document)` gives its place. If the messages of a
        state no longer hold the text, because they were summarised or removed, the
        text is empty, and only the place is known.

    Raises:
        InvalidOptionError: The conversation does not say which numbers the model read:
            without the middleware, they begin with 1 in every message.
    """
    state: Mapping[str, Any] = {}
    messages: Any = conversation
    if isinstance(conversation, Mapping):
        state, messages = conversation, conversation.get("messages", ())
    check_entries("conversation", messages, BaseMessage)
    messages = list(messages)
    found = [each for message in messages for each in documents_of(message)]
    numbers = CitationNumbers(state.get(NUMBERS) or ())
    take_carried(numbers, messages)
    if len(numbers):
        passages = numbers.resolve(as_passages(found))
        known = dict(zip(passages, as_documents([*passages.values()]), strict=True))
        return {**_index_by_number(found), **known}
    unnumbered = [
        m
        for m in messages
        if not all(read_number(each.metadata) for each in documents_of(m))
    ]
    if not any(map(shows_documents, unnumbered)):
        return _index_by_number(found)
    message = (
        "Numbers begin with 1 in each of these messages. Give the whole state of an "
        "agent that has EvidenceMiddleware, or the messages that its apply returned. "
        "Where a node of a graph hands on messages of its own, the state of that "
        "graph needs oprag_numbers: class State(MessagesState, EvidenceState)."
    )
    raise InvalidOptionError(message, option="conversation", value=conversation)


def _index_by_number(documents: Iterable[Document]) -> dict[int, Document]:
    return {n: each for each in documents if (n := read_number(each.metadata))}
