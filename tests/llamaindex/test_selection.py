"""`selection=` through the components, on a real store."""

from __future__ import annotations

import re

import pytest
from llama_index.core import StorageContext, VectorStoreIndex
from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.indices.vector_store.retrievers import VectorIndexRetriever
from llama_index.core.llms import MockLLM
from llama_index.core.retrievers import QueryFusionRetriever
from llama_index.vector_stores.chroma import ChromaVectorStore
from pydantic import ValidationError

from llamaindex_oprag import OrderPreservingPostprocessor, OrderPreservingRetriever
from oprag.errors import InvalidOptionError, UnfilledBudgetWarning
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
    [
        ({}, [5, 9]),
        ({"selection": "top_k"}, [5, 9]),
        ({"selection": "expand"}, [5, 6]),
        ({"selection": "segments"}, [5, 9]),
    ],
)
async def test_each_selection_keeps_its_own_choice(options, kept):
    # Three words each; "expand": 6 is next to the best; "segments": at most half.
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
    with pytest.warns(UnfilledBudgetWarning):
        (again,) = postprocessor.postprocess_nodes([merged])
    assert again.node.text == merged.node.text


def test_what_is_assigned_later_holds():
    postprocessor = OrderPreservingPostprocessor(
        selection="recall", token_budget=6, token_counter=words
    )
    postprocessor.selection = "expand"
    found = postprocessor.postprocess_nodes(FOUND)
    assert [n is f for n, f in zip(found, FOUND[::2], strict=True)] == [True, True]


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
        ({"selection": "top_k"}, 2),
        ({"selection": "segments"}, 400),
        ({"selection": "recall"}, 1200),
        ({"selection": "recall", "similarity_top_k": 20}, 20),
    ],
)
def test_an_index_is_asked_for_enough_to_choose_from(options, asked):
    base = Asked(index(), embed_model=WordEmbedding())
    Asked.asked.clear()
    OrderPreservingRetriever(base, token_budget=60, **options).retrieve(QUESTION)
    assert Asked.asked == [asked]


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


def test_unknown_names_are_errors():
    with pytest.raises(ValidationError, match='selection="recall"'):
        OrderPreservingPostprocessor(preset="recall")
    with pytest.raises(InvalidOptionError, match='selection="recall"'):
        OrderPreservingRetriever(index().as_retriever(), preset="recall")
    with pytest.raises(ValidationError, match="'top_k' or 'budget'"):
        OrderPreservingPostprocessor(selection="segment")


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
