"""`OrderPreservingVectorStore`: where a vector store stands, in document order."""

import copy
import inspect
import pickle
import warnings
from itertools import pairwise

import pytest
from langchain_chroma import Chroma
from langchain_core.documents import Document
from langchain_core.indexing import InMemoryRecordManager, index
from langchain_core.messages import AIMessage
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.runnables import RunnableLambda
from langchain_core.tools import create_retriever_tool, tool
from langchain_core.vectorstores import InMemoryVectorStore, VectorStore

from langchain_oprag import (
    LongUnitRetriever,
    OrderPreservingRetriever,
    OrderPreservingVectorStore,
    chunk_store,
    document_source,
    index_documents,
)
from oprag.errors import InvalidOptionError, MissingPositionError, PositionWarning
from oprag.units import group_documents
from tests.langchain.compat import (
    IS_1X,
    EnsembleRetriever,
    RetrievalQA,
    create_agent,
    create_retrieval_chain,
    create_stuff_documents_chain,
)
from tests.langchain.corpus import (
    EMBEDDING,
    QUERY,
    ListRetriever,
    OtherStore,
    RecordingStore,
    book,
    chunk,
    numbers,
    words,
)
from tests.langchain.recording import RecordingChatModel

PROMPT = ChatPromptTemplate.from_template("{context}\n\nQuestion: {input}")
VECTOR = EMBEDDING.embed_query(QUERY)
FILTERED = {"source": "other.txt"}
CHUNKS = [*book(40), *(chunk(number, "other.txt") for number in range(20))]


class WithUnitScores(InMemoryVectorStore):
    """Scores between 0 and 1, as a threshold takes them."""

    def _select_relevance_score_fn(self):
        return lambda cosine: (1 + cosine) / 2


def in_memory(folder):
    return WithUnitScores(EMBEDDING)


def chroma(folder):
    return Chroma("book", EMBEDDING, str(folder), relevance_score_fn=_of_distance)


def _of_distance(distance):
    return 1 / (1 + distance)


@pytest.fixture(params=[in_memory, chroma])
def inner(request, tmp_path):
    store = request.param(tmp_path)
    store.add_documents(book(40))
    return store


SEARCHES = {
    "text": ("similarity_search", QUERY, {}),
    "vector": ("similarity_search_by_vector", VECTOR, {}),
    "score": ("similarity_search_with_score", QUERY, {}),
    "relevance": ("similarity_search_with_relevance_scores", QUERY, {}),
    "mmr": ("max_marginal_relevance_search", QUERY, {"fetch_k": 30}),
    "mmr by vector": ("max_marginal_relevance_search_by_vector", VECTOR, {}),
    "search": ("search", QUERY, {"search_type": "similarity"}),
    "search mmr": ("search", QUERY, {"search_type": "mmr"}),
    "search threshold": (
        "search",
        QUERY,
        {"search_type": "similarity_score_threshold", "score_threshold": 0.0},
    ),
}


def documents_of(found):
    return [each[0] if isinstance(each, tuple) else each for each in found]


def inverted(found):
    """Pairs of neighbours that stand the wrong way round."""
    return sum(
        first > second for first, second in pairwise(numbers(documents_of(found)))
    )


async def searched(store, how, awaited, **more):
    method, asked, given = SEARCHES[how]
    if not awaited:
        return getattr(store, method)(asked, **given, **more)
    return await getattr(store, f"a{method}")(asked, **given, **more)


# Every search


@pytest.mark.parametrize("awaited", [False, True], ids=["sync", "async"])
@pytest.mark.parametrize("how", SEARCHES)
async def test_every_search_finds_the_same_in_document_order(inner, how, awaited):
    if isinstance(inner, Chroma) and awaited and "mmr by vector" in how:
        pytest.skip("Chroma has no awaited search of this kind")
    best_first = await searched(inner, how, awaited, k=6)
    ordered = await searched(OrderPreservingVectorStore(inner), how, awaited, k=6)

    assert inverted(best_first) > 0
    assert inverted(ordered) == 0
    assert {*numbers(documents_of(ordered))} == {*numbers(documents_of(best_first))}
    if "search" not in how and isinstance(best_first[0], tuple):
        scores = {document.id: score for document, score in best_first}
        assert {document.id: score for document, score in ordered} == scores


