"""Agents that search several times: nothing is sent twice, and numbers run on."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, NotRequired

from langchain_core.messages import BaseMessage
from typing_extensions import TypedDict  # as LangGraph: others are no bases beside it

from langchain_oprag._tool_messages import ToolMessages
from oprag.context import ContextOptions, Numbers
from oprag.documents import check_entries
from oprag.effects import in_thread
from oprag.metadata import NUMBERS
from oprag.optional import require
from oprag.tokens import TokenizerSpec

if TYPE_CHECKING:
    from langchain.agents.middleware import (
        AgentMiddleware,
        ExtendedModelResponse,
        ModelRequest,
        ModelResponse,
    )
else:

    def _base() -> type:
        """Return the class that agents take; without one (0.3), `apply` works."""
        try:
            from langchain.agents.middleware import AgentMiddleware
        except ImportError:
            return object
        return AgentMiddleware

    AgentMiddleware = _base()


class EvidenceState(TypedDict):
    """The key that the middleware adds to an agent's state.

    Numbers outlive an agent that is a node of another graph where the state of that
    graph has the key as well: `class State(MessagesState, EvidenceState): …`. Branches
    that run at the same time give no number twice. An agent that a tool calls goes on
    with the numbers that it is given: `oprag_numbers` of its input.
    """

    oprag_numbers: NotRequired[Annotated[list[Any], Numbers.join]]
    """The place of each number that the model has read; see `cited`."""


class EvidenceMiddleware(AgentMiddleware):
    """Shows an agent's model every passage once, in order, however often it searches.

    For tools that return documents as their artifact (`response_format=
    "content_and_artifact"`). In what the model reads, the texts of these documents are
    replaced by that which no earlier message shows: in document order, with places and
    gap marks, as `format_documents` writes it. For what an earlier message shows there
    is a line with the numbers of the passages that hold it, `[see above: [1], [4]]`.

    All else that a tool wrote stays, before, between and behind the texts: labels and
    scores, a warning, a cursor, the brackets of JSON. Where words stand between the
    texts, each place says which passages hold its text; if these are in another order
    than the passages, the passages go before the message.

    List it last: `create_agent(…, middleware=[…, EvidenceMiddleware()])`. What was
    shown follows from the messages that the model is to read: what was removed,
    summarised or cleared before counts as not shown, in forks and resumed threads too.
    What a message shows depends only on those before it, so that a prompt begins as the
    one before it, and caches of prompts hold. The messages in the agent's state stay as
    they are.

    Numbers run on over the conversation, and none is given to two passages. The state
    keeps the place of each under `oprag_numbers`; `cited` reads it.

    A message is left as it is where the whole text of a document is not in it, as text
    or as JSON: an answer with its sources as artifact stays, and so does a result that
    was cleared, shortened, or put into a file.

    Args:
        token_budget: Tokens of one message, all that the tool wrote besides included:
            the worst documents are left out, and a later message may show
            them. None for no limit. `SummarizationMiddleware` and
            `ContextEditingMiddleware`, listed before, keep a conversation short.
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
        self._messages = ToolMessages(options)

    state_schema: Any = EvidenceState

    def apply(self, messages: Iterable[BaseMessage]) -> list[BaseMessage]:
        """Return messages as the model is to read them.

        For graphs of your own, before the model is called; needs langchain-core alone.
        Numbers run on over these messages; `cited` takes what is returned.

        Args:
            messages: The conversation so far. Not changed.

        Returns:
            A new list. Messages of tools that found documents are new objects with
            the same id, and what they show as artifact; the others are those that
            were given.

        Raises:
            InvalidOptionError: `messages` are no list of messages.
        """
        return self._messages.read(_checked(messages))

    def wrap_model_call(
        self,
        request: ModelRequest[Any],
        handler: Callable[[ModelRequest[Any]], ModelResponse[Any]],
    ) -> ModelResponse[Any] | ExtendedModelResponse[Any]:
        """Call the model with the messages that `apply` returns, numbered on."""
        _require_agents()
        messages, numbers = self._read(request)
        return _with(numbers, handler(request.override(messages=messages)), request)

    async def awrap_model_call(
        self,
        request: ModelRequest[Any],
        handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]],
    ) -> ModelResponse[Any] | ExtendedModelResponse[Any]:
        """Async version of `wrap_model_call`."""
        _require_agents()
        messages, numbers = await in_thread(partial(self._read, request))
        response = await handler(request.override(messages=messages))
        return _with(numbers, response, request)

    def _read(self, request: ModelRequest[Any]) -> tuple[list[Any], list[Any]]:
        """Return messages as the model is to read them, and all numbers until then."""
        state: Mapping[str, Any] = request.state or {}
        numbers = Numbers.shared(state.get(NUMBERS))
        messages = _checked(request.messages)
        with numbers.lock:
            return self._messages.read(messages, numbers), numbers.as_json()


def _checked(messages: Iterable[BaseMessage]) -> list[BaseMessage]:
    check_entries("messages", messages, BaseMessage)
    listed = list(messages)
    check_entries("messages", listed, BaseMessage)
    return listed


def _with(
    numbers: list[Any], response: ModelResponse[Any], request: ModelRequest[Any]
) -> ModelResponse[Any] | ExtendedModelResponse[Any]:
    """The response, and the state's numbers where there are new ones."""
    state: Mapping[str, Any] = request.state or {}
    if numbers == (state.get(NUMBERS) or []):
        return response
    from langchain.agents.middleware import ExtendedModelResponse
    from langgraph.types import Command

    update: Any = Command(update={NUMBERS: numbers})
    return ExtendedModelResponse(model_response=response, command=update)


def _require_agents() -> None:
    purpose = "EvidenceMiddleware in an agent"
    require("langchain.agents.middleware", extra="agents", purpose=purpose)
    require("langchain", extra="agents", purpose=purpose, at_least="1.2.10")
