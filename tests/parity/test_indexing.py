"""One Chroma collection that both frameworks index into, and what either refuses."""

import uuid
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import langchain_oprag
from oprag.documents import rebuild
from oprag.errors import (
    InvalidOptionError,
    MissingDocumentError,
    MissingPositionError,
    OpragWarning,
    PositionError,
    UnreadableFileError,
)
from oprag.metadata import document_key
from oprag.stores import ChunkStore
from tests.kit.effort import cases
from tests.kit.frameworks import Held, InLangChain, InLlamaIndex
from tests.kit.interrupted import content
from tests.parity.loaded import KINDS, Loaded, Text, document, documents
from tests.real_stores.langchain_places import HashEmbeddings

SENTENCES = "One sentence here. Another one there! Is this the third? "


def index(place: Held, texts: Any, size: int = 9, *, packed: bool = False, **options):
    """Index what a framework has loaded, or a folder."""
    if not isinstance(texts, Path):
        loads = (
            "for_langchain" if place.package is langchain_oprag else "for_llamaindex"
        )
        texts = [getattr(text, loads)() for text in texts]
    return place.index(texts, **place.splitting(size, packed=packed), **options)


def shared_collection() -> tuple[Held, Held]:
    """One collection of Chroma's own client, through both frameworks."""
    chromadb = pytest.importorskip("chromadb")
    langchain = pytest.importorskip("langchain_chroma")
    wrapper = pytest.importorskip("llama_index.vector_stores.chroma")
    client = chromadb.EphemeralClient()
    store = langchain.Chroma(f"c{uuid.uuid4().hex}", HashEmbeddings(), client=client)
    collection = client.get_collection(store._collection.name)
    vectors = wrapper.ChromaVectorStore(chroma_collection=collection)
    return InLangChain(store), InLlamaIndex(vectors)


def alone() -> tuple[Held, Held]:
    """A store in memory of each framework."""
    return InLangChain(), InLlamaIndex()


def of_kind(kind: str) -> list[Text]:
    own = [f"{SENTENCES * n}The {n}th part ends." for n in (3, 1, 4)]
    other = document("b.txt", "source", "whole", [SENTENCES])
    return [*document("a 'ü'.pdf", "source", kind, own), *other]


def texts_of(texts: Sequence[Text]) -> dict[str, tuple[str, ...]]:
    loaded = Loaded(tuple(texts))
    return {
        name: tuple(part.text for part in loaded.parts_of(name) if part.text)
        for name in loaded.names
    }


def assert_whole(chunks: ChunkStore, texts: Sequence[Text]) -> None:
    for name, parts in texts_of(texts).items():
        assert rebuild(name, chunks.read({document_key(name): None})).parts == parts


@pytest.mark.parametrize("first", [0, 1], ids=["langchain first", "llamaindex first"])
@pytest.mark.parametrize("kind", KINDS)
def test_in_turn_they_find_each_other_s_documents_unchanged(kind, first):
    places = shared_collection()
    names = ("a 'ü'.pdf", "b.txt")

    assert index(places[first], of_kind(kind)).added == names
    before = content(places[first].chunks)
    for turn in (1 - first, first, 1 - first):
        report = index(places[turn], of_kind(kind), remove_missing=True)
        assert report.unchanged == names
        assert report.chunks_added == report.chunks_deleted == 0
    assert content(places[first].chunks) == before
    for place in places:
        assert_whole(place.chunks, of_kind(kind))


def storable(loaded: Loaded) -> bool:
    return not any("\0" in text.text for text in loaded.texts)


@settings(max_examples=cases(25))
@given(documents(interleaved=False).filter(storable), st.booleans(), st.integers(4, 20))
def test_the_same_is_stored_of_generated_documents(loaded, packed, size):
    stored = []
    for place in alone():
        report = index(place, loaded.texts, size=size, packed=packed)
        stored.append((report, content(place.chunks)))
        again = index(place, loaded.texts, size=size, packed=packed)
        assert not again.added
        assert again.chunks_added == again.chunks_deleted == 0
        for name, parts in texts_of(loaded.texts).items():
            if "".join(parts).strip():
                own = list(place.chunks.read({document_key(name): None}))
                assert rebuild(name, own).parts == parts

    assert stored[0] == stored[1]