@pytest.mark.parametrize("search_type", ["similarity", "mmr"])
def test_its_retriever_is_a_vector_stores_and_in_order(inner, search_type):
    store = OrderPreservingVectorStore(inner)
    options = {"search_type": search_type, "search_kwargs": {"k": 6}}

    found = store.as_retriever(**options).invoke(QUERY)

    assert inverted(inner.as_retriever(**options).invoke(QUERY)) > 0
    assert inverted(found) == 0
    assert len(found) == 6


def test_a_base_class_that_learns_to_search_in_another_way_is_noticed():
    methods = {
        name
        for name, value in vars(VectorStore).items()
        if inspect.isfunction(value) and not name.startswith("_")
    }
    # These four call the others.
    ours = {*vars(OrderPreservingVectorStore)} | {"search", "asearch", "as_retriever"}

    assert methods <= ours


def test_without_a_k_as_many_as_the_store_gives_by_default(inner):
    assert len(OrderPreservingVectorStore(inner).similarity_search(QUERY)) == 4
    assert len(OrderPreservingVectorStore(inner, k=7).similarity_search(QUERY)) == 7
    assert len(OrderPreservingVectorStore(inner, k=7).similarity_search(QUERY, 2)) == 2


@pytest.mark.parametrize("how", ["text", "vector", "score", "mmr", "mmr by vector"])
async def test_without_a_k_a_token_budget_is_filled(inner, how):
    store = OrderPreservingVectorStore(inner, token_budget=100, token_counter=words)

    for awaited in [False, True]:
        if awaited and isinstance(inner, Chroma) and how == "mmr by vector":
            continue
        found = await searched(store, how, awaited)
        assert len(found) == 25
        assert inverted(found) == 0


def test_a_merged_passage_has_the_score_of_its_best_hit(inner):
    store = OrderPreservingVectorStore(inner, merge=True)
    scores = [score for _, score in inner.similarity_search_with_score(QUERY, k=30)]

    found = store.similarity_search_with_score(QUERY, k=30)

    assert len(found) < 30
    for document, score in found:
        assert score == scores[document.metadata["oprag_rank"]]
    assert any(len(document.page_content) > 18 for document, _ in found)


def test_places_that_were_stored_with_a_chunk_do_not_touch_the_scores(inner):
    handed_out = OrderPreservingVectorStore(inner).similarity_search(QUERY, k=20)
    second = InMemoryVectorStore(EMBEDDING)
    second.add_documents(handed_out[::-1])
    scores = {d.id: score for d, score in second.similarity_search_with_score(QUERY, 9)}

    found = OrderPreservingVectorStore(second).similarity_search_with_score(QUERY, 9)

    assert {document.id: score for document, score in found} == scores
    assert inverted(found) == 0


def test_filters_reach_the_store(tmp_path):
    inner = chroma(tmp_path)
    inner.add_documents(CHUNKS)
    store = OrderPreservingVectorStore(inner, token_budget=200, token_counter=words)

    for how in ("text", "vector", "score", "mmr", "mmr by vector"):
        method, asked, _ = SEARCHES[how]
        found = documents_of(getattr(store, method)(asked, filter=FILTERED))
        assert {each.metadata["source"] for each in found} == {"other.txt"}
        assert len(found) == 20
    store = OrderPreservingVectorStore(inner)
    by_retriever = store.as_retriever(search_kwargs={"filter": FILTERED, "k": 5})
    assert {d.metadata["source"] for d in by_retriever.invoke(QUERY)} == {"other.txt"}


