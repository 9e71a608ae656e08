"""LlamaIndex: a chat engine whose context stands in document order."""

from __future__ import annotations

from llama_index.core import Document, VectorStoreIndex
from llama_index.core.chat_engine.types import ChatMode

from contract import CONTRACT, QUESTION, clause_numbers
from llamaindex_oprag import OffsetSentenceNodeParser, OrderPreservingPostprocessor
from offline_llamaindex import RecordingLLM, WordEmbedding


def main() -> list[int]:
    """Chat twice; return the clauses as the LLM was sent them the second time."""
    llm = RecordingLLM(reply="With six months of notice.")
    index = VectorStoreIndex.from_documents(
        [Document(text=CONTRACT, id_="lease.txt")],
        transformations=[OffsetSentenceNodeParser(chunk_size=25)],
        embed_model=WordEmbedding(),
    )

    chat = index.as_chat_engine(
        chat_mode=ChatMode.CONTEXT,
        llm=llm,
        similarity_top_k=5,
        node_postprocessors=[OrderPreservingPostprocessor()],  # the line that is new
    )
    print("Answer:", chat.chat(QUESTION))
    print("Answer:", chat.chat("And what about the deposit and the rent?"))

    sent = clause_numbers(llm.prompts[-1])
    print("Clauses, as the LLM read them:", sent)
    assert len(sent) > 1
    assert sent == sorted(sent)
    return sent


if __name__ == "__main__":
    main()
