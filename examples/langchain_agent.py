"""LangChain: an agent whose tool answers in document order, with places."""

from __future__ import annotations

from langchain.agents import create_agent
from langchain_core.documents import Document
from langchain_core.messages import AIMessage
from langchain_core.vectorstores import InMemoryVectorStore

from contract import CONTRACT, QUESTION, clause_numbers
from langchain_oprag import OffsetSentenceSplitter, create_retrieval_tool
from offline_langchain import RecordingChatModel, WordEmbeddings


def main() -> list[int]:
    """Let the agent search once; return the clauses as the model was sent them."""
    splitter = OffsetSentenceSplitter(chunk_size=25)
    source = Document(CONTRACT, metadata={"source": "lease.txt"})
    vectorstore = InMemoryVectorStore(WordEmbeddings())
    vectorstore.add_documents(splitter.split_documents([source]))

    # The line that changes. Before: create_retriever_tool(retriever, …)
    search = create_retrieval_tool(vectorstore, k=5)

    call = {"name": search.name, "args": {"query": QUESTION}, "id": "call-1"}
    model = RecordingChatModel(
        replies=[AIMessage("", tool_calls=[call]), AIMessage("Six months of notice.")]
    )
    agent = create_agent(model, tools=[search])
    result = agent.invoke({"messages": [{"role": "user", "content": QUESTION}]})

    sent = clause_numbers(model.prompts[-1])
    print("Answer:", result["messages"][-1].content)
    print("Clauses, as the model read them:", sent)
    assert len(sent) > 1
    assert sent == sorted(sent)
    return sent


if __name__ == "__main__":
    main()