def test_a_filter_binds_full_texts_that_are_put_together_from_the_store(tmp_path):
    inner = Chroma("lease", EMBEDDING, str(tmp_path))
    text = "The lease begins in March. It ends in May. The rent is due in June. " * 9
    for tenant in "ab":
        lease = Document(text, metadata={"source": tenant, "tenant": tenant})
        index_documents([lease], inner, show_progress=False, scope=tenant)
    store = OrderPreservingVectorStore(inner, documents=inner, merge=True)

    found = store.similarity_search_with_score(QUERY, k=2, filter={"tenant": "a"})

    assert {document.metadata["tenant"] for document, _ in found} == {"a"}
    with pytest.raises(InvalidOptionError, match="where_document"):
        store.similarity_search_with_score(QUERY, where_document={"$contains": "x"})


def test_a_threshold_holds_for_the_hits():
    inner = in_memory(None)
    inner.add_documents(book(40))
    scored = inner.similarity_search_with_relevance_scores(QUERY, k=40)
    threshold = scored[5][1]
    store = OrderPreservingVectorStore(inner, token_budget=1_000, token_counter=words)

    found = store.similarity_search_with_relevance_scores(
        QUERY, k=40, score_threshold=threshold
    )

    assert sorted(score for _, score in found) == sorted(s for _, s in scored[:6])
    assert inverted(found) == 0


# Searches that only some stores have


def test_searches_that_only_chroma_has_are_in_order(tmp_path):
    inner = chroma(tmp_path)
    inner.add_documents(book(40))
    store = OrderPreservingVectorStore(inner)

    by_vector = store.similarity_search_by_vector_with_relevance_scores(VECTOR, 6)
    with_vectors = store.similarity_search_with_vectors(QUERY, k=3)

    assert inverted(by_vector) == inverted(with_vectors) == 0
    expected = inner.similarity_search_by_vector_with_relevance_scores(VECTOR, 6)
    assert sorted(score for _, score in by_vector) == [score for _, score in expected]
    assert len(with_vectors[0][1]) == 16


class WithOtherSearches(RecordingStore):
    def hybrid_search(self, words, *, alpha=0.5, **kwargs):
        self.asked.append({"alpha": alpha, **kwargs})
        return self.similarity_search(words, 6)

    async def ahybrid_search(self, words, k=4, **kwargs):
        return self.similarity_search_with_score(words, k)

    def search_pages(self, words):
        return {"pages": []}


async def test_any_search_of_a_store_is_in_order_or_refused():
    inner = WithOtherSearches(book(40))
    store = OrderPreservingVectorStore(inner, token_budget=20, token_counter=words)

    assert inverted(inner.hybrid_search("x")) > 0
    assert inverted(store.hybrid_search("x", alpha=1, only=2)) == 0
    assert {"alpha": 1, "only": 2} in inner.asked
    found = await store.ahybrid_search("x", k=9)
    assert inverted(found) == 0
    assert len(found) == 5
    with pytest.raises(InvalidOptionError, match=r"search_pages .* a dict"):
        store.search_pages("x")


# Writes, and what else a store has


async def test_writes_are_those_of_the_store(inner):
    store = OrderPreservingVectorStore(inner)

    assert store.embeddings is EMBEDDING
    assert store.add_documents([chunk(41)], ids=["a"]) == ["a"]
    assert await store.aadd_documents([chunk(42)], ids=["b"]) == ["b"]
    assert store.add_texts(["x"], [{"source": "x.txt"}], ids=["c"]) == ["c"]
    assert await store.aadd_texts(["y"], [{"source": "y"}], ids=["d"]) == ["d"]
    assert [d.id for d in store.get_by_ids(["b"])] == ["b"]
    store.delete(["a", "b"])
    await store.adelete(["c"])
    assert [d.id for d in await store.aget_by_ids([*"abcd"])] == ["d"]
    assert store.vectorstore is inner


def test_other_attributes_are_those_of_the_store(tmp_path):
    store = OrderPreservingVectorStore(chroma(tmp_path))

    assert store.get()["ids"] == []
    with pytest.raises(AttributeError, match="'nowhere'"):
        _ = store.nowhere
    assert not hasattr(store, "_collection")


def test_it_makes_no_store():
    for make in ("from_texts", "from_documents"):
        with pytest.raises(InvalidOptionError, match=r"Store\.from_texts\(…\)"):
            getattr(OrderPreservingVectorStore, make)([Document("x")], EMBEDDING)