def test_one_character_that_no_store_keeps_does_not_refuse_a_document():
    text = f"{SENTENCES}A page\0 of a reader, and \ud800 half of a sign. {SENTENCES}"
    stored = []
    for place in alone():
        report = index(place, [Text(text, NAMED, "", None)])
        assert not report.failed
        stored.append(content(place.chunks))
        own = list(place.chunks.read({document_key("a.pdf"): None}))
        kept = text.replace("\0", "\ufffd").replace("\ud800", "\ufffd")
        assert rebuild("a.pdf", own).parts == (kept,)

    assert stored[0] == stored[1]


SIZES = [(9, False), (30, False), (30, True)]


@pytest.mark.parametrize("make", [shared_collection, alone], ids=["chroma", "memory"])
@pytest.mark.parametrize("kind", ["whole", "page_number"])
def test_chunks_of_several_sizes_live_side_by_side(make, kind):
    for place in make():
        loaded = of_kind(kind)
        counts = []
        for size, packed in SIZES:
            options = {"size": size, "packed": packed, "replace": "same_settings"}
            counts.append(index(place, loaded, **options).chunks_added)
        by_size = [
            index(place, loaded, size=size, packed=packed, replace="same_settings")
            for size, packed in SIZES
        ]
        if min(counts):  # the second framework finds what the first one wrote
            assert len(list(place.chunks.read())) == sum(counts)
        assert all(len(report.unchanged) == 2 for report in by_size)
        versions = {chunk.metadata["doc_version"] for chunk in place.chunks.read()}
        assert len(versions) == 2 * len(SIZES)
        assert_whole(place.chunks, loaded)
        assert langchain_oprag.diagnose(place.chunks).problems == ()


class Unqueried(ChunkStore):
    """Looks at all of its chunks, and counts how often it is read."""

    name, reads = "own", 0

    def __init__(self, store: ChunkStore) -> None:
        self._store = store

    def read(self, wanted: Any = None, ids: Any = None) -> Any:
        self.reads += 1
        return self._store.read(wanted, ids)


def test_a_store_of_ones_own_without_queries_is_read_once_for_all_documents():
    for place in alone():
        store = Unqueried(place.chunks)
        place.index({f"{n}.txt": SENTENCES for n in range(9)}, chunks=store)
        assert store.reads <= 2


NAMED = {"source": "a.pdf"}
WRONG: list[tuple[list[tuple[str, dict[str, Any]]], type[Exception]]] = [
    ([("text", {})], MissingDocumentError),
    ([("text", NAMED), ("text", NAMED)], InvalidOptionError),
    ([("a", NAMED), ("b", {"source": "b"}), ("a", NAMED)], InvalidOptionError),
    ([("text", {**NAMED, "chunk_index": 0})], PositionError),
    ([("text", {**NAMED, "oprag": "0 0-4 r1"})], PositionError),
    ([("text", {**NAMED, "oprag_hash": "0"})], PositionError),
]
REFUSED: list[tuple[dict[str, Any], type[Exception]]] = [
    ({"page_label": "iv"}, MissingPositionError),
    ({"tags": ["a"]}, UnreadableFileError),
    ({"title": "Report\0"}, UnreadableFileError),
    ({"title": "\ud800"}, UnreadableFileError),
    ({"a\0b": 1}, UnreadableFileError),
]
"""The fault of one document alone."""


@pytest.mark.parametrize(("loaded", "error"), WRONG)
def test_what_cannot_be_indexed_is_the_same_error(loaded, error):
    texts = [Text(text, metadata, "", None) for text, metadata in loaded]
    messages = []
    for place in alone():
        with pytest.raises(error) as caught:
            index(place, texts)
        assert type(caught.value) is error
        messages.append(str(caught.value))
    assert messages[0] == messages[1]


@pytest.mark.parametrize(("metadata", "error"), REFUSED)
def test_what_is_wrong_with_one_document_is_the_same_and_leaves_its_old_version(
    metadata, error
):
    before = [Text("Old.", NAMED, "", None)]
    wrong = Text("New.", {**NAMED, **metadata}, "", None)
    other = Text("Other.", {"source": "b.pdf"}, "", None)
    messages = []
    for place in alone():
        index(place, before)
        with pytest.warns(OpragWarning, match=r"1 failed: 'a.pdf'"):
            report = index(place, [wrong, other], remove_missing=True)
        assert report.added == ("b.pdf",)
        ((name, refusal, _),) = report.failed
        assert (name, type(refusal)) == ("a.pdf", error)
        own = list(place.chunks.read({document_key("a.pdf"): None}))
        assert [chunk.text for chunk in own] == ["Old."]
        messages.append(str(refusal))
    assert messages[0] == messages[1]
