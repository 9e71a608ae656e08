"""A retriever as a tool for agents: text with places, each part once if wanted."""

# No `from __future__ import annotations`: LlamaIndex gives its Context only to
# functions whose annotation is the class itself, not its name as text.

from contextlib import AbstractContextManager
from functools import partial
from typing import Any, Literal, Never, Unpack, get_args

from llama_index.core.async_utils import asyncio_run
from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.indices.base import BaseIndex
from llama_index.core.schema import NodeWithScore
from llama_index.core.tools import FunctionTool, ToolMetadata, ToolOutput
from llama_index.core.workflow import Context

from llamaindex_oprag._options import OrderedKeywords
from llamaindex_oprag._runs import number_as, open_run
from llamaindex_oprag._searched import OF_SEARCH, require_retriever
from llamaindex_oprag.results import format_nodes
from llamaindex_oprag.retrievers import OrderPreservingRetriever
from oprag.agents import NOTHING_FOUND, ToolReply, search_description
from oprag.diagnosing import Verifiable, Verification
from oprag.effects import run_in_thread
from oprag.errors import (
    InvalidOptionError,
    invalid_option,
    refuse_unknown,
    refuse_unnamed,
)

Show = Literal["all", "unseen"]

_OPTIONS = tuple(n for n in OrderedKeywords.__annotations__ if n != "citations")
_ADVICE = {
    **OF_SEARCH,
    "citations": "Places are always written: leave it out.",
    "node_postprocessors": "Give a retriever that applies them.",
}


class OrderPreservingRetrieverTool(Verifiable, FunctionTool):
    """A retriever as a tool: an agent reads passages in order, with their places.

    Made by `from_defaults`. The content is the text of `format_nodes`: source and
    place before each passage, `[…]` where text was left out. The same search gives the
    same content, byte for byte. `raw_output` holds the nodes.

    Args:
        retriever: The retriever, whose options decide which nodes come.
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
                keeps its own options. If only a retriever inside has a budget, no
                places are written, except with `show="unseen"`.
            name: None for `retriever_tool`, the name of LlamaIndex's own tool.
            description: Its description for the model; None for a general one.
            show: `"all"` text that a search finds, or only the text that is `"unseen"`
                in this conversation. Text shown before is cut out before the budget is
                filled, and a line names the passages that hold it,
                `[see above: [1], [4]]`. Text counts as shown while the agent's memory
                gives a message with it. Numbers run on over the conversation, and none
                is given to two passages. The place of each is kept, packed, in the
                store of the agent's `Context`, under `oprag_numbers`, for all such
                tools in it; a typed state needs a list of that name. `cited` reads it.
                LlamaIndex makes a new memory for each run without `memory=`: run the
                agent with the same one.
            **options: All of `OrderPreservingRetriever` but `citations`, such as
                `similarity_top_k` and `token_budget`, which also counts the places and
                marks around the texts. Neighbours are merged by default.

        Raises:
            InvalidOptionError: `retriever` is something else; or it is an
                `OrderPreservingRetriever`, and options are given beside it.
        """
        known = ("name", "description", "show", *_OPTIONS)
        refuse_unnamed(f"{cls.__name__}.from_defaults", unnamed, known)
        refuse_unknown(options, known, _ADVICE)
        searching = require_retriever("retriever", retriever)
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

    @staticmethod
    def continue_numbers(ctx: Context) -> AbstractContextManager[None]:
        """Let an agent that a tool calls go on with the numbers of its caller.

        It covers all passages that such tools and those of `create_reading_tools` show
        in runs that begin in the block. They are numbered and kept in one Context, even
        if the runs go side by side.

        Args:
            ctx: The Context that the calling tool gets.

        Returns:
            A block, for `with`.

        Example:
            ```python
            async def research(ctx: Context, task: str) -> str:
                with search.continue_numbers(ctx):
                    return str(await inner.run(task))
            ```
        """
        return number_as(ctx.store)

    @property
    def retriever(self) -> OrderPreservingRetriever:
        """The retriever that it searches with."""
        return self._retriever

    def call(self, *args: Any, **kwargs: Any) -> ToolOutput:
        """Search, and return the content; with `show="unseen"`, `ctx=` is needed.

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
        searching = self._retriever._copy_for_text()  # noqa: SLF001 -- of this package
        return self._output(input, searching.retrieve(input))

    async def _aall(self, input: str) -> ToolOutput:  # noqa: A002 -- as above
        nodes = await self._retriever._copy_for_text().aretrieve(input)  # noqa: SLF001 -- as above
        return await run_in_thread(partial(self._output, input, nodes))

    def _next(self, input: str, ctx: Context) -> ToolOutput:  # noqa: A002 -- as above
        output: ToolOutput = asyncio_run(self._anext(input, ctx))
        return output

    async def _anext(self, input: str, ctx: Context) -> ToolOutput:  # noqa: A002 -- as above
        run = open_run(ctx.store)
        async with run.turn(ctx.store) as numbering:
            numbers = await numbering.read_numbers()
            texts = await run.texts(ctx.store)
            with run.conversations.begin_reading(texts, numbers) as conversation:
                answer = await self._retriever._aretrieve_unseen(  # noqa: SLF001 -- as above
                    input, conversation.seen, numbers
                )
            output = self._output(input, answer.passages, answer.text)
            await numbering.add(answer.shown)
            run.answers.append(output.content)
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


async def number_reply(ctx: Context, reading: ToolReply) -> ToolReply:
    """Number the passages of another tool's reply, and note that they were shown."""
    run = open_run(ctx.store)
    async with run.turn(ctx.store) as numbering:
        numbers = await numbering.read_numbers()
        passages = tuple(numbers.assign(reading.passages))
        if not passages:
            return reading
        text = reading.text.replace("[1]", f"[{passages[0].number}]", 1)
        await numbering.add(passages)
        run.answers.append(text)
    return ToolReply(text, passages)
