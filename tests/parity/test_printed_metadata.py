"""What metadata cost where they are printed: cl100k tokens of `str(metadata)`."""

from __future__ import annotations

import pytest
from langchain_core.documents import Document as LangChainDocument
from langchain_core.vectorstores import InMemoryVectorStore
from langchain_text_splitters import RecursiveCharacterTextSplitter
from llama_index.core import Document as LlamaIndexDocument
from llama_index.core import VectorStoreIndex
from llama_index.core.node_parser import SentenceSplitter
from llama_index.core.schema import NodeWithScore

import langchain_oprag
import llamaindex_oprag
from oprag.metadata import TEXT_LENGTH
from oprag.tokens import resolve_token_counter
from tests.stores.langchain_places import HashEmbeddings
from tests.stores.llamaindex_fakes import ChecksumEmbedding

PATH = "contracts/2024/commercial/north/lease-agreement-final-v2.txt"
TEXT = " ".join(f"This is sentence {i}, not like others." for i in range(300))

LC_SPLITTERS = {
    "tokens": langchain_oprag.OffsetTokenSplitter(),
    "sentences": langchain_oprag.OffsetSentenceSplitter(),
}
LI_PARSERS = {
    "tokens": llamaindex_oprag.OffsetTokenNodeParser(),
    "sentences": llamaindex_oprag.OffsetSentenceNodeParser(),
}


def of_parts(name: str, pages: int) -> list[dict]:
    metadata = {"source": name}
    return [{**metadata, "page": i} for i in range(pages)] if pages else [metadata]


def langchain_documents(name: str, pages: int) -> list[LangChainDocument]:
    return [LangChainDocument(TEXT, metadata=part) for part in of_parts(name, pages)]


def llamaindex_documents(name: str, pages: int) -> list[LlamaIndexDocument]:
    return [
        LlamaIndexDocument(text=TEXT, metadata=part) for part in of_parts(name, pages)
    ]


def indexed(name: str, pages: int, key: str | None) -> list[dict]:
    """What both frameworks store, by our splitters or by their own."""
    store = InMemoryVectorStore(HashEmbeddings())
    langchain_oprag.index_documents(
        langchain_documents(name, pages),
        store,
        splitter=RecursiveCharacterTextSplitter(chunk_size=900)
        if key is None
        else LC_SPLITTERS[key],
        scope="handbook",
        show_progress=False,
    )
    index = VectorStoreIndex([], embed_model=ChecksumEmbedding())
    llamaindex_oprag.index_documents(
        llamaindex_documents(name, pages),
        index,
        node_parser=SentenceSplitter(chunk_size=200, chunk_overlap=0)
        if key is None
        else LI_PARSERS[key],
        scope="handbook",
        show_progress=False,
    )
    stores = (langchain_oprag.chunk_store(store), llamaindex_oprag.chunk_store(index))
    return [dict(chunk.metadata) for each in stores for chunk in each.read()]


def split(name: str, pages: int, key: str) -> list[dict]:
    chunks = LC_SPLITTERS[key].split_documents(langchain_documents(name, pages))
    nodes = LI_PARSERS[key].get_nodes_from_documents(llamaindex_documents(name, pages))
    return [each.metadata for each in (*chunks, *nodes)]


def results(name: str, pages: int) -> list[dict]:
    chunks = LC_SPLITTERS["tokens"].split_documents(langchain_documents(name, pages))
    nodes = LI_PARSERS["tokens"].get_nodes_from_documents(
        llamaindex_documents(name, pages)
    )
    made = langchain_oprag.OrderPreservingCompressor()(chunks)
    ordered = llamaindex_oprag.OrderPreservingPostprocessor().postprocess_nodes(
        [NodeWithScore(node=node) for node in nodes]
    )
    return [each.metadata for each in made] + [each.node.metadata for each in ordered]


def most(metadatas: list[dict]) -> tuple[int, int]:
    """Tokens of the largest that begins a part, and of the largest other one."""
    count = resolve_token_counter("cl100k_base")
    begin: tuple[list[int], list[int]] = ([], [])
    for metadata in metadatas:
        begin[TEXT_LENGTH in metadata].append(count(str(metadata)))
    return max(begin[1]), max(begin[0])


# The largest that begins a text or a page, and the largest other one. The path takes 27
# tokens more than the short name, and as many again in a result, which cites it.
BOUNDS = {
    ("heaps.txt", 0): {"split": (108, 92), "indexed": (116, 92), "result": (235, 222)},
    (PATH, 0): {"split": (135, 119), "indexed": (143, 119), "result": (290, 278)},
    ("heaps.txt", 12): {
        "split": (121, 105),
        "indexed": (129, 105),
        "result": (262, 252),
    },
    (PATH, 12): {"split": (148, 132), "indexed": (156, 132), "result": (317, 306)},
}


@pytest.mark.parametrize(("name", "pages"), [*BOUNDS])
def test_what_is_stored_and_handed_out_is_small(name, pages):
    measured = {
        "split": [split(name, pages, key) for key in LC_SPLITTERS],
        "indexed": [indexed(name, pages, key) for key in LC_SPLITTERS],
        "result": [results(name, pages)],
    }

    for what, (begins, others) in BOUNDS[name, pages].items():
        for first, later in map(most, measured[what]):
            assert first <= begins, what
            assert later <= others, what