def test_langchains_index_writes_through_it():
    store = OrderPreservingVectorStore(InMemoryVectorStore(EMBEDDING))
    records = InMemoryRecordManager("book")
    records.create_schema()

    for _ in range(2):
        done = index(
            book(5),
            records,
            store,
            cleanup="full",
            source_id_key="source",
            key_encoder="sha256",
        )

    assert done["num_skipped"] == 5
    assert len(store.similarity_search(QUERY, k=9)) == 5


def test_our_own_indexing_and_full_texts_take_it_for_its_store():
    store = OrderPreservingVectorStore(InMemoryVectorStore(EMBEDDING))
    text = "The lease begins in March. It ends in May."
    index_documents(
        [Document(text, metadata={"source": "a.txt"})], store, show_progress=False
    )

    assert document_source(store).get("a.txt") == text
    assert type(chunk_store(store)) is type(chunk_store(store.vectorstore))
    retriever = OrderPreservingRetriever(base_retriever=store.as_retriever())
    assert retriever.verify().verdict == "ordered"


def test_it_can_be_copied_and_pickled():
    store = OrderPreservingVectorStore(RecordingStore(book()), k=3)

    for twin in (copy.copy(store), pickle.loads(pickle.dumps(store))):  # noqa: S301 -- ours
        assert len(twin.similarity_search(QUERY)) == 3


# Options and problems


def test_an_option_that_does_not_exist_is_refused():
    for option in ("token_bugdet", "search_kwargs", "bm25"):
        with pytest.raises(InvalidOptionError, match=f"no option '{option}'"):
            OrderPreservingVectorStore(RecordingStore(), **{option: {"a": 1}})


def test_what_is_no_vector_store_is_refused():
    plain = RecordingStore()
    retriever = OrderPreservingRetriever(vectorstore=plain)
    for given in (retriever, OrderPreservingVectorStore(plain), "store"):
        with pytest.raises(InvalidOptionError, match="It takes a VectorStore"):
            OrderPreservingVectorStore(given)


def without_positions():
    return [Document(f"text {n}", metadata={"source": "a"}) for n in range(6)]


def test_a_position_that_is_missing_is_an_error_or_warned_of_once():
    inner = RecordingStore(without_positions())

    with pytest.raises(MissingPositionError):
        OrderPreservingVectorStore(inner).similarity_search(QUERY)
    store = OrderPreservingVectorStore(inner, on_problem="warn")
    with pytest.warns(PositionWarning):
        store.similarity_search(QUERY)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        store.similarity_search_with_score(QUERY)


# Where it stands


def test_inside_a_tool_of_an_agent():
    store = OrderPreservingVectorStore(RecordingStore(book(40)))

    @tool(response_format="content_and_artifact")
    def retrieve_context(query: str):
        """Look something up."""
        found = store.similarity_search(query, k=6)
        return "\n".join(document.page_content for document in found), found

    search = {"name": "retrieve_context", "args": {"query": QUERY}, "id": "1"}
    model = RecordingChatModel(replies=[AIMessage("", tool_calls=[search]), AI])
    result = create_agent(model=model, tools=[retrieve_context]).invoke(ASKED)

    artifact = next(m.artifact for m in result["messages"] if m.type == "tool")
    assert len(artifact) == 6
    assert inverted(artifact) == 0


AI = AIMessage("answer")
ASKED = {"messages": [("user", QUERY)]}


@pytest.mark.skipif(not IS_1X, reason="middleware came with LangChain 1.0")
async def test_in_middleware_that_writes_the_prompt():
    from langchain.agents.middleware import dynamic_prompt

    store = OrderPreservingVectorStore(RecordingStore(book(40)))
    found = []

    @dynamic_prompt
    def with_context(request):
        found[:] = store.similarity_search(request.state["messages"][-1].text, k=6)
        return "\n".join(document.page_content for document in found)

    model = RecordingChatModel()
    agent = create_agent(model, tools=[], middleware=[with_context])

    for _ in range(2):
        agent.invoke(ASKED)
        assert inverted(found) == 0
        assert len(found) == 6
        assert found[0].page_content in model.sent


