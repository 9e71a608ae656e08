"""Messages as a model is to read them, and the documents in messages of tools."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from operator import attrgetter, is_
from typing import Any, NamedTuple

from langchain_core.documents import Document
from langchain_core.messages import BaseMessage, SystemMessage, ToolMessage

from langchain_oprag._convert import make_document, make_hits
from langchain_oprag.results import make_one_document
from oprag.agents import Conversations, find_mentions, show_in_place
from oprag.calls import read_message_text
from oprag.chunk import Passage
from oprag.context import CitationNumbers, ContextOptions, Seen

_TEXT = attrgetter("page_content")
_MESSAGE, _CONTENT = attrgetter("message"), attrgetter("content")


class _Told(NamedTuple):
    """A message, and the form in which the model reads it."""

    message: BaseMessage
    content: Any
    artifact: Any
    texts: list[Any]
    """The texts of the documents: an artifact may be changed in place."""
    read: BaseMessage
    shown: Sequence[Passage] = ()
    mentioned: Sequence[int] = ()

    def is_of(self, message: BaseMessage) -> bool:
        """Return whether it was made of this message, and the message is unchanged."""
        if message is not self.message or message.content is not self.content:
            return False
        if self.artifact is None:
            return True
        artifact = message.artifact  # type: ignore[attr-defined]  # a tool's message
        return artifact is self.artifact and _texts_in(artifact) == self.texts


def _are_of(told: Sequence[_Told], messages: Sequence[BaseMessage]) -> bool:
    """Return whether all were made of these messages, and these are unchanged."""
    if not all(map(is_, map(_MESSAGE, told), messages)):
        return False
    if not all(map(is_, map(_CONTENT, told), map(_CONTENT, messages))):
        return False
    return all(each.is_of(each.message) for each in told if each.artifact is not None)


class Messages:
    """Reads messages, each only once while it stays the same.

    Args:
        options: The options for the passages shown in a message.
    """

    def __init__(self, options: ContextOptions) -> None:
        self._conversations = Conversations(partial(_read_next, options), _are_of)

    def read_messages(
        self, messages: Sequence[BaseMessage], numbers: CitationNumbers | None = None
    ) -> list[BaseMessage]:
        """Return messages as a model is to read them.

        Args:
            messages: A conversation.
            numbers: The numbers of its state, to which new ones are added. None to
                begin with 1.
        """
        with self._conversations.begin_reading(messages, numbers) as conversation:
            return [each.read for each in conversation.messages]


def documents_of(message: BaseMessage) -> list[Document]:
    """Return the documents that a tool's message has as its artifact."""
    if not isinstance(message, ToolMessage) or not isinstance(message.artifact, list):
        return []
    if not all(map(_is_document, message.artifact)):
        return []
    return [make_one_document(each) for each in message.artifact]


def shows_documents(message: BaseMessage) -> bool:
    """Return whether a message holds the texts of its documents."""
    options = ContextOptions(merge=True, on_problem="warn")
    _, shown = _read_message(options, message, Seen(), CitationNumbers())
    return bool(shown)


def _read_next(
    options: ContextOptions, message: BaseMessage, seen: Seen, numbers: CitationNumbers
) -> _Told:
    """Read the next message."""
    artifact = message.artifact if isinstance(message, ToolMessage) else None
    if not isinstance(artifact, list):
        artifact = None
    texts, content = _texts_in(artifact or ()), message.content
    read, shown = _read_message(options, message, seen, numbers)
    mentioned: Sequence[int] = ()
    # Instructions say how to cite, and a number in them cites nothing.
    if read is message and not isinstance(message, SystemMessage):
        mentioned = find_mentions(read_message_text(message))
        numbers.leave_out(mentioned)
    return _Told(message, content, artifact, texts, read, shown, mentioned)


def _read_message(
    options: ContextOptions, message: BaseMessage, seen: Seen, numbers: CitationNumbers
) -> tuple[BaseMessage, Sequence[Passage]]:
    """Read a message, and add the passages that it shows to those seen."""
    documents = documents_of(message)
    if not documents:
        return message, ()
    texts, hits = _texts_of(message.content), make_hits(documents)
    told = show_in_place([*texts.values()], hits, options, seen, numbers)
    if told is None:
        return message, ()
    artifact = [make_document(passage) for passage in told.shown]
    content = _replace_texts(message.content, dict(zip(texts, told.parts, strict=True)))
    changes = {"content": content, "artifact": artifact}
    return message.model_copy(update=changes), told.shown


def _is_document(given: Any) -> bool:
    """Return whether it is a document, or the mapping a checkpointer made of one."""
    return isinstance(given, Document) or (
        isinstance(given, Mapping) and isinstance(given.get("page_content"), str)
    )


def _texts_in(artifact: Sequence[Any]) -> list[Any]:
    """Return the texts of documents, unchanged; None for anything else."""
    try:
        return list(map(_TEXT, artifact))
    except AttributeError:
        return list(map(_text_in, artifact))


def _text_in(entry: Any) -> Any:
    if isinstance(entry, Mapping):
        return entry.get("page_content")
    return getattr(entry, "page_content", None)


def _texts_of(content: str | Sequence[Any]) -> dict[int, str]:
    """Return the texts of a message's content, by the number of their block."""
    blocks = [content] if isinstance(content, str) else content
    texts = [b.get("text") if isinstance(b, Mapping) else b for b in blocks]
    return {n: text for n, text in enumerate(texts) if isinstance(text, str)}


def _replace_texts(content: str | Sequence[Any], texts: Mapping[int, str]) -> Any:
    """Return a content with other texts in its blocks."""
    if isinstance(content, str):
        return texts[0]
    blocks: list[Any] = [*content]
    for number, text in texts.items():
        block = blocks[number]
        blocks[number] = {**block, "text": text} if isinstance(block, Mapping) else text
    return blocks
