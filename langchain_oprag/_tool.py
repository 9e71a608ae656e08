"""A chain as an agent's tool."""

from __future__ import annotations

from typing import Any

from langchain_core.runnables import Runnable, RunnableConfig
from langchain_core.tools import BaseTool, StructuredTool
from pydantic import BaseModel, Field

_NAME = "ask_documents"
_DESCRIPTION = "Answers a question from the documents, or says that they do not."


class _Arguments(BaseModel):
    question: str = Field(description="A question that stands by itself.")


def tool_of(
    chain: Runnable[Any, dict[str, Any]], *, name: str | None, description: str | None
) -> BaseTool:
    """Make a tool that asks a chain; see `SelfRouteChain.as_tool`."""

    def ask(question: str, config: RunnableConfig) -> tuple[str, dict[str, Any]]:
        result = chain.invoke({"input": question}, config)
        return result["answer"], result

    async def aask(question: str, config: RunnableConfig) -> tuple[str, dict[str, Any]]:
        result = await chain.ainvoke({"input": question}, config)
        return result["answer"], result

    return StructuredTool.from_function(
        ask,
        aask,
        name=name or _NAME,
        description=description or _DESCRIPTION,
        args_schema=_Arguments,
        response_format="content_and_artifact",
    )
