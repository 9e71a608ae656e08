"""`LongUnitRetriever`: short nodes are searched, long units come back whole."""

from __future__ import annotations

import copy
import functools

import chromadb
import pytest
from llama_index.core import Document, StorageContext, VectorStoreIndex
from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.bridge.pydantic import PrivateAttr
from llama_index.core.schema import (
    IndexNode,
    MetadataMode,
    NodeWithScore,
    QueryBundle,
    TextNode,
)
from llama_index.core.vector_stores import (
    MetadataFilter,
    MetadataFilters,
    SimpleVectorStore,
)
from llama_index.vector_stores.chroma import ChromaVectorStore

from llamaindex_oprag import (
    LongUnitRetriever,
    OffsetTokenNodeParser,
    OrderPreservingPostprocessor,
    document_source,
)
from oprag.cli.embedding_models import load_embedding_model, packaged_weights
from oprag.errors import InvalidOptionError
from oprag.units import group_documents
from tests.llamaindex.recording import WordEmbedding
from tests.support.openai_server import count_words

TEXTS = {
    "bridge.md": "Ann built the bridge over the Une in 1912. It is of stone.",
    "ann.md": "Ann was an engineer. She was born in 1880 in Ulm.",
    "mill.md": "The mill stands by the weir. It grinds no more.",
    "miller.md": "The last miller was Otto. He kept bees.",
    "chronicle.md": "\n".join(
        f"In the year {year} the village counted {year % 97} hearths."
        for year in range(1700, 1760)
    ),
}
LINKS = [("bridge.md", "ann.md"), ("miller.md", "mill.md")]
UNITS = group_documents(TEXTS, LINKS, 100, count_words)
"""Two pairs, and the chronicle in parts of eleven years."""
QUESTION = "Who built the bridge, and where was she born?"


@functools.lru_cache(maxsize=1)
def minilm():
    return load_embedding_model(packaged=packaged_weights())


class MiniLM(BaseEmbedding):
    """The real model."""

    def _get_text_embedding(self, text):
        return minilm().embed_documents([text])[0]

    def _get_query_embedding(self, query):
        return minilm().embed_query(query)

    async def _aget_query_embedding(self, query):
        return minilm().embed_query(query)


def documents(names=tuple(TEXTS)) -> list[Document]:
    return [Document(text=TEXTS[name], id_=name) for name in names]


@functools.lru_cache(maxsize=1)
def nodes() -> list[TextNode]:
    """Split and embedded once for all stores."""
    made = OffsetTokenNodeParser(chunk_size=12)(documents())
    texts = [each.get_content(MetadataMode.EMBED) for each in made]
    for each, vector in zip(made, minilm().embed_documents(texts), strict=True):
        each.embedding = vector
    return made


@pytest.fixture(scope="module", params=["in memory", "chroma"])
def village(request) -> VectorStoreIndex:
    """The texts in a real store, found by a real embedding model."""
    pytest.importorskip("sentence_transformers")  # not among the lowest versions
    storage = None
    if request.param == "chroma":
        client = chromadb.EphemeralClient()
        collection = client.get_or_create_collection("long_units")
        store = ChromaVectorStore(chroma_collection=collection)
        storage = StorageContext.from_defaults(vector_store=store)
    return VectorStoreIndex(
        [each.model_copy() for each in nodes()],
        embed_model=MiniLM(),
        storage_context=storage,
    )


class Fixed(BaseRetriever):
    """Another application's retriever: gives these nodes, and counts the calls."""

    def __init__(self, nodes: list[NodeWithScore]) -> None:
        self.nodes = nodes
        self.calls = 0
        super().__init__()

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        self.calls += 1
        return list(self.nodes)


def node(name: str, start: int = 0, score: float | None = None) -> NodeWithScore:
    text = TEXTS[name][start : start + 20]
    metadata = {"doc_id": name, "char_start": start, "char_end": start + len(text)}
    return NodeWithScore(node=TextNode(text=text, metadata=metadata), score=score)


