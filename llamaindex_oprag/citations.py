"""`cited`: the passage that each number of a conversation means."""

from __future__ import annotations

from typing import Any

from llama_index.core.memory import BaseMemory
from llama_index.core.schema import NodeWithScore
from llama_index.core.workflow import Context

from llamaindex_oprag._convert import node_of
from llamaindex_oprag.results import as_passages
from oprag.context import Numbers
from oprag.errors import InvalidOptionError, named, wrong_object
from oprag.metadata import NUMBER, NUMBERS, RANK
from oprag.tokens import in_thread


async def cited(
    context: Context[Any], response: Any = None
) -> dict[int, NodeWithScore]:
    """Return the passage that each number of a conversation means.

    Args:
        context: Of agents whose `OrderPreservingRetrieverTool` has `show="unseen"`.
        response: What an agent's run returned: its nodes have the metadata of the
            application. None: the text is that in the agent's memory.

    Returns:
        For each number that the model has read a node with the text,
        `oprag.place_of(node)` for its place. Where neither the response nor the
        memory holds the text, because it was summarised or removed, it is empty, and
        the place is all that is known.

    Raises:
        InvalidOptionError: It is no context or has no numbers, or the response is one
            of tools with `show="all"`: there they begin with 1 in every answer.
    """
    if not isinstance(context, Context):
        raise wrong_object("context", context, "the Context that the agent ran with")
    calls = getattr(response, "tool_calls", ())
    outputs = [call.tool_output.raw_output for call in calls]
    nodes = [
        node
        for output in outputs
        if isinstance(output, list)
        for node in output
        if isinstance(node, NodeWithScore)
    ]
    entries = await context.store.get(NUMBERS, default=None)
    restart = any(RANK in n.metadata and NUMBER not in n.metadata for n in nodes)
    if entries is None or restart:
        message = (
            f"This {named(context)} does not say which numbers the model read. Tools "
            'keep them with show="unseen"; with show="all" they begin with 1 in every '
            "answer."
        )
        raise InvalidOptionError(message, option="context", value=context)
    numbers = Numbers(entries)
    memory = await context.store.get("memory", default=None)
    said = await memory.aget_all() if isinstance(memory, BaseMemory) else []
    conversation = "\n".join(message.content or "" for message in said)

    def resolved() -> dict[int, NodeWithScore]:
        shown = numbers.shown_in(conversation).values()
        passages = numbers.cited([*as_passages(nodes), *shown])
        return {number: node_of(passage) for number, passage in passages.items()}

    return await in_thread(resolved)
