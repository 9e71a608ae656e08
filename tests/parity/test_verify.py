"""Faults of every question are reported at start-up, in both frameworks."""

import asyncio
from pathlib import Path

import pytest
from langchain_core.documents import Document
from langchain_core.language_models import FakeListChatModel
from langchain_text_splitters import RecursiveCharacterTextSplitter
from llama_index.core.vector_stores import MetadataFilter, MetadataFilters

from langchain_oprag import (
    LongReader,
    OrderPreservingCompressor,
    OrderPreservingVectorStore,
)
from llamaindex_oprag import OrderPreservingPostprocessor, OrderPreservingRetrieverTool
from oprag import group_documents
from oprag.errors import (
    InvalidOptionError,
    MissingPositionError,
    PositionWarning,
    UnfitIndexError,
)
from oprag.stores import StoredChunk
from tests.kit.frameworks import InLangChain, InLlamaIndex
from tests.kit.words import words
from tests.parity.components import langchain_retriever, llamaindex_retriever


def stored(chunks):
    rows = [StoredChunk(t, m, str(number)) for number, (t, m) in enumerate(chunks)]
    for held in (InLangChain(), InLlamaIndex()):
        held.add(rows)
        yield held


def retrievers(chunks, **options):
    return [held.ordered(held.search(4), **options) for held in stored(chunks)]


def self_routes(chunks, **options):
    options = {"documents": None, **options}
    return [held.routed(held.search(4), "x", **options) for held in stored(chunks)]


def refused(components, *, sample=200):
    """The message, the same from all, sync and async."""
    messages = []
    for component in components:
        with pytest.raises(UnfitIndexError) as caught:
            component.verify(sample)
        messages.append(caught.value)
        with pytest.raises(UnfitIndexError) as caught:
            asyncio.run(component.averify(sample))
        messages.append(caught.value)
    assert len({error.message.partition("will fail. ")[2] for error in messages}) == 1
    assert all(error.diagnosis.chunks for error in messages)
    return messages[0].message


PARTLY = [
    (f"text {n}", {"source": "a.txt", "start_index": -1 if n % 4 == 3 else 10 * n})
    for n in range(57)
]
SOUND = [(f"text {n:03}", {"source": "a.txt", "start_index": 9 * n}) for n in range(9)]


def test_an_index_that_is_only_partly_positioned_is_told_in_numbers():
    message = refused(retrievers(PARTLY))

    assert "documents=" in message
    assert "add_start_index" not in message  # it was set


def test_a_file_of_several_documents_is_not_ordered():
    chunks = [(t, {**m, "doc_id": f"chunk {n}"}) for n, (t, m) in enumerate(SOUND)]

    for component in retrievers(chunks):
        with pytest.warns(PositionWarning, match="document_key="):
            diagnosis = component.verify()
        assert (diagnosis.verdict, diagnosis.healthy) == ("not ordered", False)
    keys = {"document_key": "source", "position_keys": "start_index"}
    for component in retrievers(chunks, **keys):
        assert component.verify().healthy


def test_a_store_in_order_is_asked_as_its_retriever_is():
    rows = (PARTLY, SOUND)
    partly, sound = (
        OrderPreservingVectorStore(next(iter(stored(each))).store) for each in rows
    )
    refused([partly])
    assert sound.verify().verdict == "ordered"


def test_a_sound_index_gives_what_the_doctor_found():
    for component in retrievers(SOUND):
        assert component.verify().verdict == "ordered"
        assert asyncio.run(component.averify(None)).chunks == 9


def test_of_a_sample_nothing_is_said_of_the_others():
    for component in retrievers(SOUND):
        found = component.verify(sample=5)
        assert (found.verdict, found.healthy) == ("sampled", True)
        assert (found.chunks, found.total) == (5, 9)
        assert "5 of 9 chunks sampled" in str(found)
        assert asyncio.run(component.averify(5)) == found


def test_an_error_of_a_sample_says_of_how_many():
    far = [(t, {**m, "source": "b.txt"}) for t, m in SOUND]
    unnamed = [("Whose?", {}), *SOUND, *far]
    for component in retrievers(unnamed):
        with pytest.raises(UnfitIndexError, match=r"\(4 of 19 chunks sampled\)"):
            component.verify(4)


def of_many_documents(documents, chunks):
    """As they lie in a store to which each document is added chunk by chunk."""
    return [
        (f"text {n} of {name}", {"source": f"{name}.txt"})
        for n in range(chunks)
        for name in range(documents)
    ]


def test_documents_of_which_a_sample_has_one_chunk_are_looked_at_whole():
    # The first 200 chunks are alone in their documents; in the store none is.
    components = retrievers(of_many_documents(documents=300, chunks=2))

    message = refused(components)

    assert "200 of 200 documents" in message
    langchain, llamaindex = components
    langchain.k = llamaindex.similarity_top_k = 600
    with pytest.raises(MissingPositionError):
        langchain.invoke("text")
    with pytest.raises(MissingPositionError):
        llamaindex.retrieve("text")


