"""`bm25=True` in LlamaIndex: beside every search, within its filter, in the tool."""

from __future__ import annotations

from typing import Any

import pytest
from llama_index.core import Document, StorageContext, VectorStoreIndex
from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.node_parser import SentenceSplitter
from llama_index.core.schema import NodeWithScore, QueryBundle
from llama_index.core.vector_stores import MetadataFilter, MetadataFilters

from llamaindex_oprag import OffsetSentenceNodeParser, OrderPreservingRetriever
from oprag.errors import InvalidOptionError
from tests.stores.llamaindex_fakes import ChecksumEmbedding

RULES = 200
TEXT = " ".join(f"Rule {n} is of subject{n * 7}." for n in range(RULES))


def words(text: str) -> int:
    return len(text.split())


def document(name: str = "rules.txt", tenant: str = "a") -> Document:
    return Document(text=TEXT, id_=name, metadata={"tenant": tenant})


def only(tenant: str) -> MetadataFilters:
    return MetadataFilters(filters=[MetadataFilter(key="tenant", value=tenant)])


@pytest.fixture(params=["simple", "chroma"])
def index(request, tmp_path) -> Any:
    storage = None
    if request.param == "chroma":
        import chromadb
        from llama_index.vector_stores.chroma import ChromaVectorStore

        client = chromadb.PersistentClient(str(tmp_path))
        vectors = ChromaVectorStore(client.create_collection("rules"))
        storage = StorageContext.from_defaults(vector_store=vectors)
    return VectorStoreIndex.from_documents(
        [document()],
        storage_context=storage,
        transformations=[OffsetSentenceNodeParser(chunk_size=10, tokenizer=words)],
        embed_model=ChecksumEmbedding(),
    )


def texts(found: list[NodeWithScore]) -> str:
    return "\n".join(each.text for each in found)


def places(found: list[NodeWithScore]) -> list[Any]:
    return [(each.node.node_id, each.text, each.metadata) for each in found]


@pytest.mark.parametrize(
    "given",
    [
        {"token_budget": 60},
        {"token_budget": 60, "selection": "recall"},
        {"token_budget": 60, "widen": "fill"},
        {"similarity_top_k": 2, "widen": 1, "merge": True},
        {"similarity_top_k": 2},
        {},
    ],
    ids=str,
)
async def test_it_goes_with_every_other_option(index, given):
    retriever = OrderPreservingRetriever(
        index.as_retriever(), bm25=True, token_counter=words, **given
    )

    found = retriever.retrieve("subject693")

    assert "subject693." in texts(found)
    if "token_budget" in given:
        assert words(texts(found)) <= given["token_budget"]
    assert places(await retriever.aretrieve("subject693")) == places(found)
    assert retriever.verify().healthy


def test_nodes_of_other_parsers_keep_their_source_and_their_neighbours():
    index = VectorStoreIndex.from_documents(
        [document()],
        transformations=[SentenceSplitter(chunk_size=30, chunk_overlap=0)],
        embed_model=ChecksumEmbedding(),
    )
    retriever = OrderPreservingRetriever(
        index.as_retriever(similarity_top_k=1), bm25=True, widen=1
    )

    found = retriever.retrieve("subject693")

    assert {each.node.ref_doc_id for each in found} == {"rules.txt"}
    assert "subject693." in texts(found)
    assert "subject686." in texts(found)
    starts = [each.node.start_char_idx for each in found]
    assert starts == sorted(starts)


def test_filters_bind_what_words_find_also_those_that_are_assigned_later(index):
    index.insert(document("secret.txt", "b"))
    base = index.as_retriever(similarity_top_k=10, filters=only("a"))
    retriever = OrderPreservingRetriever(base, bm25=True)

    for tenant in "abab":
        base._filters = only(tenant)
        found = retriever.retrieve("subject693")
        assert "subject693." in texts(found)
        assert {each.metadata["tenant"] for each in found} == {tenant}


def test_a_filter_that_cannot_be_carried_over_is_refused(index):
    base = index.as_retriever(doc_ids=["rules.txt"])

    with pytest.raises(
        InvalidOptionError, match="bm25= reads further chunks of"
    ) as caught:
        OrderPreservingRetriever(base, bm25=True)
    assert caught.value.option == "bm25"


class Listed(BaseRetriever):
    """A retriever whose index is not known."""

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return []


def test_without_an_index_it_is_refused():
    with pytest.raises(InvalidOptionError, match="how the chunks of") as caught:
        OrderPreservingRetriever(Listed(), bm25=True)
    assert caught.value.option == "bm25"
