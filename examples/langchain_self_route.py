"""LangChain: a chain that goes on to the whole contract when the chunks fail."""

from __future__ import annotations

from typing import Any

from langchain_core.documents import Document
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage
from langchain_core.vectorstores import InMemoryVectorStore

from contract import CLAUSES, CONTRACT, QUESTION, clause_numbers
from langchain_oprag import OffsetSentenceSplitter, SelfRouteChain
from offline_langchain import RecordingChatModel, WordEmbeddings

REPLIES = [
    "Unanswerable. The text does not name the deposit.",
    "With six months of notice; the deposit is paid back.",
]


def ask(model: BaseChatModel) -> dict[str, Any]:
    """Ask any chat model once; return the usage: what the answer took."""
    splitter = OffsetSentenceSplitter(chunk_size=25)
    source = Document(CONTRACT, metadata={"source": "lease.txt"})
    vectorstore = InMemoryVectorStore(WordEmbeddings())
    vectorstore.add_documents(splitter.split_documents([source]))

    chain = SelfRouteChain(
        llm=model,
        retriever=vectorstore.as_retriever(search_kwargs={"k": 3}),
        documents={"lease.txt": CONTRACT},
    )

    # The refusal is never shown: what is printed is the final answer from its start.
    usage: dict[str, Any] = {}
    for piece in chain.stream({"input": QUESTION}):
        print(piece.get("answer", ""), end="")
        usage = piece.get("usage", usage)
    print()
    for step in usage["steps"]:
        print(f"  {step['step']}: {step['decision']}, {step['input_tokens']} tokens in")
    return usage


def main() -> list[int]:
    """Ask once; return the clauses in the order the model was first sent them."""
    model = RecordingChatModel(replies=[AIMessage(reply) for reply in REPLIES])
    ask(model)

    chunks, whole = (clause_numbers(prompt) for prompt in model.prompts)
    print("Clauses, first call: ", chunks)
    print("Clauses, second call:", whole)
    assert 1 < len(chunks) < len(whole) == len(CLAUSES)
    assert chunks == sorted(chunks)
    assert CONTRACT in model.prompts[1]
    return chunks


if __name__ == "__main__":
    main()
