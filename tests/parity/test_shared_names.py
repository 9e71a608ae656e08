"""Several files under one name, and one file under several, through every component."""

import warnings

import pytest
from langchain_core.documents import Document
from langchain_core.embeddings import DeterministicFakeEmbedding
from langchain_core.vectorstores import InMemoryVectorStore
from llama_index.core import Document as LlamaDocument
from llama_index.core import MockEmbedding, VectorStoreIndex
from llama_index.core.node_parser import SentenceSplitter

import langchain_oprag
import llamaindex_oprag
from oprag import place_of
from oprag.errors import InvalidOptionError, PositionError, PositionWarning
from tests.parity.components import COMPONENTS

EVERYWHERE = pytest.mark.parametrize("component", COMPONENTS.values(), ids=COMPONENTS)
_ID = "{:08}-0000-4000-8000-000000000000"


def hits(**facts):
    """Chunks of two uploads that were saved under one path, with a fact of each."""
    texts, metadatas = [], []
    for start in (60, 0):
        for file, name in enumerate(("rent", "pets")):
            texts.append(f"{name} says at {start}: ".ljust(60, "x"))
            own = {key: values[file] for key, values in facts.items()}
            metadatas.append({"source": "temp.txt", "start_index": start, **own})
    return texts, metadatas


@EVERYWHERE
@pytest.mark.parametrize("fact", ["file_size", "title"])
def test_files_of_one_name_are_kept_apart_each_in_order(component, fact):
    with pytest.warns(PositionWarning, match="are of 2 different texts"):
        result = component(*hits(**{fact: (10, 20)}), merge=True)

    assert [text[:4] for text in result.texts] == ["rent", "pets"]
    assert all(len(text) == 120 for text in result.texts)


@EVERYWHERE
def test_sections_under_a_name_of_ones_own_are_refused(component):
    with pytest.raises(PositionError, match="differ in topic"):
        component(*hits(topic=("A", "B")))


@EVERYWHERE
def test_texts_that_a_framework_made_ids_up_for_are_of_their_file(component):
    texts = ["of page 3", "of page 2", "of page 1"]
    metadatas = [
        {"file_name": "report.pdf", "page_label": str(n), "ref_doc_id": _ID.format(n)}
        for n in (3, 2, 1)
    ]

    assert component(texts, metadatas).texts == texts[::-1]


def test_pages_of_a_reader_that_names_no_path_are_in_order():
    pages = [
        LlamaDocument(
            text=f"What page {number} says.",
            metadata={"page_label": str(number), "file_name": "report.pdf"},
        )
        for number in (1, 2, 3)
    ]
    index = VectorStoreIndex.from_documents(
        pages, embed_model=MockEmbedding(8), transformations=[SentenceSplitter()]
    )
    retriever = llamaindex_oprag.OrderPreservingRetriever(
        index.as_retriever(similarity_top_k=3)
    )

    found = [scored.node.get_content() for scored in retriever.retrieve("page?")]

    assert found == [page.text for page in pages]
    assert retriever.verify().verdict == "ordered"


def test_two_documents_of_one_name_are_not_indexed_as_one():
    store = InMemoryVectorStore(DeterministicFakeEmbedding(size=8))
    both = [
        Document(text, metadata={"source": "README.md"}) for text in ("One.", "Two.")
    ]

    with pytest.raises(InvalidOptionError, match="have the name"):
        langchain_oprag.index_documents(both, store)
    index = VectorStoreIndex([], embed_model=MockEmbedding(8))
    nodes = [LlamaDocument(text=d.page_content, metadata=d.metadata) for d in both]
    with pytest.raises(InvalidOptionError, match="have the name"):
        llamaindex_oprag.index_documents(nodes, index)


def test_an_interrupted_indexing_leaves_one_document_with_a_word():
    store = InMemoryVectorStore(DeterministicFakeEmbedding(size=8))
    splitter = langchain_oprag.OffsetSentenceSplitter(chunk_size=8)
    text = " ".join(f"Sentence number {n} is said here." for n in range(6))
    old = [Document(text, metadata={"source": "a.txt"})]
    langchain_oprag.index_documents(old, store, splitter=splitter)
    left = {**store.store}
    new = [Document(f"New. {text}", metadata={"source": "a.txt"})]
    langchain_oprag.index_documents(new, store, splitter=splitter)
    store.store.update(left)  # as if it had been killed before it deleted
    retriever = langchain_oprag.OrderPreservingRetriever(vectorstore=store, k=12)

    with pytest.warns(PositionWarning, match="of another version"):
        found = retriever.invoke("sentence")

    assert len({place_of(document).document_key for document in found}) == 1
    starts = [place_of(document).start for document in found]
    assert starts == sorted(starts)
    assert [p.kind for p in langchain_oprag.diagnose(store).problems] == [
        "several_versions"
    ]


def test_a_component_after_a_component_keeps_files_apart_and_says_it_once():
    texts, metadatas = hits(file_size=(10, 20))
    documents = [Document(t, metadata=m) for t, m in zip(texts, metadatas, strict=True)]
    compressor = langchain_oprag.OrderPreservingCompressor()
    with pytest.warns(PositionWarning):
        once = compressor.compress_documents(documents, "?")

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        twice = langchain_oprag.OrderPreservingCompressor()(once)

    assert twice == once
