"""`bm25=True` and `widen=`: further chunks of a store, within the search's filter."""

from typing import Any

import pytest
from langchain_core.documents import Document
from langchain_core.runnables import RunnableLambda
from langchain_core.vectorstores import InMemoryVectorStore
from llama_index.core import Document as LlamaDocument
from llama_index.core import VectorStoreIndex
from llama_index.core.node_parser import SentenceSplitter
from llama_index.core.vector_stores import MetadataFilter, MetadataFilters

import langchain_oprag
import llamaindex_oprag
from oprag import place_of
from oprag.errors import InvalidOptionError
from oprag.stores import StoredChunk
from tests.kit.frameworks import Held, InLlamaIndex
from tests.kit.words import words
from tests.langchain.corpus import ListRetriever
from tests.llamaindex.components import Retrieved
from tests.real_stores.everywhere import everywhere, opened
from tests.real_stores.langchain_places import HashEmbeddings
from tests.real_stores.llamaindex_fakes import ChecksumEmbedding

RULES = 200
TEXT = " ".join(f"Rule {n} is of subject{n * 7}." for n in range(RULES))
FURTHER = pytest.mark.parametrize("further", [{"bm25": True}, {"widen": 1}], ids=str)
PLACES = ("langchain-memory", "langchain-chroma", "llamaindex-simple")
PLACES += ("llamaindex-chroma",)


def rows(name: str = "rules.txt", tenant: str = "a") -> list[StoredChunk]:
    whole = Document(TEXT, metadata={"source": name, "tenant": tenant})
    split = langchain_oprag.OffsetSentenceSplitter(chunk_size=10, tokenizer=words)
    chunks = split.split_documents([whole])
    return [StoredChunk(c.page_content, c.metadata, c.id) for c in chunks]


@pytest.fixture(params=everywhere(lambda place: place.id in PLACES))
def held(request) -> Held:
    made = opened(request.param, request)
    made.add(rows())
    return made


def theirs() -> VectorStoreIndex:
    """Nodes without keys of ours."""
    return VectorStoreIndex.from_documents(
        [LlamaDocument(text=TEXT, id_="rules.txt", metadata={"tenant": "a"})],
        transformations=[SentenceSplitter(chunk_size=30, chunk_overlap=0)],
        embed_model=ChecksumEmbedding(),
    )


async def ask(held: Held, retriever: Any, where: Any = None) -> list[StoredChunk]:
    """What is found by one call with a filter."""
    if held.package is langchain_oprag:
        search = {"filter": where} if where else {}
        found = retriever.invoke("subject693", **search)
        assert await retriever.ainvoke("subject693", **search) == found
        return [StoredChunk(d.page_content, d.metadata, d.id) for d in found]
    retriever.base_retriever._filters = where
    chunks = held.find(retriever, "subject693")
    assert await held.afind(retriever, "subject693") == chunks
    return chunks


@pytest.mark.parametrize(
    "given",
    [
        {"token_budget": 60, "selection": "recall"},
        {"token_budget": 60, "widen": "fill"},
        {"widen": 1, "merge": True},
        {},
    ],
    ids=str,
)
async def test_words_go_with_every_other_option(held, given):
    options = {"bm25": True, "token_counter": words, **given}
    retriever = held.ordered(held.search(20), **options)

    found = "\n".join(chunk.text for chunk in await ask(held, retriever))

    assert "subject693." in found
    assert words(found) <= given.get("token_budget", 10_000)
    assert retriever.verify().healthy


def test_words_find_what_self_route_reads(held):
    retriever = held.ordered(held.search(20), bm25=True, token_counter=words)
    routed = held.routed(retriever, "In 1912.", documents={"notes.txt": "A note."})

    assert "subject693." in "\n".join(held.ask(routed, "subject693").texts)


@FURTHER
async def test_a_filter_binds_what_is_read_further(held, further):
    held.add(rows("secret.txt", "b"))
    retriever = held.ordered(held.search(5), **further)

    for where in (held.filters[0], None) * 2:
        found = await ask(held, retriever, where)
        tenants = {chunk.metadata["tenant"] for chunk in found}
        assert tenants == ({"a"} if where else {"a", "b"})
        assert len(found) > 5 or "subject693." in str(found)


@FURTHER
def test_what_cannot_be_read_further_is_refused(further):
    search = {"where_document": {"$contains": "Rule"}}
    store = InMemoryVectorStore(HashEmbeddings())
    only = MetadataFilters(filters=[MetadataFilter(key="tenant", value="a")])
    nested = MetadataFilters(filters=[only])
    ordered = langchain_oprag.OrderPreservingRetriever
    in_order = llamaindex_oprag.OrderPreservingRetriever
    for refused in (
        lambda: ordered(
            base_retriever=store.as_retriever(search_kwargs=search), **further
        ),
        lambda: ordered(vectorstore=store, **further).invoke("Which?", **search),
        lambda: ordered(base_retriever=ListRetriever(documents=[]), **further),
        lambda: ordered(base_retriever=RunnableLambda(lambda _: []), **further),
        lambda: in_order(theirs().as_retriever(doc_ids=["rules.txt"]), **further),
        lambda: in_order(theirs().as_retriever(filters=nested), **further),
        lambda: in_order(Retrieved([]), **further),
    ):
        with pytest.raises(InvalidOptionError) as caught:
            refused()
        assert caught.value.option == next(iter(further))


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
    assert place_of(joined).rank == 0


def test_nodes_that_are_read_further_are_sent_as_their_hit_is():
    base = theirs().as_retriever(similarity_top_k=1)
    before = [node.to_dict() for node in base.retrieve("?")]
    ordered = llamaindex_oprag.OrderPreservingRetriever

    by_links = ordered(base, bm25=True, widen=1).retrieve("subject693")
    ours = InLlamaIndex()
    ours.index([LlamaDocument(text=TEXT, id_="rules.txt")], **ours.splitting(10))
    by_keys = ordered(ours.search(2), widen=1).retrieve("?")

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
