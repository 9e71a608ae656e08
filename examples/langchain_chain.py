"""LangChain: a chain that retrieves first, over a store that answers in order."""

from __future__ import annotations

from typing import Any

from langchain.agents import create_agent
from langchain.agents.middleware import ModelRequest, dynamic_prompt
from langchain_core.documents import Document
from langchain_core.messages import AIMessage
from langchain_core.vectorstores import InMemoryVectorStore

from contract import CONTRACT, QUESTION, clause_numbers
from langchain_oprag import OffsetSentenceSplitter, OrderPreservingVectorStore
from offline_langchain import RecordingChatModel, WordEmbeddings


def main() -> list[int]:
    """Ask once; return the clauses in the order the model was sent them."""
    splitter = OffsetSentenceSplitter(chunk_size=25)
    source = Document(CONTRACT, metadata={"source": "lease.txt"})
    by_score = InMemoryVectorStore(WordEmbeddings())
    by_score.add_documents(splitter.split_documents([source]))

    vector_store = OrderPreservingVectorStore(by_score)  # the line that is new

    @dynamic_prompt
    def with_context(request: ModelRequest[Any]) -> str:
        found = vector_store.similarity_search(request.messages[-1].text, k=5)
        return "\n\n".join(document.page_content for document in found)

    model = RecordingChatModel(replies=[AIMessage("With six months of notice.")])
    agent = create_agent(model, tools=[], middleware=[with_context])
    result = agent.invoke({"messages": [{"role": "user", "content": QUESTION}]})
    print("Answer:", result["messages"][-1].content)

    hits = by_score.similarity_search(QUESTION, k=5)
    best_first = [n for hit in hits for n in clause_numbers(hit.page_content)]
    sent = clause_numbers(model.prompts[0])
    print("Clauses, best first:      ", best_first)
    print("Clauses, as the model read:", sent)
    assert sorted(best_first) == sent
    assert best_first != sent
    return sent


if __name__ == "__main__":
    main()
