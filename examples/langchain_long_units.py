"""LangChain: short chunks are searched, the long units they stand in are read."""

from __future__ import annotations

from typing import Any

from langchain_core.documents import Document
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage
from langchain_core.vectorstores import InMemoryVectorStore

from contract import CLAUSES, CONTRACT, clause_numbers
from langchain_oprag import LongReader, LongUnitRetriever
from offline_langchain import RecordingChatModel, WordEmbeddings
from oprag.units import group_documents

QUESTION = "How many months is the notice in the first year?"
REPLIES = ["Notice is six months, but three months in the first year.", "three months"]

DOCUMENTS = {
    f"clause {number}": text
    for number, text in enumerate(CONTRACT.split("\n\n"), start=1)
}
LINKS = [
    ("clause 10", "clause 9"),  # the exception, and its rule
    ("clause 11", "clause 5"),  # both are on the deposit
    ("clause 8", "clause 4"),  # both are on the rent
]


def ask(model: BaseChatModel) -> dict[str, Any]:
    """Ask any chat model; return what it answered, and what that took."""
    vectorstore = InMemoryVectorStore(WordEmbeddings())
    vectorstore.add_documents(
        [Document(text, metadata={"source": name}) for name, text in DOCUMENTS.items()]
    )

    reader = LongReader(
        llm=model,
        retriever=LongUnitRetriever(
            vectorstore=vectorstore,
            units=group_documents(DOCUMENTS, LINKS, max_tokens=60),
            documents=DOCUMENTS,
            k=1,
        ),
        one_call_below=0,  # the contract is so short that one call would do
    )
    return reader.invoke(QUESTION)


def main() -> list[int]:
    """Ask once; return the clauses in the order the model was sent them."""
    model = RecordingChatModel(replies=[AIMessage(reply) for reply in REPLIES])
    result = ask(model)

    print("Long answer: ", result["long_answer"])
    print("Short answer:", result["answer"])
    for call in result["usage"]["steps"]:
        print(f"  {call['step']} call: {call['input_tokens']} tokens in")
    clauses = clause_numbers(model.prompts[0])
    print("Clauses read:", clauses)
    assert 1 < len(clauses) < len(CLAUSES)
    assert clause_numbers(model.prompts[1]) == []
    return clauses


if __name__ == "__main__":
    main()