def listed(*nodes: NodeWithScore, **options) -> LongUnitRetriever:
    settings = {"units": UNITS, "documents": TEXTS, **options}
    return LongUnitRetriever(Fixed(list(nodes)), **settings)


def over(index: VectorStoreIndex, k: int = 4, **search) -> LongUnitRetriever:
    return LongUnitRetriever(
        index.as_retriever(**search), units=UNITS, documents=TEXTS, similarity_top_k=k
    )


def of(scored: NodeWithScore) -> list[str]:
    return scored.node.metadata["unit_documents"]


@pytest.mark.slow
class TestOverRealStores:
    async def test_the_units_of_the_best_nodes_come_whole(self, village):
        found = over(village, k=2).retrieve(QUESTION)

        assert of(found[0]) == ["bridge.md", "ann.md"]
        whole = f"{TEXTS['bridge.md']}\n\n{TEXTS['ann.md']}"
        assert found[0].node.get_content(MetadataMode.LLM) == whole
        best = village.as_retriever(similarity_top_k=1).retrieve(QUESTION)
        assert found[0].score == best[0].score
        assert len(found) == 2
        assert found == await over(village, k=2).aretrieve(QUESTION)

    async def test_parts_of_one_document_follow_one_another(self, village):
        question = "How many hearths in the year 1755, or 1702?"

        found = await over(village).aretrieve(question)

        parts = [each.node for each in found if of(each) == ["chronicle.md"]]
        starts = [part.start_char_idx for part in parts]
        assert len(starts) > 1
        assert starts == sorted(starts)
        for part in parts:
            text = TEXTS["chronicle.md"][part.start_char_idx : part.end_char_idx]
            assert part.text == text
            assert count_words(text) <= 100
            assert part.ref_doc_id == "chronicle.md"

    def test_filters_pass_through(self, village):
        only = MetadataFilters(filters=[MetadataFilter(key="doc_uri", value="mill.md")])

        found = over(village, filters=only).retrieve("bridge")

        assert [of(each) for each in found] == [["mill.md", "miller.md"]]


class RecordingStore(SimpleVectorStore):
    """Remembers how many nodes every search was to give."""

    _asked: list[int] = PrivateAttr(default_factory=list)

    def query(self, query, **kwargs):
        self._asked.append(query.similarity_top_k)
        return super().query(query, **kwargs)


class TestHowMuchIsAsked:
    def index(self, store: RecordingStore) -> VectorStoreIndex:
        """A hundred nodes of one unit, and far from the question one of another."""
        nodes = [
            TextNode(text=f"word hearth {n}", metadata={"doc_id": "mill.md"})
            for n in range(100)
        ]
        nodes.append(TextNode(text="quite other", metadata={"doc_id": "ann.md"}))
        return VectorStoreIndex(
            nodes,
            embed_model=WordEmbedding(),
            storage_context=StorageContext.from_defaults(vector_store=store),
        )

    async def test_more_until_there_are_enough_units(self):
        store = RecordingStore()
        base = self.index(store).as_retriever()
        retriever = LongUnitRetriever(
            base, units=UNITS, documents=TEXTS, similarity_top_k=2
        )

        found = retriever.retrieve("word hearth")

        # The other document's node is the last of 101.
        assert store._asked == [16, 32, 64, 128]
        assert list(map(of, found)) == [
            ["mill.md", "miller.md"],
            ["bridge.md", "ann.md"],
        ]
        assert await retriever.aretrieve("word hearth") == found
        assert base.similarity_top_k == 2

    @pytest.mark.parametrize(("own", "asked"), [(2, 16), (40, 40)])
    def test_no_more_than_it_takes(self, own, asked):
        store = RecordingStore()
        base = self.index(store).as_retriever(similarity_top_k=own)

        LongUnitRetriever(
            base, units=UNITS, documents=TEXTS, similarity_top_k=1
        ).retrieve("word hearth")

        assert store._asked == [asked]

    def test_no_more_once_the_store_is_exhausted(self):
        store = RecordingStore()
        base = self.index(store).as_retriever()

        found = LongUnitRetriever(
            base, units=UNITS, documents=TEXTS, similarity_top_k=14
        ).retrieve("word hearth")

        assert store._asked == [112]
        assert len(found) == 2

    def test_an_opaque_retriever_is_asked_once(self):
        retriever = listed(node("mill.md"))

        assert len(retriever.retrieve(QUESTION)) == 1
        assert retriever.base_retriever.calls == 1


