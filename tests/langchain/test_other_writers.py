"""An index that another process writes to, and one of an earlier release."""

import json
import random
import subprocess
import sys
from pathlib import Path

import pytest
from langchain_core.documents import Document
from langchain_core.vectorstores import InMemoryVectorStore
from langchain_text_splitters import RecursiveCharacterTextSplitter

from langchain_oprag import OrderPreservingRetriever, order_documents
from tests.kit.pages import page_text
from tests.real_stores.langchain_places import HashEmbeddings

SPLITTER = RecursiveCharacterTextSplitter(chunk_size=1000, chunk_overlap=200)
WRITES = """
import json, sys
from langchain_chroma import Chroma
from langchain_core.documents import Document
from tests.real_stores.langchain_places import HashEmbeddings
folder, name, rows = json.load(sys.stdin)
store = Chroma(name, HashEmbeddings(), persist_directory=folder)
documents = [Document(text, metadata=metadata) for text, metadata, _ in rows]
store.add_documents(documents, ids=[number for *_, number in rows])
"""


def cut(number: int, text: str = "") -> list[Document]:
    metadata = {"source": "report.pdf", "page": number}
    whole = Document(text or page_text(number), metadata=metadata)
    chunks = SPLITTER.split_documents([whole])
    for at, chunk in enumerate(chunks):
        chunk.id = f"{number}-{at}"
    return random.Random(number).sample(chunks, len(chunks))  # noqa: S311 -- an order


def written_by_another(folder: Path, chunks: list[Document]) -> None:
    rows = [(each.page_content, each.metadata, each.id) for each in chunks]
    subprocess.run(
        [sys.executable, "-c", WRITES],
        input=json.dumps([str(folder), "chunks", rows]),
        text=True,
        check=True,
        cwd=Path(__file__).parents[2],
    )


def are_in_order(results: list[Document], pages: dict[int, str]) -> bool:
    places = [
        (each.metadata["page"], pages[each.metadata["page"]].index(each.page_content))
        for each in results
    ]
    return places == sorted(places)


def test_a_page_that_another_process_writes_anew_is_read_anew(tmp_path):
    chroma = pytest.importorskip("langchain_chroma")
    store = chroma.Chroma("chunks", HashEmbeddings(), persist_directory=str(tmp_path))
    store.add_documents([*cut(0), *cut(1)])
    retriever = OrderPreservingRetriever(store, k=100)
    assert are_in_order(retriever.invoke("?"), {n: page_text(n) for n in range(2)})

    new = page_text(7)[: len(page_text(1))]
    changed = cut(1, new)
    assert len(changed) == len(cut(1))  # the store has as many chunks as before
    written_by_another(tmp_path, changed)

    assert are_in_order(retriever.invoke("?"), {0: page_text(0), 1: new})


def rows_of(name: str, count: int) -> list[str]:
    rng = random.Random(name)  # noqa: S311 -- a text, no secret
    letters = "abcdefghijklmnopqrstuvwxyz"
    return ["".join(rng.choices(letters, k=49)) for _ in range(count)]


@pytest.mark.parametrize("keeps_ids", [True, False])
def test_a_page_of_the_same_chunks_in_another_order_is_read_anew(keeps_ids):
    first, second = rows_of("first", 48), rows_of("second", 56)
    before = cut(0, "\n".join(first + second))
    text = "\n".join(second[:48] + first + second[48:])
    after = cut(0, text)
    same = {each.page_content for each in before} & {e.page_content for e in after}
    assert len(same) > 2

    store = InMemoryVectorStore(HashEmbeddings())
    ids = [str(each.id) for each in before]
    store.add_documents(before, ids=ids)
    retriever = OrderPreservingRetriever(store, k=100, on_problem="warn")
    retriever.invoke("?")
    store.delete(ids)
    store.add_documents(after, ids=ids[: len(after)] if keeps_ids else None)

    found = [e for e in retriever.invoke("?") if e.page_content in same]
    shown = [each.page_content for each in found]
    assert shown == sorted(shown, key=text.index)


def test_in_memory_a_page_that_is_written_anew_is_read_anew():
    store = InMemoryVectorStore(HashEmbeddings())
    store.add_documents([*cut(0), *cut(1)], ids=[e.id for e in [*cut(0), *cut(1)]])
    retriever = OrderPreservingRetriever(store, k=100)
    retriever.invoke("?")
    new = page_text(7)[: len(page_text(1))]
    store.add_documents(cut(1, new), ids=[each.id for each in cut(1, new)])
    assert are_in_order(retriever.invoke("?"), {0: page_text(0), 1: new})


def test_results_with_the_keys_of_an_earlier_release_keep_their_order():
    """A checkpoint holds results as they were written before the one key."""
    chunks = sorted(cut(0), key=lambda each: each.id or "")
    text, at = page_text(0), []
    for rank, chunk in enumerate(chunks):
        start = text.index(chunk.page_content)
        at.append(start)
        chunk.metadata |= {
            "oprag_rank": len(chunks) - rank,
            "oprag_start": start,
            "oprag_end": start + len(chunk.page_content),
            "oprag_part": 0,
            "oprag_hash": "0",
        }
    results = order_documents(chunks[::-1])
    assert [text.index(each.page_content) for each in results] == at


def test_chunks_stored_with_the_keys_of_oprag_need_no_overlaps():
    chunks = cut(0)
    text = page_text(0)
    for chunk in chunks:
        start = text.index(chunk.page_content)
        chunk.metadata |= {
            "doc_key": "report.pdf",
            "char_start": start,
            "char_end": start + len(chunk.page_content),
        }
    store = InMemoryVectorStore(HashEmbeddings())
    store.add_documents(chunks)
    retriever = OrderPreservingRetriever(store, k=100)
    results = retriever.invoke("?")
    assert are_in_order(results, {0: text})
    assert not retriever._overlaps._known
