"""LangChain: an agent that reads each clause once, and cites it by its number."""

from __future__ import annotations

import re
from typing import Any

from langchain.agents import create_agent
from langchain_core.documents import Document
from langchain_core.messages import AIMessage
from langchain_core.vectorstores import InMemoryVectorStore

from contract import CONTRACT, QUESTION, clause_numbers
from langchain_oprag import (
    EvidenceMiddleware,
    OffsetSentenceSplitter,
    cited,
    create_retrieval_tool,
)
from offline_langchain import RecordingChatModel, WordEmbeddings
from oprag import place_of

SEARCHES = (QUESTION, "What about the deposit and the rent?")


def sources(state: dict[str, Any]) -> dict[int, tuple[Any, ...]]:
    """Turn each number in the answer into file, page, first and last character."""
    numbers = map(int, re.findall(r"\[(\d+)\]", state["messages"][-1].content))
    documents = cited(state)
    places = {number: place_of(documents[number]) for number in numbers}
    return {
        n: (p.document_name, p.part, p.start, p.end) for n, p in places.items() if p
    }


def main() -> list[int]:
    """Let the agent search; return the clauses of its first search, as it read them."""
    splitter = OffsetSentenceSplitter(chunk_size=25)
    source = Document(CONTRACT, metadata={"source": "lease.txt"})
    vectorstore = InMemoryVectorStore(WordEmbeddings())
    vectorstore.add_documents(splitter.split_documents([source]))

    search = create_retrieval_tool(vectorstore, token_budget=150, name="search_lease")
    calls = [
        {"name": "search_lease", "args": {"query": query}, "id": f"call-{number}"}
        for number, query in enumerate(SEARCHES)
    ]
    turns = [AIMessage("", tool_calls=[call]) for call in calls]
    model = RecordingChatModel(
        replies=[*turns, AIMessage("Six months of notice [1], then the deposit [4].")]
    )
    agent = create_agent(model, tools=[search], middleware=[EvidenceMiddleware()])
    result = agent.invoke({"messages": [{"role": "user", "content": QUESTION}]})

    _, once, twice = model.prompts
    print("Answer:", result["messages"][-1].content)
    print(sources(result))
    print(twice)
    first, second = clause_numbers(once), clause_numbers(twice.removeprefix(once))
    assert twice.startswith(once)
    for file, _, start, end in sources(result).values():
        assert file == "lease.txt"
        assert CONTRACT[start:end] in twice
    assert len(first) > 1
    assert first == sorted(first)
    assert not set(first) & set(second)
    return first


if __name__ == "__main__":
    main()
