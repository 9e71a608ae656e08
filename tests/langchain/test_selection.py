"""`selection=` through the components, on a real store."""

from __future__ import annotations

from itertools import pairwise

import pytest
from langchain_chroma import Chroma
from langchain_core.documents import Document

from langchain_oprag import (
    LongUnitRetriever,
    OffsetSentenceSplitter,
    OrderPreservingCompressor,
    OrderPreservingRetriever,
)
from oprag.errors import InvalidOptionError
from oprag.tokens import resolve_token_counter
from oprag.units.grouping_documents import group_documents
from tests.handed_out import told
from tests.langchain import routes
from tests.langchain.compat import EnsembleRetriever
from tests.langchain.corpus import (
    EMBEDDING,
    QUERY,
    WIDTH,
    ListRetriever,
    RecordingStore,
    book,
    chunk,
    numbers,
    words,
)
from tests.support.openai_server import scripted_server

__all__ = ["scripted_server"]

# Four words a chunk; 5, 9, 6 come, best first.
FOUND = [chunk(5), chunk(9), chunk(6)]
TEXT = "".join(document.page_content for document in book(40))


def retriever(**options):
    return OrderPreservingRetriever(
        base_retriever=ListRetriever(documents=FOUND), token_counter=words, **options
    )


@pytest.mark.parametrize(
    ("options", "kept"),
    [
        ({}, [5, 9]),
        ({"selection": "budget"}, [5, 9]),
        ({"selection": "recall", "merge": False}, [5, 6]),
    ],
)
async def test_each_selection_keeps_its_own_choice(options, kept):
    # "recall": chunk 6 is next to the best one.
    wrapped = retriever(token_budget=8, **options)
    assert numbers(wrapped.invoke(QUERY)) == kept
    assert numbers(await wrapped.ainvoke(QUERY)) == kept
    compressor = OrderPreservingCompressor(
        token_budget=8, token_counter=words, **options
    )
    assert numbers(compressor.compress_documents(FOUND, QUERY)) == kept
    assert numbers(await compressor.acompress_documents(FOUND, QUERY)) == kept


def test_recall_merges_what_touches():
    (document,) = retriever(token_budget=8, selection="recall").invoke(QUERY)
    assert document.page_content == "chunk 005 says x. chunk 006 says x. "
    assert document.metadata["oprag_start"] == 5 * WIDTH


def test_unmerged_whole_chunks_are_the_objects_that_were_retrieved():
    found = retriever(token_budget=8, selection="recall", merge=False).invoke(QUERY)
    assert told(found[:1]) == told(FOUND[:1])
    assert told(found[1:2]) == told(FOUND[2:3])


def test_slices_have_their_own_place_and_id():
    whole = Document(
        TEXT[:36], id="w", metadata={"source": "book.txt", "start_index": 0}
    )
    inner = chunk(0)
    found = OrderPreservingCompressor(
        selection="recall", merge=False, token_budget=99, token_counter=words
    )
    first, second = found.compress_documents([whole, inner], QUERY)
    assert told([first]) == told([inner])
    assert second.page_content == TEXT[18:36]
    assert (second.metadata["oprag_start"], second.metadata["oprag_end"]) == (18, 36)
    assert second.id not in {"w", inner.id}
    assert whole.page_content == TEXT[:36]


def test_full_texts_are_read_between_and_around_chunks():
    documents = [chunk(5), chunk(7)]
    compressor = OrderPreservingCompressor(
        selection="recall",
        token_budget=20,
        token_counter=words,
        documents={"book.txt": TEXT},
    )
    (document,) = compressor.compress_documents(documents, QUERY)
    assert document.page_content == TEXT[4 * WIDTH : 9 * WIDTH]


def test_what_was_chosen_is_chosen_again():
    compressor = OrderPreservingCompressor(
        selection="recall", token_budget=10, token_counter=words
    )
    once = compressor.compress_documents(FOUND, QUERY)
    assert compressor.compress_documents(once, QUERY) == once


