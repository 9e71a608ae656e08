"""Chunks that an application counts, with an id of their own each.

Beside a file that is named such an id is no document's; nor does it say in which text
the number counts. All chunks of the file show it.
"""

import hashlib
import random
import uuid

import pytest
from langchain_core.documents import Document
from langchain_core.vectorstores import InMemoryVectorStore
from langchain_text_splitters import RecursiveCharacterTextSplitter

from langchain_oprag import OrderPreservingCompressor, OrderPreservingRetriever
from oprag import place_of
from oprag.errors import PositionError
from tests.kit.pages import page_text
from tests.real_stores.langchain_places import HashEmbeddings

PAGES = {n: page_text(n) for n in range(5)}
IDS = {
    "random": lambda chunk: str(uuid.UUID(bytes=hashlib.md5(chunk.encode()).digest())),  # noqa: S324 -- an id
    "hash": lambda chunk: hashlib.sha256(chunk.encode()).hexdigest(),
}


def cut(overlap: int, ids: str = "random", *, restarts: bool = False) -> list[Document]:
    splitter = RecursiveCharacterTextSplitter(chunk_size=1000, chunk_overlap=overlap)
    chunks = list[Document]()
    for number, text in PAGES.items():
        metadata = {"source": "docs/report.pdf", "page": number}
        on_page = splitter.split_documents([Document(text, metadata=metadata)])
        for at, chunk in enumerate(on_page):
            counted = at if restarts else len(chunks)
            chunk.metadata["chunk_index"] = counted
            chunk.metadata["doc_id"] = IDS[ids](chunk.page_content)
            chunks.append(chunk)
    return random.Random(3).sample(chunks, len(chunks))  # noqa: S311 -- an order


def stored(chunks: list[Document]) -> InMemoryVectorStore:
    store = InMemoryVectorStore(HashEmbeddings())
    store.add_documents(chunks)
    return store


def found_at(found: list[Document]) -> list[tuple[int, int]]:
    pages = [each.metadata["page"] for each in found]
    return [
        (page, PAGES[page].index(each.page_content))
        for page, each in zip(pages, found, strict=True)
    ]


@pytest.mark.parametrize("restarts", [True, False])
@pytest.mark.parametrize("overlap", [200, 0])
@pytest.mark.parametrize("ids", IDS)
def test_they_are_in_order_by_overlaps_or_by_their_numbers(ids, overlap, restarts):
    store = stored(cut(overlap, ids, restarts=restarts))
    for k in (2, 4, 8, 40):
        retriever = OrderPreservingRetriever(store, k=k)
        for question in range(5):
            found = retriever.invoke(f"question {question}")
            assert found_at(found) == sorted(found_at(found))
            again = OrderPreservingCompressor().compress_documents(found, "?")
            assert [place_of(e) for e in again] == [place_of(e) for e in found]


@pytest.mark.parametrize("name", ["report.pdf_{}", "docs/report.pdf:0:{}"])
def test_an_id_made_of_the_file_and_a_number_is_no_document_of_its_own(name):
    whole = Document("\n".join(PAGES.values()), metadata={"source": "docs/report.pdf"})
    splitter = RecursiveCharacterTextSplitter(chunk_size=1000, chunk_overlap=0)
    chunks = splitter.split_documents([whole])
    for at, chunk in enumerate(chunks):
        chunk.metadata |= {"chunk_index": at, "doc_id": name.format(at)}
    retriever = OrderPreservingRetriever(stored(chunks[::-1]), k=8)
    found = retriever.invoke("question")
    numbers = [each.metadata["chunk_index"] for each in found]
    assert numbers == sorted(numbers)


def test_verify_finds_them_in_order():
    retriever = OrderPreservingRetriever(stored(cut(0)))
    assert retriever.verify().verdict == "ordered"


def test_without_overlaps_a_number_that_is_missing_proves_nothing():
    chunks = [
        each
        for each in cut(0, restarts=True)
        if not (each.metadata["page"] == 2 and each.metadata["chunk_index"] == 1)
    ]
    retriever = OrderPreservingRetriever(stored(chunks), k=40)
    with pytest.raises(PositionError, match="of 5 pages 4 are ordered"):
        retriever.invoke("question")


def test_two_texts_of_one_page_that_are_both_counted_are_not_mixed():
    chunks = cut(0, restarts=True)
    for page in PAGES:
        for at, text in enumerate(page_text(page + 50).split("\n")[:4]):
            metadata = {**chunks[0].metadata, "page": page, "chunk_index": at}
            metadata["doc_id"] = IDS["random"](text)
            chunks.append(Document(text, metadata=metadata))
    retriever = OrderPreservingRetriever(stored(chunks), k=100)
    with pytest.raises(PositionError):
        retriever.invoke("question")


def test_an_id_that_several_chunks_share_is_a_document_of_its_own():
    chunks = cut(0)
    for number, chunk in enumerate(chunks):
        chunk.metadata["doc_id"] = str(uuid.UUID(int=number // 2))
    with pytest.raises(PositionError):
        OrderPreservingRetriever(stored(chunks), k=100).invoke("question")


def test_a_list_alone_does_not_show_that_each_chunk_has_another_id():
    on_page = [each for each in cut(0) if each.metadata["page"] == 2]
    with pytest.raises(PositionError):
        OrderPreservingCompressor().compress_documents(on_page, "question")
