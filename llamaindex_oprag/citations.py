"""`resolve` and `acited`: the passage that each number of a conversation means."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from llama_index.core.async_utils import asyncio_run
from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.memory import BaseMemory
from llama_index.core.schema import MetadataMode, NodeWithScore
from llama_index.core.workflow import Context

from llamaindex_oprag._convert import make_node
from llamaindex_oprag._runs import find_numbering
from llamaindex_oprag.results import as_passages
from oprag.context import CitationNumbers
from oprag.effects import run_in_thread
from oprag.errors import InvalidOptionError, wrong_object
from oprag.result_key import is_result, read_number

_TAKES = (
    "the Context that an agent ran with, its memory, or what a run, a query or a chat "
    "returned"
)


def cited(conversation: Any, response: Any = None) -> dict[int, NodeWithScore]:
    """Return the passage that each number of a conversation means.

    Args:
        conversation: One of

            - the `Context` of agents whose `OrderPreservingRetrieverTool` has
              `show="unseen"`: all numbers, with their exact places;
            - an agent's memory: the passages in its messages, with the places written
              there, and nothing proved;
            - the result of a run, a query engine or a chat engine: the nodes that were
              read for it.
        response: Beside a `Context`, the result of the agent's run, whose nodes have
            the metadata of the application. None: the text comes from the agent's
            memory.

    Returns:
        A node with the text for each number that the model has read;
        `oprag.place_of(node)` gives its place. If neither the response nor the memory
        holds the text, because it was summarised or removed, the text is empty, and
        only the place is known. Empty if nothing was shown with a number.

    Raises:
        InvalidOptionError: `conversation` is none of these; or a number means several
            passages: with `show="all"` numbers begin with 1 in every answer.
    """
    found: dict[int, NodeWithScore] = asyncio_run(acited(conversation, response))
    return found


async def acited(conversation: Any, response: Any = None) -> dict[int, NodeWithScore]:
    """Async version of `resolve`."""
    if isinstance(conversation, Context):
        return await _resolve_context(conversation, response)
    if isinstance(conversation, BaseMemory):
        messages = await conversation.aget_all()
        return await run_in_thread(lambda: _resolve_messages(messages))
    return await run_in_thread(lambda: _resolve_response(conversation))


async def _resolve_context(
    context: Context[Any], response: Any
) -> dict[int, NodeWithScore]:
    nodes = [node for output in _outputs(response) for node in output]
    numbering = find_numbering(context.store)
    restart = any(
        is_result(n.metadata) and read_number(n.metadata) is None for n in nodes
    )
    if not await numbering.has_begun() or restart:
        raise _refuse_restart(context)
    numbers = await numbering.read_numbers()
    memory = await context.store.get("memory", default=None)
    said = await memory.aget_all() if isinstance(memory, BaseMemory) else []
    conversation = "\n".join(message.content or "" for message in said)

    def resolve_all() -> dict[int, NodeWithScore]:
        shown = numbers.find_in(conversation).values()
        passages = numbers.resolve([*as_passages(nodes), *shown])
        return {number: make_node(passage) for number, passage in passages.items()}

    return await run_in_thread(resolve_all)


def _resolve_messages(messages: Iterable[ChatMessage]) -> dict[int, NodeWithScore]:
    """Return the passages that the tools' messages of a memory show, by number."""
    found: dict[int, NodeWithScore] = {}
    for message in messages:
        for passage in CitationNumbers.read_from(message.content or ""):
            number = passage.number or 0
            if number in found and found[number].text != passage.text:
                raise _refuse_restart(messages)
            found[number] = make_node(passage)
    return found


def _resolve_response(response: Any) -> dict[int, NodeWithScore]:
    """Return the nodes read for a response, by the numbers that the model saw."""
    outputs = _outputs(response)
    nodes = [node for output in outputs for node in output]
    numbered = _find_numbered(nodes)
    if len(numbered) == len(nodes) > 0:
        return dict(numbered)
    if len(outputs) > 1:
        raise _refuse_restart(response)
    if hasattr(response, "tool_calls"):  # of one search, numbered in its order
        return dict(enumerate(nodes, start=1))
    if not hasattr(response, "source_nodes"):
        raise wrong_object("conversation", response, _TAKES)
    sources = dict(enumerate(response.source_nodes, start=1))
    for number, node in sources.items():
        if f"[{number}] " not in node.get_content(MetadataMode.LLM):
            message = (
                "The model read these nodes without numbers. Give the component that "
                "puts them in order citations=True."
            )
            raise InvalidOptionError(message, option="citations", value=False)
    return sources


def _find_numbered(nodes: Iterable[NodeWithScore]) -> list[tuple[int, NodeWithScore]]:
    """Return the nodes read under a number, with that number; one may come twice."""
    pairs = [(read_number(node.metadata), node) for node in nodes]
    return [(number, node) for number, node in pairs if number is not None]


def _outputs(response: Any) -> list[list[NodeWithScore]]:
    """Return the nodes of each tool that was called for a response."""
    calls = getattr(response, "tool_calls", ())
    raw = [call.tool_output.raw_output for call in calls]
    lists = [output for output in raw if isinstance(output, list)]
    nodes = [[n for n in each if isinstance(n, NodeWithScore)] for each in lists]
    return [each for each in nodes if each]


def _refuse_restart(conversation: Any) -> InvalidOptionError:
    message = (
        "This conversation does not say which numbers the model read. Tools keep them "
        'in its Context with show="unseen"; with show="all" they begin with 1 in every '
        "answer."
    )
    return InvalidOptionError(message, option="conversation", value=conversation)