@pytest.mark.parametrize(
    ("options", "asked"),
    [
        ({}, 16),
        ({"selection": "recall"}, 1200),
        ({"selection": "recall", "k": 20}, 20),
        ({"selection": "recall", "search_kwargs": {"k": 30}}, 30),
    ],
)
async def test_a_store_is_asked_for_enough_to_choose_from(options, asked):
    store = RecordingStore(book(40))
    wrapped = OrderPreservingRetriever(
        vectorstore=store, token_budget=8, token_counter=words, **options
    )
    wrapped.invoke(QUERY)
    await wrapped.ainvoke(QUERY)
    assert [call["k"] for call in store.asked] == [asked] * 2


async def test_recall_over_two_sizes_fused_in_a_real_store(tmp_path):
    source = Document(TEXT, metadata={"source": "book.txt"})
    chunks = []
    for size in (12, 24):
        splitter = OffsetSentenceSplitter(chunk_size=size)
        for document in splitter.split_documents([source]):
            document.id = f"{document.id}-{size}"
            chunks.append(document)
    store = Chroma("book", EMBEDDING, str(tmp_path))
    store.add_documents(chunks)
    dense = store.as_retriever(search_kwargs={"k": 1200})
    other = ListRetriever(documents=chunks[::-1])
    fusion = EnsembleRetriever(retrievers=[dense, other], weights=[0.5, 0.5])
    wrapped = OrderPreservingRetriever(
        base_retriever=fusion, selection="recall", token_budget=100, merge=False
    )
    found = wrapped.invoke(QUERY)
    assert found == await wrapped.ainvoke(QUERY)
    spans = [(d.metadata["oprag_start"], d.metadata["oprag_end"]) for d in found]
    assert spans == sorted(spans)
    assert all(end <= start for (_, end), (start, _) in pairwise(spans))
    for document, (start, end) in zip(found, spans, strict=True):
        assert document.page_content == TEXT[start:end]
    counter = resolve_token_counter(None)
    sent = counter("\n\n".join(document.page_content for document in found))
    assert 80 < sent <= 100


def test_choosing_by_position_needs_a_budget():
    with pytest.raises(InvalidOptionError, match="Set token_budget="):
        retriever(selection="recall").invoke(QUERY)


@pytest.mark.parametrize("way", routes.WAYS)
async def test_self_route_reads_what_its_retriever_chose(scripted_server, way):
    # Six words each: the best is sentence 30, and 31 is beside it, 5 is not.
    server = scripted_server(["In 1912."])
    chosen = OrderPreservingRetriever(
        base_retriever=ListRetriever(documents=routes.RETRIEVED),
        selection="recall",
        token_budget=12,
        token_counter=words,
    )
    await routes.ask(routes.chain_of(server, retriever=chosen), way=way)
    (request,) = server.requests
    assert routes.text_in(request) == "\n".join(routes.SENTENCES[30:32])


class RepeatingStore(RecordingStore):
    """Gives as many documents as it is asked for, and some more: the same ones."""

    more = 0

    def _repeated(self, k):
        distinct = book(3)
        return [distinct[number % 3] for number in range(k + self.more)]

    def similarity_search(self, query, k=4, **kwargs):
        self.asked.append({"k": k, **kwargs})
        return self._repeated(k)

    async def asimilarity_search(self, query, k=4, **kwargs):
        return self.similarity_search(query, k, **kwargs)


@pytest.mark.slow
@pytest.mark.parametrize("more", [-1, 0, 5])
@pytest.mark.parametrize("way", ["invoke", "ainvoke"])
async def test_a_store_that_repeats_itself_is_asked_twice_at_most(
    more, way, scripted_server
):
    store = RepeatingStore()
    store.more = more
    wrapped = OrderPreservingRetriever(
        vectorstore=store, token_budget=128_000, token_counter=words
    )
    units = group_documents({"book.txt": TEXT, "b": "x"}, token_counter=words)
    long_units = LongUnitRetriever(
        vectorstore=store, units=units, documents={"book.txt": TEXT, "b": "x"}, k=2
    )
    chain = routes.chain_of(
        scripted_server(["Yes."]),
        retriever=store.as_retriever(),
        documents={"book.txt": TEXT},
        rungs=[64_000, "full"],
    )

    for runnable, least in ((wrapped, 2_000), (long_units, 16), (chain, 1_000)):
        store.asked.clear()
        if way == "invoke":
            runnable.invoke(QUERY)
        else:
            await runnable.ainvoke(QUERY)
        asked = [call["k"] for call in store.asked]
        assert asked == ([least] if more < 0 else [least, 2 * least])
