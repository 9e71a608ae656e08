"""So many chunks in place of a budget, found by words, and the frameworks' defaults."""

import asyncio

import pytest
from langchain_core.documents import Document
from langchain_core.embeddings import DeterministicFakeEmbedding, Embeddings
from langchain_core.vectorstores import InMemoryVectorStore
from langchain_text_splitters import RecursiveCharacterTextSplitter
from llama_index.core import Document as LlamaDocument
from llama_index.core import VectorStoreIndex

from langchain_oprag import OffsetSentenceSplitter, OrderPreservingRetriever
from oprag_eval.artifacts import Vectors
from oprag_eval.bench import Bench
from oprag_eval.catalogue import make_system
from oprag_eval.splittings import Splitting
from tests.evaluation.small import Replies, WordVectors, attempt, bench_of, set_of_one
from tests.llamaindex.recording import WordEmbedding

LONG = " ".join(f"Entry {n} tells of crate {n * 7 % 911}." for n in range(6_000))
DATASET = set_of_one(LONG, "What is told of crate 77?")


def counted(spec: str, budget: int | None = None):
    return attempt(spec, dataset=DATASET, budget=budget, token_counter=None)


@pytest.mark.parametrize(("budget", "windows"), [(16_000, 128), (48_000, 384)])
def test_the_papers_number_of_windows_is_read_and_not_what_a_budget_holds(
    budget, windows
):
    found = counted(f"op-rag:top_n={windows}")

    assert len(found.pieces) == windows
    assert windows * 128 <= found.context_tokens <= windows * 132
    assert len(counted("op-rag", budget).pieces) < windows
    by_score = counted(f"vanilla-rag:unit=tokens,size=128,top_n={windows}")
    assert set(by_score.pieces) == set(found.pieces)


BELLS = " ".join(
    f"Bell {n} hangs in tower {n * 37 % 401} of {chr(65 + n % 26)}{n * 3}. It is old, "
    f"and {'cracked' if n % 3 else 'whole'}, and was cast in the year {1100 + n * 2}."
    for n in range(400)
)
ASKED = "In which year was bell 212 cast, which hangs in tower 225?"
WORDS = WordVectors()
BELL_SET = set_of_one(BELLS, ASKED)


def texts_of(
    spec: str, budget: int | None = None, embeddings: Embeddings = WORDS
) -> list[str]:
    bench = Bench(BELL_SET, Replies(), Vectors(embeddings, name="any"))
    asked = make_system(spec).attempt(BELL_SET.questions[0], budget, bench)
    return [BELLS[p.start : p.end] for p in asyncio.run(asked).pieces]


def test_langchain_untouched_reads_what_langchain_untouched_retrieves():
    splitter = RecursiveCharacterTextSplitter(chunk_size=1000, chunk_overlap=200)
    chunks = splitter.split_documents([Document(BELLS)])
    store = InMemoryVectorStore.from_documents(chunks, WordVectors())
    found = store.as_retriever().invoke(ASKED)

    assert texts_of("langchain-default") == [each.page_content for each in found]
    assert len(found) == 4


def test_llamaindex_untouched_reads_what_llamaindex_untouched_retrieves():
    index = VectorStoreIndex.from_documents(
        [LlamaDocument(text=BELLS)], embed_model=WordEmbedding()
    )
    found = index.as_retriever().retrieve(ASKED)

    assert texts_of("llamaindex-default") == [each.text for each in found]
    assert len(found) == 2


@pytest.mark.parametrize("unit", ["langchain", "llamaindex"])
def test_equal_chunks_of_a_framework_have_places_of_their_own(unit):
    text = "The bell of the tower rang. " * 200
    (document,) = set_of_one(text).documents.values()
    bench = bench_of(Replies(), set_of_one(text), token_counter=None)
    chunks = bench.chunks(document, Splitting(unit, 100))
    starts = [chunk.metadata["char_start"] for chunk in chunks]

    assert starts == sorted(set(starts))
    assert chunks[-1].metadata["char_end"] == len(text.rstrip())


def test_a_question_finds_by_its_words_what_vectors_miss():
    fact = "in the year 1524."
    assert fact not in " ".join(texts_of("dos-rag:size=40", 200))
    assert fact in " ".join(texts_of("dos-rag:search=hybrid,size=40", 200))


@pytest.mark.parametrize("budget", [150, 500, 2000])
def test_what_is_recommended_reads_what_the_printed_retriever_reads(budget):
    apart = DeterministicFakeEmbedding(size=16)  # no two texts are equally near
    store = InMemoryVectorStore(apart)
    for size in (256, 64):
        splitter = OffsetSentenceSplitter(chunk_size=size)
        document = Document(BELLS, metadata={"source": "d"})
        store.add_documents(splitter.split_documents([document]))
    retriever = OrderPreservingRetriever(
        vectorstore=store, bm25=True, selection="recall", token_budget=budget
    )
    read = retriever.invoke(ASKED)

    assert texts_of("recommended", budget, apart) == [
        each.page_content for each in read
    ]
    assert read != []
