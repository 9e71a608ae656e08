"""LlamaIndex: a chat with memory that appends only the unseen, turn by turn."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from llama_index.core import Document, VectorStoreIndex
from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.base.llms.types import ToolCallBlock
from llama_index.core.llms import ChatMessage, MockFunctionCallingLLM
from llama_index.core.memory import ChatMemoryBuffer
from llama_index.core.workflow import Context

from contract import CONTRACT, QUESTION, clause_numbers
from llamaindex_oprag import OffsetSentenceNodeParser, OrderPreservingRetrieverTool
from offline_llamaindex import WordEmbedding

QUESTIONS = (QUESTION, "What about the deposit and the rent?")


def main() -> list[int]:
    """Chat for two turns; return the clauses of the first, as the model read them."""
    prompts: list[str] = []

    def scripted(messages: Sequence[ChatMessage], **_: Any) -> ChatMessage:
        if messages[-1].role == "tool":
            prompts.append("\n".join(message.content or "" for message in messages))
            return ChatMessage("Six months of notice.", role="assistant")
        call = ToolCallBlock(
            tool_name="search_lease", tool_kwargs={"input": messages[-1].content}
        )
        return ChatMessage(role="assistant", blocks=[call])

    index = VectorStoreIndex.from_documents(
        [Document(text=CONTRACT, id_="lease.txt")],
        transformations=[OffsetSentenceNodeParser(chunk_size=25)],
        embed_model=WordEmbedding(),
    )
    search = OrderPreservingRetrieverTool.from_defaults(
        index.as_retriever(similarity_top_k=5), name="search_lease", show="unseen"
    )
    llm = MockFunctionCallingLLM(response_generator=scripted)
    asyncio.run(_chat(FunctionAgent(tools=[search], llm=llm)))

    first, second = prompts
    assert second.startswith(first)  # the cache of prompts holds
    shown = clause_numbers(first)
    assert not set(shown) & set(clause_numbers(second.removeprefix(first)))
    return shown


async def _chat(agent: FunctionAgent) -> None:
    context, memory = Context(agent), ChatMemoryBuffer.from_defaults(token_limit=8_000)
    for question in QUESTIONS:
        print("Answer:", await agent.run(question, ctx=context, memory=memory))


if __name__ == "__main__":
    main()
