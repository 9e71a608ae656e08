"""`create_reading_tools`: documents that agents read on in, outline and list."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from langchain_core.documents import Document
from langchain_core.tools import StructuredTool

from langchain_oprag.documents import SourceLike, document_source
from langchain_oprag.results import as_documents
from oprag.agents import DESCRIPTIONS, DocumentReader, ToolReply, answer_refusal
from oprag.effects import Effects, arun_effects, run_effects
from oprag.tokens import TokenizerSpec


def create_reading_tools(
    documents: SourceLike,
    *,
    token_budget: int = 2_000,
    token_counter: TokenizerSpec = None,
) -> list[StructuredTool]:
    """Make tools to read on after a search, for any agent or graph of LangChain.

    `read(document, start, end, page)` gives characters by the place that a citation
    names, one page at most; `outline(document)` lists headings, or how paragraphs
    begin; `documents(containing)` lists names. If a text cannot be read, the answer
    says so in words. The artifact of a reply is a `Document` for the text that was
    read, with its place, so that `EvidenceMiddleware` shows it once.

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
        >>> print(read.invoke({"document": "a.txt", "start": 3}))
        [1] a.txt, characters 3-9
        begin.
    """
    reader = DocumentReader(
        document_source(documents),
        token_budget=token_budget,
        token_counter=token_counter,
    )
    return [_tool(steps) for steps in (reader.read, reader.outline, reader.documents)]


def _tool(steps: Callable[..., Effects[ToolReply]]) -> StructuredTool:
    @wraps(steps)
    def now(**given: Any) -> tuple[str, list[Document]]:
        return _write_content(run_effects(answer_refusal(steps(**given))))

    @wraps(steps)
    async def later(**given: Any) -> tuple[str, list[Document]]:
        return _write_content(await arun_effects(answer_refusal(steps(**given))))

    return StructuredTool.from_function(
        now,
        later,
        name=steps.__name__,
        description=DESCRIPTIONS[steps.__name__],
        response_format="content_and_artifact",
    )


def _write_content(reading: ToolReply) -> tuple[str, list[Document]]:
    return reading.text, as_documents(reading.passages)