def test_with_warn_it_is_a_warning():
    for component in retrievers(PARTLY, on_problem="warn"):
        with pytest.warns(PositionWarning, match="1 of 1 documents") as caught:
            diagnosis = component.verify()
        assert diagnosis.chunks == 57
        warned = str(caught[0].message)
        assert "will be in the order as retrieved, with a warning" in warned
        assert "will fail" not in warned
        with pytest.warns(PositionWarning, match="1 of 1 documents"):
            asyncio.run(component.averify())


@pytest.mark.parametrize("options", [{"merge": True}, {"selection": "recall"}])
def test_full_texts_that_gaps_are_filled_from_are_read(options):
    texts = {"a.txt": " ".join(text for text, _ in SOUND)}.get
    others = {"a.txt": "something else " * 20}.get
    options = {"token_budget": 40, **options}
    sound, wrong = (retrievers(SOUND, documents=f, **options) for f in (texts, others))

    assert all(component.verify().verdict == "ordered" for component in sound)
    assert "has something else there" in refused(wrong)
    for component in retrievers(SOUND, documents=others):  # they are not read
        assert component.verify().verdict == "ordered"


def test_with_locate_the_full_texts_are_looked_into():
    text = " ".join(f"word{n} is said." for n in range(40))
    chunks = [(f"word{n} is said.", {"source": "a"}) for n in range(0, 40, 3)]

    for component in retrievers(chunks, documents={"a": text}):
        component.verify()
    altered = [*chunks, ("something else", {"source": "a"})]
    message = refused(retrievers(altered, documents={"a": text}))
    assert "1 of 1 documents are refused" in message
    message = refused(retrievers(chunks, documents={"b": text}))
    assert "documents= has none of the documents" in message


def test_a_store_that_cannot_be_seen_is_named_with_what_to_give():
    for make, name in (
        (langchain_retriever, "ListRetriever"),
        (llamaindex_retriever, "Retrieved"),
    ):
        with pytest.raises(InvalidOptionError, match=rf"a {name} searches.*diagnose\("):
            make(["a"], [{"source": "a"}]).verify()


# Self-Route: full documents


TEXT = "\n\n".join(f"Paragraph {n} says this.  And that." for n in range(30))


def test_self_route_refuses_chunks_whose_documents_cannot_be_put_together():
    split = RecursiveCharacterTextSplitter(
        chunk_size=60, chunk_overlap=0, add_start_index=True
    )
    theirs = split.split_documents([Document(TEXT, metadata={"source": "a"})])
    rows = [(d.page_content, d.metadata) for d in theirs]
    for held in stored(rows):
        with pytest.raises(InvalidOptionError, match="and no chunk"):
            held.routed(held.search(4))
        held.package.index_documents([held.document("b", "Ours.")], held.documents)
        component = held.routed(held.search(4))
        with pytest.raises(UnfitIndexError, match="1 of 2 documents are refused"):
            component.verify()
        with pytest.raises(UnfitIndexError):
            asyncio.run(component.averify())


def test_self_route_names_texts_that_are_not_there(tmp_path: Path):
    (tmp_path / "b.txt").write_text("x")
    message = refused(self_routes(SOUND, documents=tmp_path))
    assert "1 of 1 documents are refused" in message
    assert "'a.txt'" in message
    for component in self_routes(SOUND, documents={"a.txt": "x"}):
        component.verify()
    for component in self_routes(SOUND, steps=["retrieved"]):
        component.verify()


def test_places_are_found_by_what_comes_first():
    texts = {"a.txt": " ".join(text for text, _ in SOUND)}
    rows = [(text, {"source": "a.txt"}) for text, _ in SOUND]
    langchain, llamaindex = stored(rows)
    inside, strict = (
        langchain.ordered(langchain.search(4), documents=each).with_config(tags=["x"])
        for each in (texts, None)
    )
    ordered = [
        langchain.ordered(inside),
        llamaindex.ordered(llamaindex.ordered(llamaindex.search(4), documents=texts)),
        langchain.routed(inside, "x", documents=texts),
        llamaindex.routed(
            llamaindex.search(4),
            "x",
            documents=texts,
            node_postprocessors=[OrderPreservingPostprocessor(documents=texts)],
        ),
    ]

    for component in ordered:
        assert component.verify().chunks == 9
    with pytest.raises(UnfitIndexError, match="no position"):
        langchain.ordered(strict, documents=texts).verify()


