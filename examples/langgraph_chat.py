"""LangGraph: a chat that searches at every turn and appends only the unseen."""

from __future__ import annotations

from typing import Any

from langchain_core.documents import Document
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.vectorstores import InMemoryVectorStore
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph

from contract import CONTRACT, QUESTION, clause_numbers
from langchain_oprag import (
    EvidenceMiddleware,
    OffsetSentenceSplitter,
    create_retrieval_tool,
)
from offline_langchain import RecordingChatModel, WordEmbeddings


def main() -> list[int]:
    """Chat for two turns; return the clauses of the first, as the model read them."""
    splitter = OffsetSentenceSplitter(chunk_size=25)
    source = Document(CONTRACT, metadata={"source": "lease.txt"})
    vectorstore = InMemoryVectorStore(WordEmbeddings())
    vectorstore.add_documents(splitter.split_documents([source]))
    search = create_retrieval_tool(vectorstore, k=5, name="search_lease")
    model = RecordingChatModel(replies=[AIMessage("Six months."), AIMessage("Two.")])
    once = EvidenceMiddleware()

    def turn(state: MessagesState) -> dict[str, Any]:
        messages = state["messages"]
        asked = {"query": messages[-1].text}
        call = {"name": search.name, "args": asked, "id": f"call-{len(messages)}"}
        searched = AIMessage("", tool_calls=[call])
        found = [searched, search.invoke({**call, "type": "tool_call"})]
        reply = model.invoke(once.apply([*messages, *found]))
        return {"messages": [*found, reply]}

    graph = StateGraph(MessagesState)
    graph.add_node("turn", turn)
    graph.add_edge(START, "turn")
    chat = graph.compile(checkpointer=InMemorySaver())
    for question in (QUESTION, "What about the deposit and the rent?"):
        said = MessagesState(messages=[HumanMessage(question)])
        answer = chat.invoke(said, {"configurable": {"thread_id": "1"}})
        print("Answer:", answer["messages"][-1].content)

    first, second = model.prompts
    assert second.startswith(first)  # the cache of prompts holds
    shown = clause_numbers(first)
    assert not set(shown) & set(clause_numbers(second.removeprefix(first)))
    return shown


if __name__ == "__main__":
    main()
