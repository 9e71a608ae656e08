"""LangChain: an agent that searches twice and reads each clause once, in order."""

from __future__ import annotations

from langchain.agents import create_agent
from langchain_core.documents import Document
from langchain_core.messages import AIMessage
from langchain_core.vectorstores import InMemoryVectorStore

from contract import CONTRACT, QUESTION, clause_numbers
from langchain_oprag import (
    EvidenceMiddleware,
    OffsetSentenceSplitter,
    create_retrieval_tool,
)
from offline_langchain import RecordingChatModel, WordEmbeddings

SEARCHES = (QUESTION, "What about the deposit and the rent?")


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
    model = RecordingChatModel(replies=[*turns, AIMessage("Six months of notice.")])
    agent = create_agent(model, tools=[search], middleware=[EvidenceMiddleware()])
    result = agent.invoke({"messages": [{"role": "user", "content": QUESTION}]})

    _, once, twice = model.prompts
    print("Answer:", result["messages"][-1].content)
    print(twice)
    first, second = clause_numbers(once), clause_numbers(twice.removeprefix(once))
    assert twice.startswith(once)
    assert len(first) > 1
    assert first == sorted(first)
    assert not set(first) & set(second)
    return first


if __name__ == "__main__":
    main()
