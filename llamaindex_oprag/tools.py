"""A retriever as a tool for agents: text with places, and nothing twice if wanted."""

# No `from __future__ import annotations`: LlamaIndex gives its Context only to
# functions whose annotation is the class itself, and a text is none.

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from threading import Lock
from typing import Any, Literal, Never, Unpack, get_args
from weakref import WeakKeyDictionary

from llama_index.core.agent.react.types import ActionReasoningStep
from llama_index.core.async_utils import asyncio_run
from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.indices.base import BaseIndex
from llama_index.core.memory import BaseMemory
from llama_index.core.schema import NodeWithScore
from llama_index.core.tools import FunctionTool, ToolMetadata, ToolOutput
from llama_index.core.workflow import Context

from llamaindex_oprag._searched import OF_SEARCH, as_retriever
from llamaindex_oprag.results import format_nodes
from llamaindex_oprag.retrievers import OrderedKeywords, OrderPreservingRetriever
from oprag.context import NOTHING_FOUND, Numbers, Seen, search_description
from oprag.diagnosing import Verifiable, Verification
from oprag.effects import in_thread
from oprag.errors import (
    InvalidOptionError,
    invalid_option,
    refuse_unknown,
    refuse_unnamed,
)
from oprag.metadata import NUMBERS
from oprag.reading import Reading

Show = Literal["all", "unseen"]

_OPTIONS = tuple(n for n in OrderedKeywords.__annotations__ if n != "citations")
_ADVICE = {
    **OF_SEARCH,
    "citations": "Places are always written: leave it out.",
    "node_postprocessors": "Give a retriever that applies them.",
}
_HANDOVER = "handoff"
"""The name of AgentWorkflow's own tool."""
_PAUSE = 0.02
"""Seconds from one search of a run to the next: workflows may swap what comes at the
same time, and the answer before is to be above."""


@dataclass
class _Run:
    """The searches of one run; the store of a Context is its own in each."""

    answers: list[str] = field(default_factory=list)  # that no message holds yet
    lock: Lock = field(default_factory=Lock)

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        """Wait for the search before, whatever event loop each is in."""
        waits = False
        while not self.lock.acquire(blocking=False):
            waits = True
            await asyncio.sleep(_PAUSE)
        try:
            if waits:
                await asyncio.sleep(_PAUSE)
            yield
        finally:
            self.lock.release()


_runs: WeakKeyDictionary[Any, _Run] = WeakKeyDictionary()
"""For each Context's store."""


