"""A store of LlamaIndex that is not known is refused, or its docstore is read."""

from __future__ import annotations

import pytest
from llama_index.core import Document, StorageContext, VectorStoreIndex
from llama_index.core.vector_stores.types import BasePydanticVectorStore

from llamaindex_oprag import OffsetTokenNodeParser, document_source
from oprag.errors import InvalidOptionError
from tests.stores.llamaindex_fakes import ChecksumEmbedding

TEXT = "".join(f"Line {number:06}.\n" for number in range(9))


class UnknownStore(BasePydanticVectorStore):
    """Keeps nothing."""

    stores_text: bool = True

    @property
    def client(self):
        return None

    def add(self, nodes, **kwargs):
        return [node.node_id for node in nodes]

    def delete(self, ref_doc_id, **kwargs):
        raise NotImplementedError

    def query(self, query, **kwargs):
        raise NotImplementedError


def index(*, override: bool) -> VectorStoreIndex:
    return VectorStoreIndex.from_documents(
        [Document(text=TEXT, id_="a")],
        storage_context=StorageContext.from_defaults(vector_store=UnknownStore()),
        transformations=[OffsetTokenNodeParser(chunk_size=13, tokenizer=len)],
        embed_model=ChecksumEmbedding(),
        store_nodes_override=override,
    )


def test_it_is_refused_at_once():
    made = index(override=False)

    for unknown in (made, made.vector_store):
        with pytest.raises(InvalidOptionError, match=r"cannot read .* UnknownStore"):
            document_source(unknown)


def test_with_the_nodes_in_the_docstore_it_is_read():
    assert document_source(index(override=True)).get("a") == TEXT
