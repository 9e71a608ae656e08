"""Agents that search several times: nothing is sent twice, and numbers run on."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, NotRequired

from langchain_core.messages import BaseMessage, ToolMessage
from typing_extensions import TypedDict  # as LangGraph's: no other can be a base too

from langchain_oprag._carried import take_carried, write_carried
from langchain_oprag._tool_messages import Messages
from oprag.context import CitationNumbers, ContextOptions
from oprag.documents import check_entries
from oprag.effects import run_in_thread
from oprag.metadata import NUMBERS
from oprag.optional import require
from oprag.tokens import TokenizerSpec

if TYPE_CHECKING:
    from langchain.agents.middleware import (
        AgentMiddleware,
        ExtendedModelResponse,
        ModelRequest,
        ModelResponse,
        ToolCallRequest,
    )
    from langgraph.types import Command
else:

    def _base() -> type:
        """Return the base that agents take; 0.3 has none, where only `apply` works."""
        try:
            from langchain.agents.middleware import AgentMiddleware
        except ImportError:
            return object
        return AgentMiddleware

    AgentMiddleware = _base()


class EvidenceState(TypedDict):
    """The key that the middleware adds to an agent's state.

    Put it into the state of a graph around agents, with
    `class State(MessagesState, EvidenceState): …`. Its branches then give no number
    twice, and numbers outlive every message.
    """

    oprag_numbers: NotRequired[Annotated[list[Any], CitationNumbers.join]]
    """The place of each number that the model has read; see `cited`."""


class EvidenceMiddleware(AgentMiddleware):
    """Shows an agent's model every passage once, in order, however often it searches.

    For tools that return documents as their artifact (`response_format=
    "content_and_artifact"`). In the messages that the model reads, the texts of these
    documents are replaced by the passages that no earlier message shows: in document
    order, with places and gap marks, as `format_documents` writes them. Text that an
    earlier message shows is replaced by a line with the numbers of the passages that
    hold it, `[see above: [1], [4]]`.

    All other words of the tool stay before, between and behind the texts: labels and
    scores, a warning, a cursor, the brackets of JSON. If words stand between the texts,
    each place says which passages hold its text; if the texts are in another order than
    the passages, the passages go before the message.

    List it last: `create_agent(…, middleware=[…, EvidenceMiddleware()])`. The messages
    that the model is to read decide which text was shown. Text that was removed,
    summarised or cleared before counts as not shown, in forks and resumed threads too.
    The passages in a message depend only on earlier messages, so that each prompt
    begins with the previous one, and caches of prompts hold. The tools' messages in the
    agent's state stay unchanged.

    Numbers run on over the conversation, and none is given to two passages. The state
    keeps the place of each under `oprag_numbers`; `cited` reads it. The model's
    messages carry them as well, in `response_metadata`, for graphs whose state has no
    such key. A number that a message only mentions, `[7]`, is given to no passage. An
    agent that a tool calls goes on with the numbers of its caller.

    A message stays unchanged if it does not hold the whole text of a document, as text
    or as JSON. An answer with its sources as artifact stays, and so does a result that
    was cleared, shortened, or put into a file.

    Args:
        token_budget: Tokens of one message, including all other words of the tool. The
            worst documents are left out, and a later message may show them. None for no
            limit. `SummarizationMiddleware` and `ContextEditingMiddleware`, listed
            before, keep a conversation short.
        token_counter: As in `oprag.context.ContextOptions`; asked only for a
            `token_budget`.

    Raises:
        InvalidOptionError: On construction, for a value that an option cannot have.
        MissingDependencyError: An agent calls it, and langchain is not 1.2.10 or newer.

    Example:
        >>> from langchain_core.documents import Document
        >>> from langchain_core.messages import ToolMessage
        >>> found = [Document("To begin.", metadata={"source": "a", "start_index": 0})]
        >>> tool = {"artifact": found, "content": "To begin."}
        >>> messages = [ToolMessage(**tool, tool_call_id=id) for id in ("1", "2")]
        >>> for message in EvidenceMiddleware().apply(messages):
        ...     print(message.content)
        [1] a, characters 0-9
        To begin.
        [see above: [1]]
    """

    def __init__(
        self, *, token_budget: int | None = None, token_counter: TokenizerSpec = None
    ) -> None:
        super().__init__()
        options = ContextOptions(
            token_budget=token_budget,
            token_counter=token_counter,
            merge=True,
            on_problem="warn",
        )
        self._messages = Messages(options)

    state_schema: Any = EvidenceState

    def apply(self, messages: Iterable[BaseMessage]) -> list[BaseMessage]:
        """Return messages as the model is to read them.

        For your own graphs, before they call the model; needs only langchain-core.
        Numbers run on over these messages; `cited` takes the returned list.

        Args:
            messages: The conversation so far. Not changed.

        Returns:
            A new list. Messages of tools that found documents are new objects with
            the same id, and with the passages that they show as artifact. The others
            are the given objects.

        Raises:
            InvalidOptionError: `messages` are no list of messages.
        """
        listed = _check_messages(messages)
        numbers = CitationNumbers()
        take_carried(numbers, listed)
        return self._messages.read_messages(listed, numbers if len(numbers) else None)

    def wrap_model_call(
        self,
        request: ModelRequest[Any],
        handler: Callable[[ModelRequest[Any]], ModelResponse[Any]],
    ) -> ModelResponse[Any] | ExtendedModelResponse[Any]:
        """Call the model with the messages that `apply` returns; numbers run on."""
        _require_agents()
        messages, read = self._prepare_messages(request)
        return _note_read(read, handler(request.override(messages=messages)), request)

    async def awrap_model_call(
        self,
        request: ModelRequest[Any],
        handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]],
    ) -> ModelResponse[Any] | ExtendedModelResponse[Any]:
        """Async version of `wrap_model_call`."""
        _require_agents()
        messages, read = await run_in_thread(partial(self._prepare_messages, request))
        response = await handler(request.override(messages=messages))
        return _note_read(read, response, request)

    def wrap_tool_call(
        self,
        request: ToolCallRequest,
        handler: Callable[[ToolCallRequest], ToolMessage | Command[Any]],
    ) -> ToolMessage | Command[Any]:
        """Call a tool; an agent that the tool calls goes on with these numbers."""
        numbers = _collect_numbers(request.state)
        with _enter_outer(numbers):
            done = handler(request)
        return _note_given(numbers, done, request.state)

    async def awrap_tool_call(
        self,
        request: ToolCallRequest,
        handler: Callable[[ToolCallRequest], Awaitable[ToolMessage | Command[Any]]],
    ) -> ToolMessage | Command[Any]:
        """Async version of `wrap_tool_call`."""
        numbers = _collect_numbers(request.state)
        with _enter_outer(numbers):
            done = await handler(request)
        return _note_given(numbers, done, request.state)

    def _prepare_messages(
        self, request: ModelRequest[Any]
    ) -> tuple[list[Any], _NumbersRead]:
        """Return the messages as the model is to read them, and all numbers so far."""
        messages = _check_messages(request.messages)
        numbers = _collect_numbers(request.state)
        with numbers.lock:
            if not _read_messages(request.state):
                take_carried(numbers, messages)
            read = self._messages.read_messages(messages, numbers)
            return read, _NumbersRead(numbers, len(numbers), numbers.as_json())


class _NumbersRead(NamedTuple):
    """The numbers that a model has read."""

    numbers: CitationNumbers
    last: int
    entries: list[Any]


_outer: ContextVar[CitationNumbers | None] = ContextVar("outer numbers", default=None)
"""The numbers of the agent whose tool is called."""


@contextmanager
def _enter_outer(numbers: CitationNumbers) -> Iterator[None]:
    token = _outer.set(numbers)
    try:
        yield
    finally:
        _outer.reset(token)


def _collect_numbers(state: Any) -> CitationNumbers:
    """Return the numbers of a state, and of the agent around it.

    Raises:
        InvalidOptionError: A number means two passages.
    """
    known: Mapping[str, Any] = state if isinstance(state, Mapping) else {}
    numbers = CitationNumbers.share(known.get(NUMBERS))
    outer = _outer.get()
    if outer is not None:
        with outer.lock:
            outer.take_all(numbers)
        numbers = outer
    with numbers.lock:
        take_carried(numbers, _read_messages(known))
    return numbers


def _read_messages(state: Any) -> Sequence[BaseMessage]:
    """Return all messages of a state; a model may be asked with fewer."""
    return state.get("messages", ()) if isinstance(state, Mapping) else ()


def _check_messages(messages: Iterable[BaseMessage]) -> list[BaseMessage]:
    check_entries("messages", messages, BaseMessage)
    if isinstance(messages, list):
        return messages
    listed = list(messages)
    check_entries("messages", listed, BaseMessage)
    return listed


def _note_read(
    read: _NumbersRead, response: ModelResponse[Any], request: ModelRequest[Any]
) -> ModelResponse[Any] | ExtendedModelResponse[Any]:
    """Note the numbers in a response, and in the state if it lacks some."""
    state: Mapping[str, Any] = request.state or {}
    before = _read_messages(state) or request.messages
    replies: Any = write_carried(response.result, read.numbers, read.last, before)
    response = replace(response, result=replies)
    if read.entries == state.get(NUMBERS):
        return response
    from langchain.agents.middleware import ExtendedModelResponse
    from langgraph.types import Command

    update: Any = Command(update={NUMBERS: read.entries})
    return ExtendedModelResponse(model_response=response, command=update)


def _note_given(
    numbers: CitationNumbers, done: ToolMessage | Command[Any], state: Any
) -> ToolMessage | Command[Any]:
    """Note in the state the numbers given by an agent that a tool called."""
    with numbers.lock:
        entries = numbers.as_json()
    if entries == (state.get(NUMBERS) or []):
        return done
    from langgraph.types import Command

    if isinstance(done, ToolMessage):
        return Command(update={"messages": [done], NUMBERS: entries})
    update = getattr(done, "update", None)
    if not isinstance(update, Mapping) or NUMBERS in update or done.graph is not None:
        return done  # the next call of the model adds them
    return replace(done, update={**update, NUMBERS: entries})


def _require_agents() -> None:
    purpose = "EvidenceMiddleware in an agent"
    require("langchain.agents.middleware", extra="agents", purpose=purpose)
    require("langchain", extra="agents", purpose=purpose, at_least="1.2.10")
