"""LightRAG reads the chunks of each of your documents in document order.

Tried with lightrag-hku 1.5.7. Put this file beside the program that makes the LightRAG,
and these lines into that program, below `await rag.initialize_storages()`:

    from in_document_order import in_document_order

    in_document_order(rag)

It needs `pip install oprag`. Without that, and where anything fails here, LightRAG
keeps its own order, and its log says why. It calls a function of LightRAG's own, which
a newer release may have renamed.
"""

from typing import Any

from lightrag import operate
from lightrag.utils import logger


def in_document_order(rag: Any) -> None:
    """Put the chunks in order that a query sends, in all modes that send chunks."""
    choose = operate.process_chunks_unified

    async def ordered(*args: Any, **options: Any) -> list[dict[str, Any]]:
        chunks = await choose(*args, **options)
        try:
            from oprag import order_context

            stored = await rag.text_chunks.get_by_ids([c["chunk_id"] for c in chunks])
            places = [
                {"doc_id": s["full_doc_id"], "chunk_index": s["chunk_order_index"]}
                for s in stored
            ]
            texts = [chunk["content"] for chunk in chunks]
            passages = order_context(texts, places, document_key="doc_id")
        except Exception:  # else nothing would be answered
            logger.exception("Chunks stay in LightRAG's own order.")
            return chunks
        kept = [chunks[passage.rank] for passage in passages]
        return [{**each, "id": f"DC{n}"} for n, each in enumerate(kept, start=1)]

    operate.process_chunks_unified = ordered