class TestOutput:
    def test_metadata_are_shown_to_no_model(self):
        part, pair = listed(node("chronicle.md", 700, 0.5), node("ann.md")).retrieve(
            "?"
        )

        for each in (part, pair):
            shown = each.node.get_content(MetadataMode.EMBED)
            assert shown == each.node.text
        assert (part.score, pair.score) == (0.5, None)
        assert part.node.metadata["doc_uri"] == "chronicle.md"
        assert pair.node.metadata["oprag_rank"] == 1
        assert (pair.node.start_char_idx, pair.node.end_char_idx) == (None, None)
        assert part.node.node_id != pair.node.node_id

    def test_order_and_number_of_units(self):
        hits = [node("chronicle.md", 1500), node("ann.md"), node("chronicle.md")]

        by_place = listed(*hits).retrieve("?")
        by_score = listed(*hits, order="score").retrieve("?")
        retriever = listed(*hits)
        retriever.similarity_top_k = 1

        assert [by_score.index(each) for each in by_place] == [2, 0, 1]
        assert retriever.retrieve("?") == by_score[:1]

    def test_a_postprocessor_after_it_leaves_the_units_as_they_are(self):
        found = listed(
            node("chronicle.md", 1500), node("ann.md"), node("chronicle.md")
        ).retrieve("?")

        assert OrderPreservingPostprocessor().postprocess_nodes(found) == found

    async def test_documents_may_be_anything_that_gives_full_texts(self, tmp_path):
        for name, text in TEXTS.items():
            (tmp_path / name).write_text(text, encoding="utf-8")

        async def coroutine(name):
            return TEXTS[name]

        expected = listed(node("mill.md")).retrieve("?")
        for source in (str(tmp_path), TEXTS.get, document_source(TEXTS)):
            assert listed(node("mill.md"), documents=source).retrieve("?") == expected
        awaited = listed(node("mill.md"), documents=coroutine)
        assert await awaited.aretrieve("?") == expected

    def test_index_nodes_are_resolved_first(self):
        stands_for = node("mill.md")
        pointer = IndexNode(text="about the mill", index_id="m", obj=stands_for.node)
        retriever = listed(NodeWithScore(node=pointer, score=1.0))

        assert [of(each) for each in retriever.retrieve("?")] == [
            ["mill.md", "miller.md"]
        ]

    def test_what_the_base_retriever_has_can_be_used(self):
        retriever = listed(node("mill.md"))

        assert copy.copy(retriever).retrieve("?") == retriever.retrieve("?")
        assert retriever.calls == 2
        with pytest.raises(AttributeError):
            _ = retriever.nothing


class TestBadInput:
    def test_nothing_found_is_nothing(self):
        assert listed().retrieve("?") == []

    @pytest.mark.parametrize(
        "options",
        [
            {"similarity_top_k": 0},
            {"similarity_top_k": None},
            {"order": "random"},
            {"separator": None},
            {"documents": 5},
            {"units": []},
        ],
    )
    def test_impossible_options(self, options):
        with pytest.raises(InvalidOptionError) as caught:
            listed(**options)

        assert caught.value.option in options

    def test_an_index_in_the_place_of_a_retriever(self):
        index = VectorStoreIndex([], embed_model=WordEmbedding())

        with pytest.raises(InvalidOptionError, match="as_retriever"):
            LongUnitRetriever(index, units=UNITS, documents=TEXTS)
