"""LlamaIndex: an agent that searches twice and reads each clause once, in order."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from llama_index.core import Document, VectorStoreIndex
from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.base.llms.types import ToolCallBlock
from llama_index.core.llms import ChatMessage, MockFunctionCallingLLM

from contract import CONTRACT, QUESTION, clause_numbers
from llamaindex_oprag import OffsetSentenceNodeParser, OrderPreservingRetrieverTool
from offline_llamaindex import WordEmbedding

SEARCHES = (QUESTION, "What about the deposit and the rent?")


def main() -> list[int]:
    """Let the agent search; return the clauses of its first search, as it read them."""
    read: list[str] = []

    def scripted(messages: Sequence[ChatMessage], **_: Any) -> ChatMessage:
        results = [
            message.content or "" for message in messages if message.role == "tool"
        ]
        read[:] = results
        if len(results) == len(SEARCHES):
            return ChatMessage("With six months of notice.", role="assistant")
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
    answer = asyncio.run(_ask(FunctionAgent(tools=[search], llm=llm)))

    print("Answer:", answer)
    print("\n\n".join(read))
    first, second = map(clause_numbers, read)
    assert len(first) > 1
    assert first == sorted(first)
    assert not set(first) & set(second)
    return first


async def _ask(agent: FunctionAgent) -> str:
    return str(await agent.run(QUESTION))


if __name__ == "__main__":
    main()