def test_in_a_retriever_tool_and_in_chains():
    store = OrderPreservingVectorStore(RecordingStore(book(40)))
    retriever = store.as_retriever(search_kwargs={"k": 6})
    expected = "\n\n".join(d.page_content for d in store.similarity_search(QUERY, k=6))

    assert create_retriever_tool(retriever, "a", "b").invoke(QUERY) == expected
    model = RecordingChatModel()
    stuff = create_stuff_documents_chain(model, PROMPT)
    create_retrieval_chain(retriever, stuff).invoke({"input": QUERY})
    assert expected in model.sent
    qa = RetrievalQA.from_chain_type(model, retriever=retriever)
    qa.invoke({"query": QUERY})
    assert expected in model.sent


def test_behind_an_ensemble_that_is_wrapped():
    store = OrderPreservingVectorStore(RecordingStore(book(40)), k=5)
    ensemble = EnsembleRetriever(
        retrievers=[store.as_retriever(), ListRetriever(documents=book(40)[::-9])]
    )

    found = OrderPreservingRetriever(base_retriever=ensemble).invoke(QUERY)

    assert len(found) > 5
    assert inverted(found) == 0


def test_two_components_keep_the_same_ranks():
    inner = RecordingStore(book(40))
    store = OrderPreservingVectorStore(inner)
    twice = OrderPreservingRetriever(vectorstore=store, token_budget=40)

    once = OrderPreservingRetriever(vectorstore=inner, token_budget=40)

    assert twice.invoke(QUERY) == once.invoke(QUERY)


# Nothing is returned unordered through a retriever of ours


@pytest.mark.parametrize("awaited", ["", "a"])
@pytest.mark.parametrize(
    "name",
    [
        "similarity_search",
        "similarity_search_with_score",
        "similarity_search_with_relevance_scores",
        "similarity_search_by_vector",
        "max_marginal_relevance_search",
        "max_marginal_relevance_search_by_vector",
        "search",
    ],
)
def test_a_retriever_hands_out_no_search_of_what_it_wraps(name, awaited):
    inner = RecordingStore(book())
    units = group_documents({"book.txt": "text"}, [])
    for retriever in (
        OrderPreservingRetriever(vectorstore=inner),
        LongUnitRetriever(vectorstore=inner, units=units, documents={}),
    ):
        assert not hasattr(retriever, awaited + name)


def test_a_retriever_hands_out_no_retriever_of_what_it_wraps_and_no_other_search():
    inner = WithOtherSearches(book())
    retriever = OrderPreservingRetriever(vectorstore=inner)

    assert not hasattr(retriever, "as_retriever")
    assert not hasattr(retriever, "hybrid_search")
    assert retriever.vectorstore is inner
    assert retriever.search_type == "similarity"
    assert retriever.search_kwargs == {}


def test_a_retriever_hands_out_no_fusion_of_an_ensemble():
    ensemble = EnsembleRetriever(retrievers=[RunnableLambda(lambda _: book())])
    retriever = OrderPreservingRetriever(base_retriever=ensemble)

    assert not hasattr(retriever, "rank_fusion")
    assert retriever.weights == [1.0]


def test_a_store_that_cannot_be_searched_says_so_itself():
    with pytest.raises(NotImplementedError):
        OrderPreservingVectorStore(OtherStore()).similarity_search(QUERY)


async def test_an_async_search_for_what_is_no_text_is_refused_too():
    ours = OrderPreservingVectorStore(RecordingStore(book(5)))

    with pytest.raises(InvalidOptionError, match="takes the question as a text"):
        await ours.asimilarity_search(None)
    assert len(await ours.asimilarity_search_by_vector(VECTOR, k=2)) == 2


def test_a_store_may_have_an_argument_that_is_called_as_an_option_is():
    class Sorting(RecordingStore):
        def similarity_search(self, query, k=4, *, order="up", **kwargs):
            self.sorted = order
            return super().similarity_search(query, k, **kwargs)

    inner = Sorting(book(5))

    assert OrderPreservingVectorStore(inner).similarity_search(QUERY, order="down")
    assert inner.sorted == "down"
