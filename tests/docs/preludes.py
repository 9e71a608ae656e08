"""What the pages take for granted: a vector store, a model, an index."""

from __future__ import annotations

import atexit
import shutil
import tempfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.examples import load_example


def _readme() -> dict[str, Any]:
    from langchain_core.documents import Document
    from langchain_core.messages import AIMessage
    from langchain_core.prompts import ChatPromptTemplate
    from langchain_core.vectorstores import InMemoryVectorStore
    from llama_index.core import Document as LlamaDocument
    from llama_index.core import Settings, VectorStoreIndex

    from langchain_oprag import OffsetTokenSplitter
    from llamaindex_oprag import OffsetTokenNodeParser

    contract = load_example("contract")
    langchain = load_example("offline_langchain")
    llamaindex = load_example("offline_llamaindex")

    document = Document(contract.CONTRACT, metadata={"source": "lease.txt"})
    vectorstore = InMemoryVectorStore(langchain.WordEmbeddings())
    splitter = OffsetTokenSplitter(chunk_size=32)
    vectorstore.add_documents(splitter.split_documents([document]))
    Settings.llm = llamaindex.RecordingLLM(reply="In six months.")
    Settings.embed_model = llamaindex.WordEmbedding()
    folder = Path(tempfile.mkdtemp())
    atexit.register(shutil.rmtree, folder)
    (folder / "lease.txt").write_text(contract.CONTRACT)
    return {
        "documents": [document],
        "folder": folder,
        "index": VectorStoreIndex.from_documents(
            [LlamaDocument(text=contract.CONTRACT, id_="lease.txt")],
            transformations=[OffsetTokenNodeParser(chunk_size=32)],
        ),
        "llm": Settings.llm,
        "model": langchain.RecordingChatModel(replies=[AIMessage("In six months.")]),
        "prompt": ChatPromptTemplate.from_template("{context}\n\n{input}"),
        "question": contract.QUESTION,
        "text": contract.CONTRACT,
        "vectorstore": vectorstore,
    }


def _places() -> dict[str, Any]:
    from langchain_classic.retrievers.document_compressors import CrossEncoderReranker
    from langchain_core.cross_encoders import BaseCrossEncoder

    class ByChecksum(BaseCrossEncoder):
        """Scores that have nothing to do with the order."""

        def score(self, text_pairs: Any) -> list[float]:
            return [-zlib.crc32(text.encode()) for _, text in text_pairs]

    names = _readme()
    vectorstore = names["vectorstore"]
    return {
        **names,
        "other": vectorstore.as_retriever(search_type="mmr", search_kwargs={"k": 6}),
        "reranker": CrossEncoderReranker(model=ByChecksum(), top_n=5),
        "retriever": vectorstore.as_retriever(search_kwargs={"k": 6}),
    }


def _self_route() -> dict[str, Any]:
    from langchain_core.messages import AIMessage

    model = load_example("offline_langchain").RecordingChatModel
    llm = load_example("offline_llamaindex").RecordingLLM
    replies = ["Unanswerable.", "With six months of notice; the deposit is paid back."]
    return {
        **_readme(),
        "model": model(replies=[AIMessage(reply) for reply in replies]),
        "long_context_model": model(replies=[AIMessage(replies[1])]),
        "llm": llm(replies=replies),
        "long_context_llm": llm(replies=replies[1:]),
    }


PRELUDES: dict[str, Callable[[], dict[str, Any]]] = {
    "README": _readme,
    "langchain": _readme,
    "places": _places,
    "self_route": _self_route,
}
"""By the page's name without its ending; a page that is not here needs nothing."""
