"""LlamaIndex: short nodes are searched, the long units they stand in are read."""

from __future__ import annotations

from llama_index.core import Document, VectorStoreIndex
from llama_index.core.base.response.schema import Response
from llama_index.core.llms import LLM
from llama_index.core.query_engine import RetrieverQueryEngine

from contract import CLAUSES, CONTRACT, clause_numbers
from llamaindex_oprag import (
    LongReaderSynthesizer,
    LongUnitRetriever,
    OffsetTokenNodeParser,
)
from offline_llamaindex import RecordingLLM, WordEmbedding
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


def ask(llm: LLM) -> Response:
    """Ask any LLM; return its response."""
    index = VectorStoreIndex.from_documents(
        [Document(text=text, id_=name) for name, text in DOCUMENTS.items()],
        transformations=[OffsetTokenNodeParser(chunk_size=512)],
        embed_model=WordEmbedding(),
    )

    engine = RetrieverQueryEngine(
        LongUnitRetriever(
            index.as_retriever(),
            units=group_documents(DOCUMENTS, LINKS, max_tokens=60),
            documents=DOCUMENTS,
            similarity_top_k=1,
        ),
        # The contract is so short that one call would do.
        LongReaderSynthesizer(llm, one_call_below=0),
    )
    response = engine.query(QUESTION)
    assert isinstance(response, Response)
    return response


def main() -> list[int]:
    """Ask once; return the clauses in the order the LLM was sent them."""
    llm = RecordingLLM(replies=REPLIES)
    response = ask(llm)

    metadata = response.metadata or {}
    print("Long answer: ", metadata["long_answer"])
    print("Short answer:", response)
    for call in metadata["usage"]["steps"]:
        print(f"  {call['step']} call: {call['input_tokens']} tokens in")
    clauses = clause_numbers(llm.prompts[0])
    print("Clauses read:", clauses)
    assert 1 < len(clauses) < len(CLAUSES)
    assert clause_numbers(llm.prompts[1]) == []
    return clauses


if __name__ == "__main__":
    main()
