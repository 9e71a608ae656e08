"""LlamaIndex: a query engine that goes on to the whole contract when nodes fail."""

from __future__ import annotations

from typing import Any

from llama_index.core import Document, VectorStoreIndex
from llama_index.core.llms import LLM

from contract import CLAUSES, CONTRACT, QUESTION, clause_numbers
from llamaindex_oprag import OffsetSentenceNodeParser, SelfRouteQueryEngine
from offline_llamaindex import RecordingLLM, WordEmbedding

REPLIES = [
    "Unanswerable. The text does not name the deposit.",
    "With six months of notice; the deposit is paid back.",
]


def ask(llm: LLM) -> dict[str, Any]:
    """Ask any LLM once; return the usage: what the answer took."""
    index = VectorStoreIndex.from_documents(
        [Document(text=CONTRACT, id_="lease.txt")],
        transformations=[OffsetSentenceNodeParser(chunk_size=25)],
        embed_model=WordEmbedding(),
    )

    # The line that changes. Before: index.as_query_engine(llm=llm, ...)
    engine = SelfRouteQueryEngine.from_args(
        index.as_retriever(similarity_top_k=3),
        llm,
        documents={"lease.txt": CONTRACT},
        streaming=True,
    )

    # The refusal is never shown: what is printed is the final answer from its start.
    response = engine.query(QUESTION)
    print("Answer:", response)
    usage: dict[str, Any] = (response.metadata or {})["usage"]
    for step in usage["steps"]:
        print(f"  {step['step']}: {step['decision']}, {step['input_tokens']} tokens in")
    return usage


def main() -> list[int]:
    """Ask once; return the clauses in the order the LLM was first sent them."""
    llm = RecordingLLM(replies=REPLIES)
    ask(llm)

    nodes, whole = (clause_numbers(prompt) for prompt in llm.prompts)
    print("Clauses, first call: ", nodes)
    print("Clauses, second call:", whole)
    assert 1 < len(nodes) < len(whole) == len(CLAUSES)
    assert nodes == sorted(nodes)
    assert CONTRACT in llm.prompts[1]
    return nodes


if __name__ == "__main__":
    main()
