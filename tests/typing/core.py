"""Plain Python."""

from oprag import Passage, order_context, split_tokens


def accepted(texts: list[str], metadatas: list[dict[str, object]]) -> list[Passage]:
    order_context(texts)
    order_context(texts, metadatas, [0.5, None], top_n=3)
    order_context(texts, metadatas, position_keys=["page", "start_index"])
    order_context(texts, metadatas, documents={"a": "text"}, token_counter=len)
    order_context(texts, metadatas, documents="folder")
    shown = order_context(texts, metadatas, seen=[["a.txt", None, 0, 120]])
    order_context(texts, metadatas, seen=shown)
    split_tokens("text", chunk_size=10)
    return order_context(texts, metadatas, token_budget=1_000, selection="recall")


def refused(texts: list[str]) -> None:
    order_context(texts, token_bugdet=8_000)  # type: ignore[call-arg]
    order_context(texts, k=3)  # type: ignore[call-arg]
    order_context(texts, selection="best")  # type: ignore[arg-type]
    order_context(texts, token_budget="8000")  # type: ignore[arg-type]
    order_context(texts, merge="yes")  # type: ignore[arg-type]
    order_context(texts, seen=3)  # type: ignore[arg-type]
