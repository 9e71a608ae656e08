"""LlamaIndex: an agent that reads each clause once, and cites it by its number."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from typing import Any

from llama_index.core import Document, VectorStoreIndex
from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.base.llms.types import ToolCallBlock
from llama_index.core.llms import ChatMessage, MockFunctionCallingLLM
from llama_index.core.workflow import Context

from contract import CONTRACT, QUESTION, clause_numbers
from llamaindex_oprag import (
    OffsetSentenceNodeParser,
    OrderPreservingRetrieverTool,
    acited,
)
from offline_llamaindex import WordEmbedding
from oprag import place_of

SEARCHES = (QUESTION, "What about the deposit and the rent?")


async def sources(context: Context[Any], response: Any) -> dict[int, tuple[Any, ...]]:
    """Turn each number in the answer into file, page, first and last character."""
    nodes = await acited(context, response)
    numbers = map(int, re.findall(r"\[(\d+)\]", str(response)))
    places = {number: place_of(nodes[number]) for number in numbers}
    return {
        n: (p.document_name, p.part, p.start, p.end) for n, p in places.items() if p
    }


def main() -> list[int]:
    """Let the agent search; return the clauses of its first search, as it read them."""
    read: list[str] = []

    def scripted(messages: Sequence[ChatMessage], **_: Any) -> ChatMessage:
        results = [
            message.content or "" for message in messages if message.role == "tool"
        ]
        read[:] = results
        if len(results) == len(SEARCHES):
            return ChatMessage(
                "Six months [1], then the deposit [2].", role="assistant"
            )
        call = ToolCallBlock(
            tool_name="search_lease", tool_kwargs={"input": SEARCHES[len(results)]}
        )
        return ChatMessage(role="assistant", blocks=[call])

    index = VectorStoreIndex.from_documents(
        [Document(text=CONTRACT, id_="lease.txt")],
        transformations=[OffsetSentenceNodeParser(chunk_size=25)],
        embed_model=WordEmbedding(),
    )

    # The line that changes. Before: RetrieverTool.from_defaults(retriever, …)
    search = OrderPreservingRetrieverTool.from_defaults(
        index.as_retriever(similarity_top_k=5), name="search_lease", show="unseen"
    )
    llm = MockFunctionCallingLLM(response_generator=scripted)
    answer, found = asyncio.run(_ask(FunctionAgent(tools=[search], llm=llm)))

    print("Answer:", answer)
    print(found)
    print("\n\n".join(read))
    first, second = map(clause_numbers, read)
    for file, _, start, end in found.values():
        assert file == "lease.txt"
        assert CONTRACT[start:end] in "".join(read)
    assert len(first) > 1
    assert first == sorted(first)
    assert not set(first) & set(second)
    return first


async def _ask(agent: FunctionAgent) -> tuple[str, dict[int, tuple[Any, ...]]]:
    context = Context(agent)
    response = await agent.run(QUESTION, ctx=context)
    return str(response), await sources(context, response)


if __name__ == "__main__":
    main()