class OrderPreservingRetrieverTool(Verifiable, FunctionTool):
    """A retriever as a tool: an agent reads passages in order, with their places.

    Made by `from_defaults`. The content is what `format_nodes` writes: source and
    place before each passage, `[…]` where text was left out. The same search gives the
    same content, byte for byte. `raw_output` are the nodes.

    Args:
        retriever: Its options decide what comes.
        metadata: Name and description.
        show: See `from_defaults`.

    Raises:
        InvalidOptionError: `show` is neither `"all"` nor `"unseen"`.
    """

    def __init__(
        self,
        retriever: OrderPreservingRetriever,
        metadata: ToolMetadata | None = None,
        *,
        show: Show = "all",
    ) -> None:
        if metadata is None:
            name = type(self).__name__
            message = f"{name} is not called itself. Write {name}.from_defaults(index)."
            raise InvalidOptionError(message, option="metadata", value=None)
        if show not in get_args(Show):
            raise invalid_option("show", show, 'It takes "all" or "unseen".')
        self._retriever = retriever
        self._show = show
        if show == "unseen":
            super().__init__(self._next, metadata, self._anext)
        else:
            super().__init__(self._all, metadata, self._aall)

    def _verification(self) -> Verification:
        return self._retriever._verification()  # noqa: SLF001 -- of this package

    @classmethod
    def from_defaults(  # type: ignore[override]  # as RetrieverTool's, which is no FunctionTool
        cls,
        retriever: BaseIndex[Any] | BaseRetriever,
        *unnamed: Never,
        name: str | None = None,
        description: str | None = None,
        show: Show = "all",
        **options: Unpack[OrderedKeywords],
    ) -> "OrderPreservingRetrieverTool":
        """Make a tool of an index or a retriever.

        Args:
            retriever: An index, a retriever, or an `OrderPreservingRetriever`, which
                keeps its own options. If only what is inside has a budget, no places
                are written, except with `show="unseen"`.
            name: None for `retriever_tool`, as LlamaIndex's own.
            description: Its description for the model; None for a general one.
            show: `"all"` that a search finds, or what is `"unseen"` in this
                conversation: what was shown before is cut out before the budget is
                filled, and a line names the passages that hold it,
                `[see above: [1], [4]]`. It counts as shown while the agent's memory
                gives a message that holds it. Numbers run on
                over the conversation, and none is given to two passages: the place of
                each is kept, packed, in the store of the agent's `Context`, under
                `oprag_numbers`, for all such tools in it; a typed state needs a list of
                that name. `cited` reads it. LlamaIndex makes a new memory for each run
                without `memory=`: run the agent with the same one.
            **options: All of `OrderPreservingRetriever` but `citations`, such as
                `similarity_top_k` and `token_budget`, which counts all that is written
                around the texts. Neighbours are merged unless `merge` says otherwise.

        Raises:
            InvalidOptionError: `retriever` is something else; or an
                `OrderPreservingRetriever`, and options are given beside it.
        """
        known = ("name", "description", "show", *_OPTIONS)
        refuse_unnamed(f"{cls.__name__}.from_defaults", unnamed, known)
        refuse_unknown(options, known, _ADVICE)
        searching = as_retriever("retriever", retriever)
        if not isinstance(searching, OrderPreservingRetriever):
            given: Any = {"merge": True, **options}
            searching = OrderPreservingRetriever(searching, **given)
        else:
            for option, value in options.items():
                takes = "Set it on the OrderPreservingRetriever."
                raise invalid_option(option, value, takes)
        general = search_description(repeats=show == "all")
        metadata = ToolMetadata(description or general, name or "retriever_tool")
        return cls(searching, metadata, show=show)

    @property
    def retriever(self) -> OrderPreservingRetriever:
        """The retriever that it searches with."""
        return self._retriever

    def call(self, *args: Any, **kwargs: Any) -> ToolOutput:
        """Search, and return the content; with `show="unseen"` give `ctx=`.

        Raises:
            InvalidOptionError: `show="unseen"`, and there is no `Context`.
        """
        self._check_context(kwargs)
        output: ToolOutput = self._fn(*args, **kwargs)
        return output

    async def acall(self, *args: Any, **kwargs: Any) -> ToolOutput:
        """Async version of `call`."""
        self._check_context(kwargs)
        output: ToolOutput = await self._async_fn(*args, **kwargs)
        return output

    def _check_context(self, given: dict[str, Any]) -> None:
        if self._show == "all" or isinstance(given.get("ctx"), Context):
            return
        message = (
            'show="unseen" notes in the Context of a workflow what was shown, but the '
            "tool was called without one. Agents of LlamaIndex give it; by hand write "
            'tool.call(input=…, ctx=Context(agent)). show="all" needs none.'
        )
        raise InvalidOptionError(message, option="show", value=self._show)

    def _all(self, input: str) -> ToolOutput:  # noqa: A002 -- LlamaIndex's word
        reading = self._retriever._for_tool()  # noqa: SLF001 -- of this package
        return self._output(input, reading.retrieve(input))

    async def _aall(self, input: str) -> ToolOutput:  # noqa: A002 -- as above
        nodes = await self._retriever._for_tool().aretrieve(input)  # noqa: SLF001 -- as above
        return await in_thread(partial(self._output, input, nodes))

    def _next(self, input: str, ctx: Context) -> ToolOutput:  # noqa: A002 -- as above
        output: ToolOutput = asyncio_run(self._anext(input, ctx))
        return output

    async def _anext(self, input: str, ctx: Context) -> ToolOutput:  # noqa: A002 -- as above
        run = _runs.setdefault(ctx.store, _Run())
        async with run.turn():
            numbers = Numbers(await ctx.store.get(NUMBERS, default=[]))
            shown = numbers.shown_in(await _aconversation(ctx.store, run))
            reading = self._retriever._for_tool(Seen(shown.values()), numbers)  # noqa: SLF001 -- as above
            nodes = await reading.aretrieve(input)
            evidence = reading._evidence  # noqa: SLF001 -- as above
            numbers.add(evidence.shown)
            output = self._output(input, nodes, evidence.text)
            run.answers.append(output.content)
            await ctx.store.set(NUMBERS, numbers.as_json())
        return output

    def _output(
        self, question: str, nodes: list[NodeWithScore], text: str | None = None
    ) -> ToolOutput:
        if text is None:
            separator = self._retriever._options.separator  # noqa: SLF001 -- as above
            text = format_nodes(nodes, separator=separator)
        return ToolOutput(
            tool_name=self.metadata.get_name(),
            content=text or NOTHING_FOUND,
            raw_input={"input": question},
            raw_output=nodes,
        )


async def numbered(ctx: Context, reading: Reading) -> Reading:
    """Number what another tool shows on, and note that it was shown."""
    run = _runs.setdefault(ctx.store, _Run())
    async with run.turn():
        numbers = Numbers(await ctx.store.get(NUMBERS, default=[]))
        passages = tuple(numbers.numbered(reading.passages))
        if not passages:
            return reading
        text = reading.text.replace("[1]", f"[{passages[0].number}]", 1)
        numbers.add(passages)
        run.answers.append(text)
        await ctx.store.set(NUMBERS, numbers.as_json())
    return Reading(text, passages)


async def _aconversation(store: Any, run: _Run) -> str:
    """Return what the conversation shows; without an agent, what the tools answered."""
    memory = await store.get("memory", default=None)
    if not isinstance(memory, BaseMemory):
        return "\n".join(run.answers)
    messages = await memory.aget(input=await store.get("user_msg_str", default=None))
    contents = [message.content or "" for message in messages]
    # Agents put what the tools of a run answered into the memory when the run ends,
    # or when they hand over. Not so ReActAgent: only such agents read it then.
    answered: list[str] = []
    reasoning = await store.get("current_reasoning", default=[])
    if reasoning and isinstance(reasoning[-1], ActionReasoningStep):
        answered += [step.get_content() for step in reasoning]
    by_such = len(answered)
    for call in await store.get("current_tool_calls", default=[]):
        run.answers = [a for a in run.answers if a != call.tool_output.content]
        answered.append(call.tool_output.content)
        if call.tool_name == _HANDOVER:
            del answered[by_such:]
    said = "\n".join(contents)
    run.answers = [answer for answer in run.answers if answer not in said]
    return "\n".join([said, *answered, *run.answers])