def test_a_retriever_that_refuses_is_not_warned_of():
    for held in stored(PARTLY):
        inside = held.ordered(held.search(60))
        options = {"steps": ["retrieved"], "on_problem": "warn", "documents": None}
        routed = held.routed(inside, "x", **options)
        with pytest.raises(UnfitIndexError, match="will fail"):
            routed.verify()
        with pytest.raises(MissingPositionError):
            held.ask(routed)


def test_only_what_the_filter_admits_is_looked_at():
    chunks = [(t, {**m, "tenant": "x"}) for t, m in PARTLY]
    chunks += [(t, {**m, "tenant": "y"}) for t, m in SOUND]
    only = MetadataFilters(filters=[MetadataFilter(key="tenant", value="y")])
    filters = (lambda document: document.metadata["tenant"] == "y", only)
    for held, where in zip(stored(chunks), filters, strict=True):
        retriever = held.ordered(held.search(4, where))
        assert retriever.verify(None).chunks == len(SOUND)


BOOK = " ".join(f"Year {year} was good." for year in range(1900, 1940))
OF_UNITS = {"note": "Ann built it.", "book": BOOK}
UNITS = group_documents(OF_UNITS, max_tokens=40, token_counter=words)
"""The note, and the book in four parts of ten years."""
NOTED = [("Ann built it.", {"source": "note"})]
YEARS = [(BOOK[n : n + 19], {"source": "book", "start_index": n}) for n in (0, 20, 400)]


def unit_retrievers(chunks, **options):
    options = {"units": UNITS, "documents": OF_UNITS, **options}
    return [
        held.package.LongUnitRetriever(base_retriever=held.search(4), **options)
        for held in stored(chunks)
    ]


def test_chunks_of_which_the_unit_is_known_are_fit_for_long_units():
    """A document that is in one unit needs no positions."""
    for component in unit_retrievers(NOTED * 2 + YEARS):
        assert component.verify().chunks == asyncio.run(component.averify()).chunks == 5


@pytest.mark.parametrize(
    ("chunks", "why"),
    [
        ([("Else.", {"source": "other"})], "which is in none of the units="),
        ([("Whose?", {})], "does not say which document"),
    ],
)
def test_chunks_of_which_the_unit_is_not_known_are_refused(chunks, why):
    documents = {**OF_UNITS, "other": "Else."}
    message = refused(unit_retrievers(NOTED + chunks, documents=documents))
    assert why in message

    for component in unit_retrievers(
        NOTED + chunks, documents=documents, on_problem="warn"
    ):
        with pytest.warns(PositionWarning, match="1 of 2 documents are refused"):
            component.verify()


@pytest.mark.parametrize("on_problem", ["error", "warn"])
def test_documents_of_units_that_cannot_be_read_are_refused(on_problem):
    options = {"documents": {"note": "Ann built it."}, "on_problem": on_problem}
    message = refused(unit_retrievers(NOTED + YEARS, **options))
    assert "1 of 2 documents are refused: There is no document 'book'" in message


def test_documents_that_changed_after_they_were_cut_are_refused():
    changed = {**OF_UNITS, "book": BOOK.replace("good", "wet")}
    message = refused(unit_retrievers(NOTED + YEARS, documents=changed))
    assert "1 of 2 documents are refused" in message
    assert "group again" in message


def test_functions_as_keys_are_given_what_has_the_chunks_metadata():
    chunks = [(f"text {n}", {"file": "a.txt", "at": 10 * n}) for n in range(9)]
    keys = {
        "document_key": lambda found: found.metadata["file"],
        "position_keys": lambda found: found.metadata["at"],
    }

    for component in retrievers(chunks, **keys):
        assert component.verify().healthy


def test_what_is_given_results_is_asked_of_a_store_or_what_searches_it():
    langchain, llamaindex = stored(PARTLY)
    compressor, postprocessor = (
        OrderPreservingCompressor(),
        OrderPreservingPostprocessor(),
    )
    over = [
        (compressor, langchain.store),
        (compressor, langchain.search(4)),
        (postprocessor, llamaindex.documents),
        (postprocessor, llamaindex.search(4)),
    ]

    for component, searched in over:
        for ask in (component.verify, lambda *a: asyncio.run(component.averify(*a))):  # noqa: B023 -- called at once
            with pytest.raises(UnfitIndexError) as caught:
                ask(searched, None)
            assert caught.value.diagnosis.chunks == len(PARTLY)


def test_a_reader_and_a_tool_are_asked_as_their_retriever_is():
    langchain, llamaindex = stored(PARTLY)
    reader = LongReader(
        llm=FakeListChatModel(responses=["x"]), retriever=langchain.search(4)
    )
    tool = OrderPreservingRetrieverTool.from_defaults(llamaindex.search(4))

    refused([reader, tool], sample=None)
    with pytest.raises(InvalidOptionError, match="no retriever="):
        LongReader(llm=FakeListChatModel(responses=["x"])).verify()
