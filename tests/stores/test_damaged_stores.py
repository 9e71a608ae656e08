"""Damaged documents in real stores: however they are read, no wrong text comes."""

from __future__ import annotations

import os
import random
import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any, NamedTuple

import pytest
from langchain_core.documents import Document
from langchain_core.messages import AIMessage
from llama_index.core import StorageContext, VectorStoreIndex
from llama_index.core.schema import TextNode

import langchain_oprag
import llamaindex_oprag
from oprag.errors import OpragError, UnfitIndexError
from tests.documents.damages import DAMAGES, Damaged, bit_turned, damaged
from tests.kit.tenants import words
from tests.langchain.recording import RecordingChatModel
from tests.llamaindex.recording import RecordingLLM
from tests.stores.langchain_places import PLACES, add
from tests.stores.llamaindex_fakes import ChecksumEmbedding
from tests.stores.llamaindex_places import LLAMAINDEX_STORES

MANY = int(os.environ.get("OPRAG_DAMAGES", "0"))
"""How many documents to damage for each store; 0: as many as one store holds."""
BATCH = 40
WARNED: dict[str, Any] = {"on_problem": "warn"}
ROUTED: dict[str, Any] = {"token_counter": words, **WARNED}

pytestmark = [
    pytest.mark.filterwarnings("ignore::oprag.errors.PositionWarning"),
    pytest.mark.filterwarnings("ignore:Payload indexes have no effect"),
]


class Ways(NamedTuple):
    """The ways in which the documents of one store are read."""

    framework: Any
    store: Any
    routed: Any
    """A Self-Route whose model refuses, so that it ends with the full document."""
    full: Callable[[str], list[str]]
    """The text that it read in the end."""
    widened: Callable[[str], list[tuple[str, dict[str, Any]]]]


def documents(place: str) -> Iterator[list[Damaged]]:
    """For one store after another. Of every other document bits were turned."""
    rng = random.Random(place)  # noqa: S311 -- any will do
    for _ in range(0, MANY or BATCH, BATCH):
        yield [
            damaged(
                f"o'brien {number}.txt",
                rng,
                foreign=number % 3 == 0,
                times=1 if number % 2 else 3,
                damages=(bit_turned,) if number % 2 else DAMAGES,
            )
            for number in range(BATCH)
        ]


def check(ways: Ways, given: list[Damaged]) -> None:
    """See to it that nothing comes that was not indexed, whichever way it is read."""
    source = ways.framework.document_source(ways.store)
    outcomes = [case.check(source.read) for case in given]
    wholes = {text for case in given for text in case.texts}
    stored = {
        (c.metadata.get("doc_key"), c.metadata.get("doc_version"), c.text)
        for c in ways.framework.chunk_store(ways.store).read()
    }
    for case in given:
        query = next((chunk.text for chunk in case.chunks if chunk.text), "?")
        with suppress(OpragError):
            assert "".join(ways.full(query)) in wholes, case
        for text, metadata in ways.widened(query):
            of = metadata.get("doc_key"), metadata.get("doc_version")
            assert (*of, text) in stored, case
    assert ways.framework.diagnose(ways.store).verdict != "ordered"
    with pytest.raises(UnfitIndexError) as unfit:
        ways.routed.verify(None)
    (refused,) = re.findall(r"(\d+) of \d+ documents", str(unfit.value))
    unread = [
        each for each in outcomes if each not in ("whole", "DocumentNotFoundError")
    ]
    assert int(refused) >= len(unread)


@pytest.mark.parametrize("place", [p for p in PLACES if not p.slow], ids=lambda p: p.id)
def test_langchain(place, request, tmp_path_factory):
    for given in documents(place.id):
        folder = tmp_path_factory.mktemp("store")
        with place.make(folder, request.getfixturevalue) as store:
            rows = [
                Document(chunk.text, metadata=dict(chunk.metadata), id=chunk.id)
                for case in given
                for chunk in case.chunks
            ]
            add(store, rows)
            check(of_langchain(store), given)


def of_langchain(store: Any) -> Ways:
    def retriever(**given: Any) -> Any:
        return langchain_oprag.OrderPreservingRetriever(
            vectorstore=store, k=1, **WARNED, **given
        )

    routed = langchain_oprag.SelfRouteChain(
        llm=RecordingChatModel(replies=[AIMessage("unanswerable")]),
        retriever=retriever(),
        documents=store,
        **ROUTED,
    )
    return Ways(
        langchain_oprag,
        store,
        routed,
        lambda query: [d.page_content for d in routed.invoke(query)["context"]],
        lambda query: [
            (d.page_content, d.metadata) for d in retriever(widen=2).invoke(query)
        ],
    )


@pytest.mark.parametrize(
    "place", [p for p in LLAMAINDEX_STORES if not p.slow], ids=lambda p: p.id
)
def test_llamaindex(place, request):
    for given in documents(place.id):
        nodes = [
            TextNode(id_=chunk.id, text=chunk.text, metadata=dict(chunk.metadata))
            for case in given
            for chunk in case.chunks
        ]
        storage = StorageContext.from_defaults(vector_store=place.make(request))
        index = VectorStoreIndex(
            nodes, storage_context=storage, embed_model=ChecksumEmbedding()
        )
        check(of_llamaindex(index), given)


def of_llamaindex(index: Any) -> Ways:
    def retriever(**given: Any) -> Any:
        return llamaindex_oprag.OrderPreservingRetriever(
            index.as_retriever(similarity_top_k=1), **WARNED, **given
        )

    routed = llamaindex_oprag.SelfRouteQueryEngine.from_args(
        retriever(), RecordingLLM(replies=["unanswerable"]), documents=index, **ROUTED
    )
    return Ways(
        llamaindex_oprag,
        index,
        routed,
        lambda query: [n.node.text for n in routed.query(query).source_nodes],
        lambda query: [
            (n.node.text, n.node.metadata) for n in retriever(widen=2).retrieve(query)
        ],
    )
