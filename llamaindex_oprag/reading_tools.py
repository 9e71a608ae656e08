"""`create_reading_tools`: documents that agents read on in, outline and list."""

from __future__ import annotations

from inspect import signature
from typing import Any

from llama_index.core.async_utils import asyncio_run
from llama_index.core.tools import FunctionTool, ToolOutput

from llamaindex_oprag._options import default_tokenizer
from llamaindex_oprag.documents import SourceLike, document_source
from llamaindex_oprag.results import as_nodes
from llamaindex_oprag.tools import number_reply
from oprag.agents import DESCRIPTIONS, DocumentReader, ToolReply, answer_refusal
from oprag.effects import arun_effects, run_effects
from oprag.tokens import TokenizerSpec


def create_reading_tools(
    documents: SourceLike,
    *,
    token_budget: int = 2_000,
    token_counter: TokenizerSpec = None,
) -> list[FunctionTool]:
    """Make tools to read on after a search, for any agent of LlamaIndex.

    `read(document, start, end, page)` gives characters by the place that a citation
    names, one page at most; `outline(document)` lists headings, or how paragraphs
    begin; `documents(containing)` lists names. If a text cannot be read, the answer
    says so in words. The `raw_output` of a reply is a node for the text that was read,
    with its place. The text is noted in the agent's `Context` (a typed state needs the
    list `oprag_numbers`), as by an `OrderPreservingRetrieverTool` with `show="unseen"`,
    which does not show it again.

    Args:
        documents: The texts that may be read, all of them: anything that
            `document_source` takes.
        token_budget: Tokens of one page, its place included.
        token_counter: As in `OrderPreservingRetriever`.

    Returns:
        The three tools, sync and async.

    Raises:
        InvalidOptionError: An option cannot have this value.

    Example:
        >>> read, outline, listed = create_reading_tools({"a.txt": "To begin."})
        >>> print(read.call(document="a.txt", start=3).content)
        [1] a.txt, characters 3-9
        begin.
    """
    reader = DocumentReader(
        document_source(documents),
        token_budget=token_budget,
        token_counter=default_tokenizer(token_counter),
    )
    return [
        _ReadingTool.from_defaults(steps, name := steps.__name__, DESCRIPTIONS[name])
        for steps in (reader.read, reader.outline, reader.documents)
    ]


class _ReadingTool(FunctionTool):
    """Carries out steps; in an agent it notes in the Context the passages it showed."""

    def __init__(self, *args: Any, **named: Any) -> None:
        super().__init__(*args, **named)
        self.requires_context, self.ctx_param_name = True, "ctx"

    def call(self, *args: Any, ctx: Any = None, **given: Any) -> ToolOutput:
        """Read, and return the content."""
        if ctx is not None:
            return asyncio_run(self.acall(*args, ctx=ctx, **given))  # type: ignore[no-any-return]
        return self._output(
            run_effects(answer_refusal(self._fn(*args, **given))), args, given
        )

    async def acall(self, *args: Any, ctx: Any = None, **given: Any) -> ToolOutput:
        """Async version of `call`."""
        reading = await arun_effects(answer_refusal(self._fn(*args, **given)))
        if ctx is not None:
            reading = await number_reply(ctx, reading)
        return self._output(reading, args, given)

    def _output(
        self, reading: ToolReply, args: tuple[Any, ...], given: dict[str, Any]
    ) -> ToolOutput:
        bound = signature(self._fn).bind(*args, **given)
        return ToolOutput(
            tool_name=self.metadata.get_name(),
            content=reading.text,
            raw_input=bound.arguments,
            raw_output=as_nodes(reading.passages),
        )
