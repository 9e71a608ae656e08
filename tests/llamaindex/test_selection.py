"""`selection=` through the components, on a real store."""

from __future__ import annotations

import re

import pytest
from llama_index.core import StorageContext, VectorStoreIndex
from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.indices.vector_store.retrievers import VectorIndexRetriever
from llama_index.core.llms import MockLLM
from llama_index.core.retrievers import QueryFusionRetriever
from llama_index.core.schema import QueryBundle
from llama_index.vector_stores.chroma import ChromaVectorStore

from llamaindex_oprag import (
    LongUnitRetriever,
    OrderPreservingPostprocessor,
    OrderPreservingRetriever,
    SelfRouteQueryEngine,
)
from oprag.errors import InvalidOptionError
from oprag.units.grouping_documents import group_documents
from tests.handed_out import told
from tests.llamaindex.corpus import (
    QUESTION,
    TEXT,
    clause_parser,
    clause_spans,
    document,
    index,
    numbers_of,
    scored,
)
from tests.llamaindex.recording import WordEmbedding
from tests.llamaindex.self_routing import WAYS, ask
from tests.support.openai_server import ScriptedServer


def words(text):
    return len(text.split())


def touching(number):
    text = f"§{number}§ says it. "
    return scored(
        text, char_start=number * len(text), char_end=(number + 1) * len(text)
    )


FOUND = [touching(5), touching(9), touching(6)]
for _found in FOUND:
    _found.node.excluded_llm_metadata_keys = list(_found.node.metadata)


@pytest.mark.parametrize(
    ("options", "kept"),
    [({}, [5, 9]), ({"selection": "recall", "merge": False}, [5, 6])],
)
async def test_each_selection_keeps_its_own_choice(options, kept):
    # Three words each; "recall": 6 is next to the best.
    postprocessor = OrderPreservingPostprocessor(
        token_budget=6, token_counter=words, **options
    )
    assert numbers_of(postprocessor.postprocess_nodes(FOUND)) == kept
    assert numbers_of(await postprocessor.apostprocess_nodes(FOUND)) == kept


def test_recall_merges_what_touches():
    postprocessor = OrderPreservingPostprocessor(
        selection="recall", token_budget=6, token_counter=words
    )
    (merged,) = postprocessor.postprocess_nodes(FOUND)
    assert merged.node.text == "§5§ says it. §6§ says it. "
    (again,) = postprocessor.postprocess_nodes([merged])
    assert again.node.text == merged.node.text


def test_what_is_assigned_later_holds():
    postprocessor = OrderPreservingPostprocessor(
        selection="recall", token_budget=6, token_counter=words
    )
    postprocessor.merge = False
    found = postprocessor.postprocess_nodes(FOUND)
    assert told(found) == told(FOUND[::2])


class Asked(VectorIndexRetriever):
    """Notes how many nodes it is asked for."""

    asked: list[int] = []  # noqa: RUF012 -- shared by the copies that ask

    def _retrieve(self, query_bundle):
        self.asked.append(self.similarity_top_k)
        return super()._retrieve(query_bundle)


@pytest.mark.parametrize(
    ("options", "asked"),
    [
        ({}, 16),
        ({"selection": "recall"}, 1200),
        ({"selection": "recall", "similarity_top_k": 20}, 20),
    ],
)
def test_an_index_is_asked_for_enough_to_choose_from(options, asked):
    base = Asked(index(), embed_model=WordEmbedding())
    Asked.asked.clear()
    OrderPreservingRetriever(base, token_budget=60, **options).retrieve(QUESTION)
    assert Asked.asked == [asked]


class Repeating(Asked):
    """Gives as many nodes as it is asked for, and some more: the same ones."""

    more = 0

    def _retrieve(self, query_bundle):
        self.asked.append(self.similarity_top_k)
        number = self.similarity_top_k + self.more
        return [FOUND[place % len(FOUND)] for place in range(number)]

    async def _aretrieve(self, query_bundle):
        return self._retrieve(query_bundle)


@pytest.mark.parametrize("more", [-1, 0, 5])
@pytest.mark.parametrize("way", ["retrieve", "aretrieve"])
async def test_an_index_that_repeats_itself_is_asked_once(more, way):
    base = Repeating(index(), embed_model=WordEmbedding())
    base.more = more
    full = " ".join(["word"] * 200)
    units = group_documents({"d": full, "b": "x"}, token_counter=words)
    texts = {"d": full, "b": "x"}
    routed = SelfRouteQueryEngine.from_args(
        base, MockLLM(), documents=texts, rungs=[64_000, "full"]
    )

    for retriever, least in (
        (OrderPreservingRetriever(base, token_budget=1_000_000), 15_625),
        (LongUnitRetriever(base, units=units, documents=texts, similarity_top_k=2), 16),
        (routed, 1_000),
    ):
        Asked.asked.clear()
        if way == "retrieve":
            retriever.retrieve(QueryBundle(QUESTION))
        else:
            await retriever.aretrieve(QueryBundle(QUESTION))
        # Once: LlamaIndex's retrievers leave out what comes again.
        assert Asked.asked == [least]


async def test_recall_over_two_sizes_fused_in_a_real_store(tmp_path):
    import chromadb

    client = chromadb.PersistentClient(str(tmp_path))
    store = ChromaVectorStore(client.create_collection("lease"))
    large = clause_parser().model_copy(update={"chunk_size": 60})
    nodes = [n for parser in (clause_parser(), large) for n in parser([document()])]
    built = VectorStoreIndex(
        nodes,
        storage_context=StorageContext.from_defaults(vector_store=store),
        embed_model=WordEmbedding(),
    )
    fusion = QueryFusionRetriever(
        [built.as_retriever(similarity_top_k=n) for n in (100, 60)],
        llm=MockLLM(),
        mode="reciprocal_rerank",
        similarity_top_k=100,
        num_queries=1,
        use_async=False,
    )
    wrapped = OrderPreservingRetriever(fusion, selection="recall", token_budget=200)
    found = wrapped.retrieve(QUESTION)
    spans = [(n.node.start_char_idx, n.node.end_char_idx) for n in found]
    assert spans == sorted(spans)
    assert all(n.node.text == TEXT[a:b] for n, (a, b) in zip(found, spans, strict=True))
    again = await wrapped.aretrieve(QUESTION)
    assert [n.node.text for n in again] == [n.node.text for n in found]
    assert len({n.node.node_id for n in found}) == len(found)
    assert len(re.findall("heating|repairs", found[0].node.text)) > 0
    assert clause_spans(found[0].node.text)


def test_choosing_by_position_needs_a_budget():
    with pytest.raises(InvalidOptionError, match="Set token_budget="):
        OrderPreservingPostprocessor(selection="recall").postprocess_nodes(FOUND)


class Found(BaseRetriever):
    """Gives the same nodes for every question."""

    def _retrieve(self, query_bundle):
        return FOUND


@pytest.mark.parametrize("way", WAYS)
async def test_self_route_reads_what_its_retriever_chose(way):
    chosen = OrderPreservingRetriever(
        Found(), selection="recall", token_budget=6, token_counter=words
    )
    with ScriptedServer(["yes"]) as server:
        await ask(server, way, retriever=chosen)
    (request,) = server.requests
    assert "§5§ says it. §6§ says it." in request.prompt
    assert "§9§" not in request.prompt
