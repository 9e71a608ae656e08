"""LlamaIndex: a query engine whose LLM reads the contract in its own order."""

from __future__ import annotations

from llama_index.core import Document, VectorStoreIndex

from contract import CONTRACT, QUESTION, clause_numbers
from llamaindex_oprag import OffsetSentenceNodeParser, OrderPreservingPostprocessor
from offline_llamaindex import RecordingLLM, WordEmbedding


def main() -> list[int]:
    """Ask once; return the clauses in the order the LLM was sent them."""
    llm = RecordingLLM(reply="With six months of notice.")
    index = VectorStoreIndex.from_documents(
        [Document(text=CONTRACT, id_="lease.txt")],
        transformations=[OffsetSentenceNodeParser(chunk_size=25)],
        embed_model=WordEmbedding(),
    )

    engine = index.as_query_engine(
        llm=llm,
        similarity_top_k=5,
        node_postprocessors=[OrderPreservingPostprocessor()],  # the line that is new
    )
    response = engine.query(QUESTION)

    print("Answer:", response)
    for scored in response.source_nodes:
        start, end = scored.metadata["char_start"], scored.metadata["char_end"]
        print(f"  {start}-{end}: {scored.get_content()[:50].strip()}")

    hits = index.as_retriever(similarity_top_k=5).retrieve(QUESTION)
    best_first = [n for hit in hits for n in clause_numbers(hit.node.get_content())]
    sent = clause_numbers(llm.prompts[0])
    print("Clauses, best first:       ", best_first)
    print("Clauses, as the LLM read:  ", sent)
    assert sorted(best_first) == sent
    assert best_first != sent
    return sent


if __name__ == "__main__":
    main()
