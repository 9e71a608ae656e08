"""`bm25=True` and `widen=` in LlamaIndex: further nodes, within the search's filter."""

from __future__ import annotations

from typing import Any

import pytest
from llama_index.core import Document, StorageContext, VectorStoreIndex
from llama_index.core.node_parser import SentenceSplitter
from llama_index.core.schema import NodeWithScore
from llama_index.core.vector_stores import MetadataFilter, MetadataFilters

from llamaindex_oprag import OffsetSentenceNodeParser, OrderPreservingRetriever
from oprag.errors import InvalidOptionError
from tests.llamaindex.components import Retrieved
from tests.stores.llamaindex_fakes import ChecksumEmbedding

RULES = 200
TEXT = " ".join(f"Rule {n} is of subject{n * 7}." for n in range(RULES))
FURTHER = [{"bm25": True}, {"widen": 1}]


def words(text: str) -> int:
    return len(text.split())


def document(name: str = "rules.txt", tenant: str = "a") -> Document:
    return Document(text=TEXT, id_=name, metadata={"tenant": tenant})


def only(tenant: str) -> MetadataFilters:
    return MetadataFilters(filters=[MetadataFilter(key="tenant", value=tenant)])


def built(parser: Any, storage: Any = None) -> VectorStoreIndex:
    return VectorStoreIndex.from_documents(
        [document()],
        storage_context=storage,
        transformations=[parser],
        embed_model=ChecksumEmbedding(),
    )


@pytest.fixture(params=["simple", "chroma"])
def index(request, tmp_path) -> VectorStoreIndex:
    storage = None
    if request.param == "chroma":
        import chromadb
        from llama_index.vector_stores.chroma import ChromaVectorStore

        client = chromadb.PersistentClient(str(tmp_path))
        vectors = ChromaVectorStore(client.create_collection("rules"))
        storage = StorageContext.from_defaults(vector_store=vectors)
    return built(OffsetSentenceNodeParser(chunk_size=10, tokenizer=words), storage)


@pytest.fixture
def theirs() -> VectorStoreIndex:
    """Nodes of LlamaIndex's own parser, with links."""
    return built(SentenceSplitter(chunk_size=30, chunk_overlap=0))


def texts(found: list[NodeWithScore]) -> str:
    return "\n".join(each.text for each in found)


def places(found: list[NodeWithScore]) -> list[Any]:
    return [(each.node.node_id, each.text, each.metadata) for each in found]


@pytest.mark.parametrize(
    "given",
    [
        {"token_budget": 60, "selection": "recall"},
        {"token_budget": 60, "widen": "fill"},
        {"similarity_top_k": 2, "widen": 1, "merge": True},
        {},
    ],
    ids=str,
)
async def test_words_go_with_every_other_option(index, given):
    retriever = OrderPreservingRetriever(
        index.as_retriever(), bm25=True, token_counter=words, **given
    )

    found = retriever.retrieve("subject693")

    assert "subject693." in texts(found)
    assert words(texts(found)) <= given.get("token_budget", 10_000)
    assert places(await retriever.aretrieve("subject693")) == places(found)
    assert retriever.verify().healthy


def test_what_is_read_further_is_sent_as_its_hit_is(theirs, index):
    base = theirs.as_retriever(similarity_top_k=1)
    before = [node.to_dict() for node in base.retrieve("?")]

    by_links = OrderPreservingRetriever(base, bm25=True, widen=1).retrieve("subject693")
    by_keys = OrderPreservingRetriever(index.as_retriever(), widen=1).retrieve("?")

    assert {"subject693.", "subject686."} <= {*texts(by_links).split()}
    for nodes in (by_links, by_keys):
        assert {each.node.ref_doc_id for each in nodes} == {"rules.txt"}
        assert len({tuple(n.node.excluded_llm_metadata_keys) for n in nodes}) == 1
        assert len({each.node.node_id for each in nodes}) == len(nodes) > 2
        starts = [each.node.start_char_idx for each in nodes]
        assert starts == sorted(starts)
    assert [node.to_dict() for node in base.retrieve("?")] == before


def test_links_fill_a_budget(theirs):
    base = theirs.as_retriever(similarity_top_k=1)
    filled = OrderPreservingRetriever(base, widen="fill", token_budget=600)

    assert len(filled.retrieve("?")) > 5


@pytest.mark.parametrize("further", FURTHER, ids=str)
def test_filters_bind_what_is_read_further_also_those_assigned_later(index, further):
    index.insert(document("secret.txt", "b"))
    base = index.as_retriever(similarity_top_k=5, filters=only("a"))
    retriever = OrderPreservingRetriever(base, **further)

    for tenant in "abab":
        base._filters = only(tenant)
        found = retriever.retrieve("subject693")
        assert {each.metadata["tenant"] for each in found} == {tenant}
        assert len(found) > 5 or "subject693." in texts(found)


@pytest.mark.parametrize("further", FURTHER, ids=str)
def test_a_filter_or_a_retriever_that_cannot_be_read_is_refused(theirs, further):
    nested = MetadataFilters(filters=[only("a")])

    for base in (
        theirs.as_retriever(doc_ids=["rules.txt"]),
        theirs.as_retriever(filters=nested),
        Retrieved([]),
    ):
        with pytest.raises(InvalidOptionError) as caught:
            OrderPreservingRetriever(base, **further)
        assert caught.value.option == next(iter(further))
