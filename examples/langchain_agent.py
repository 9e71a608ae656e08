"""LangChain: an agent whose retriever tool answers in document order."""

from __future__ import annotations

from langchain.agents import create_agent
from langchain_core.documents import Document
from langchain_core.messages import AIMessage
from langchain_core.tools import create_retriever_tool
from langchain_core.vectorstores import InMemoryVectorStore

from contract import CONTRACT, QUESTION, clause_numbers
from langchain_oprag import OffsetSentenceSplitter, OrderPreservingRetriever
from offline_langchain import RecordingChatModel, WordEmbeddings


def main() -> list[int]:
    """Let the agent search once; return the clauses as the model was sent them."""
    splitter = OffsetSentenceSplitter(chunk_size=25)
    source = Document(CONTRACT, metadata={"source": "lease.txt"})
    vectorstore = InMemoryVectorStore(WordEmbeddings())
    vectorstore.add_documents(splitter.split_documents([source]))

    # The line that changes. Before: vectorstore.as_retriever()
    retriever = OrderPreservingRetriever(vectorstore=vectorstore, k=5)
    search = create_retriever_tool(retriever, "search_lease", "Searches the lease.")

    call = {"name": "search_lease", "args": {"query": QUESTION}, "id": "call-1"}
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
