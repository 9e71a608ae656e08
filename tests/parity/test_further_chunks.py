"""`bm25=True` and `widen=`: further chunks of a store, within the search's filter."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_core.documents import Document
from langchain_core.runnables import RunnableLambda
from langchain_core.vectorstores import InMemoryVectorStore
from llama_index.core import Document as LlamaDocument
from llama_index.core import StorageContext, VectorStoreIndex
from llama_index.core.node_parser import SentenceSplitter
from llama_index.core.vector_stores import MetadataFilter, MetadataFilters

import langchain_oprag
import llamaindex_oprag
from oprag.errors import InvalidOptionError
from tests.kit.words import words
from tests.langchain.corpus import ListRetriever
from tests.llamaindex.components import Retrieved
from tests.stores.langchain_places import HashEmbeddings
from tests.stores.llamaindex_fakes import ChecksumEmbedding

RULES = 200
TEXT = " ".join(f"Rule {n} is of subject{n * 7}." for n in range(RULES))
SIZE = {"chunk_size": 10, "tokenizer": words}
FURTHER = pytest.mark.parametrize("further", [{"bm25": True}, {"widen": 1}], ids=str)


def documents(name: str = "rules.txt", tenant: str = "a") -> list[Document]:
    document = Document(TEXT, metadata={"source": name, "tenant": tenant})
    return langchain_oprag.OffsetSentenceSplitter(**SIZE).split_documents([document])


def only(tenant: str) -> MetadataFilters:
    return MetadataFilters(filters=[MetadataFilter(key="tenant", value=tenant)])


def index(parser: Any, storage: Any = None) -> VectorStoreIndex:
    return VectorStoreIndex.from_documents(
        [LlamaDocument(text=TEXT, id_="rules.txt", metadata={"tenant": "a"})],
        storage_context=storage,
        transformations=[parser],
        embed_model=ChecksumEmbedding(),
    )


class InLangChain:
    """A store, with a filter for each call."""

    def __init__(self, kind: str, folder: str) -> None:
        self.in_memory = kind == "memory"
        self.store: Any = InMemoryVectorStore(HashEmbeddings())
        if not self.in_memory:
            from langchain_chroma import Chroma

            self.store = Chroma("rules", HashEmbeddings(), persist_directory=folder)
        self.store.add_documents(documents())

    def add(self, name: str, tenant: str) -> None:
        self.store.add_documents(documents(name, tenant))

    def retriever(self, **options: Any) -> Any:
        wrapper = langchain_oprag.OrderPreservingRetriever
        return wrapper(vectorstore=self.store, **options)

    async def ask(self, retriever: Any, question: str, tenant: str = "") -> list[Any]:
        search: dict[str, Any] = {"filter": {"tenant": tenant}} if tenant else {}
        if tenant and self.in_memory:
            search["filter"] = lambda each: each.metadata["tenant"] == tenant
        found = retriever.invoke(question, **search)
        assert await retriever.ainvoke(question, **search) == found
        return [(each.page_content, each.metadata) for each in found]


class InLlamaIndex:
    """An index, whose retriever is assigned a filter."""

    def __init__(self, kind: str, folder: str) -> None:
        storage = None
        if kind == "chroma":
            import chromadb
            from llama_index.vector_stores.chroma import ChromaVectorStore

            client = chromadb.PersistentClient(folder)
            vectors = ChromaVectorStore(client.create_collection("rules"))
            storage = StorageContext.from_defaults(vector_store=vectors)
        self.index = index(llamaindex_oprag.OffsetSentenceNodeParser(**SIZE), storage)

    def add(self, name: str, tenant: str) -> None:
        document = LlamaDocument(text=TEXT, id_=name, metadata={"tenant": tenant})
        self.index.insert(document)

    def retriever(self, k: int | None = None, **options: Any) -> Any:
        self.base = self.index.as_retriever()
        wrapper = llamaindex_oprag.OrderPreservingRetriever
        return wrapper(self.base, similarity_top_k=k, **options)

    async def ask(self, retriever: Any, question: str, tenant: str = "") -> list[Any]:
        if tenant:
            self.base._filters = only(tenant)
        found = [
            [(each.node.node_id, each.text, each.metadata) for each in nodes]
            for nodes in (
                retriever.retrieve(question),
                await retriever.aretrieve(question),
            )
        ]
        assert found[0] == found[1]
        return [(text, metadata) for _, text, metadata in found[0]]


@pytest.fixture(params=["memory", "chroma"])
def kind(request) -> str:
    return request.param


@pytest.fixture(params=[InLangChain, InLlamaIndex])
def searched(request, kind, tmp_path) -> Any:
    return request.param(kind, str(tmp_path))


def texts(found: list[Any]) -> str:
    return "\n".join(text for text, _ in found)


@pytest.mark.parametrize(
    "given",
    [
        {"token_budget": 60, "selection": "recall"},
        {"token_budget": 60, "widen": "fill"},
        {"k": 2, "widen": 1, "merge": True},
        {},
    ],
    ids=str,
)
async def test_words_go_with_every_other_option(searched, given):
    retriever = searched.retriever(bm25=True, token_counter=words, **given)

    found = await searched.ask(retriever, "subject693")

    assert "subject693." in texts(found)
    assert words(texts(found)) <= given.get("token_budget", 10_000)
    assert retriever.verify().healthy


@FURTHER
async def test_a_filter_binds_what_is_read_further(searched, further):
    searched.add("secret.txt", "b")
    retriever = searched.retriever(k=5, **further)

    for tenant in "abab":
        found = await searched.ask(retriever, "subject693", tenant)
        assert {metadata["tenant"] for _, metadata in found} == {tenant}
        assert len(found) > 5 or "subject693." in texts(found)


@FURTHER
def test_what_cannot_be_read_further_is_refused(kind, tmp_path, further):
    search = {"where_document": {"$contains": "Rule"}}
    store = InLangChain(kind, str(tmp_path)).store
    theirs = index(SentenceSplitter(chunk_size=30, chunk_overlap=0))
    nested = MetadataFilters(filters=[only("a")])
    ordered = langchain_oprag.OrderPreservingRetriever
    in_order = llamaindex_oprag.OrderPreservingRetriever
    for refused in (
        lambda: ordered(
            base_retriever=store.as_retriever(search_kwargs=search), **further
        ),
        lambda: ordered(vectorstore=store, **further).invoke("Which?", **search),
        lambda: ordered(base_retriever=ListRetriever(documents=[]), **further),
        lambda: ordered(base_retriever=RunnableLambda(lambda _: []), **further),
        lambda: in_order(theirs.as_retriever(doc_ids=["rules.txt"]), **further),
        lambda: in_order(theirs.as_retriever(filters=nested), **further),
        lambda: in_order(Retrieved([]), **further),
    ):
        with pytest.raises(InvalidOptionError) as caught:
            refused()
        assert caught.value.option == next(iter(further))


class Counting(InMemoryVectorStore):
    """Notes how many chunks each search asked for."""

    def similarity_search(self, query: str, k: int = 4, **given: Any) -> list[Document]:
        self.asked.append(k)
        return super().similarity_search(query, k, **given)


def test_filling_asks_for_twenty_and_for_more_while_all_fits():
    store = Counting(HashEmbeddings())
    store.add_documents(documents()[:60])
    for budget, asked in ((100, [20]), (10_000, [20, 40, 80])):
        store.asked: list[int] = []
        retriever = langchain_oprag.OrderPreservingRetriever(
            vectorstore=store, widen="fill", token_budget=budget, token_counter=words
        )

        found = retriever.invoke("?")

        assert store.asked == asked
        assert words("\n".join(each.page_content for each in found)) <= budget
        assert budget == 100 or len(found) == 60


async def test_other_retrievers_are_widened_from_full_texts():
    hit = Document(TEXT[70:140], metadata={"source": "a", "start_index": 70})
    retriever = langchain_oprag.OrderPreservingRetriever(
        base_retriever=RunnableLambda(lambda _: [hit]),
        widen=1,
        documents={"a": TEXT},
        merge=True,
    )

    (joined,) = retriever.invoke("?")

    assert await retriever.ainvoke("?") == [joined]
    assert TEXT[:140] < joined.page_content
    assert TEXT.startswith(joined.page_content)
    assert joined.metadata["oprag_rank"] == 0


def test_nodes_that_are_read_further_are_sent_as_their_hit_is(kind, tmp_path):
    theirs = index(SentenceSplitter(chunk_size=30, chunk_overlap=0))
    base = theirs.as_retriever(similarity_top_k=1)
    before = [node.to_dict() for node in base.retrieve("?")]
    ordered = llamaindex_oprag.OrderPreservingRetriever

    by_links = ordered(base, bm25=True, widen=1).retrieve("subject693")
    ours = InLlamaIndex(kind, str(tmp_path)).index.as_retriever()
    by_keys = ordered(ours, widen=1).retrieve("?")

    sent = " ".join(each.text for each in by_links)
    assert {"subject693.", "subject686."} <= {*sent.split()}
    for nodes in (by_links, by_keys):
        assert {each.node.ref_doc_id for each in nodes} == {"rules.txt"}
        shown = [
            each.node.metadata.keys() - each.node.excluded_llm_metadata_keys
            for each in nodes
        ]
        assert all(keys == shown[0] for keys in shown)
        assert len({each.node.node_id for each in nodes}) == len(nodes) > 2
        starts = [each.node.start_char_idx for each in nodes]
        assert starts == sorted(starts)
    assert [node.to_dict() for node in base.retrieve("?")] == before
    filled = ordered(base, widen="fill", token_budget=600)
    assert len(filled.retrieve("?")) > 5
