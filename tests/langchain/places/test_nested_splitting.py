"""Texts that are split twice: parents and children, and what their offsets count.

LangChain's splitters overwrite the parent's `start_index` in every child by one that
counts from the start of the parent.
"""

import pytest
from langchain_core.documents import Document

from langchain_oprag import OffsetTokenSplitter, OrderPreservingRetriever
from oprag.errors import ConflictingPositionsError, MissingPositionError, PositionError
from tests.langchain.corpus import QUERY, RecordingStore, starts, words
from tests.langchain.places.ingredients import (
    SOURCE,
    joined,
    lines,
    parent_document_retriever,
)
from tests.langchain.places.running import chunks_in


def by_words(count: int) -> OffsetTokenSplitter:
    """Four words are a line."""
    return OffsetTokenSplitter(chunk_size=count, tokenizer=words)


def positioned(count: int):
    return lines(count, add_start_index=True)


def around(parents, **options) -> OrderPreservingRetriever:
    return OrderPreservingRetriever(base_retriever=parents, **options)


def on_children(parents, k: int = 6, **options) -> OrderPreservingRetriever:
    """Retrieves the children themselves, and no parents."""
    return OrderPreservingRetriever(vectorstore=parents.vectorstore, k=k, **options)


def read(retriever) -> list[int]:
    return chunks_in(joined(retriever.invoke(QUERY)))


# Around the retriever: parents


@pytest.mark.parametrize("children", [lines(1), positioned(1)], ids=["no", "yes"])
def test_parents_are_ordered_by_their_own_positions_whatever_the_children_have(
    children,
):
    parents = parent_document_retriever(positioned(3), children)

    documents = around(parents).invoke(QUERY)

    assert starts(documents) == sorted(starts(documents))
    assert starts(documents) != starts(parents.invoke(QUERY))
    assert all(
        SOURCE.page_content[d.metadata["start_index"] :].startswith(d.page_content)
        for d in documents
    )


def test_parents_of_oprags_splitters_are_ordered_too():
    parents = parent_document_retriever(by_words(12), by_words(4))

    assert read(around(parents)) == sorted(read(parents))
    assert read(parents) != sorted(read(parents))


def test_parents_without_a_position_are_an_error():
    parents = parent_document_retriever(lines(3), positioned(1))

    with pytest.raises(MissingPositionError, match="documents="):
        around(parents).invoke(QUERY)


def test_whole_documents_as_parents_have_no_position_and_need_none():
    """Each is the only one of its source."""
    parents = parent_document_retriever(None, positioned(1))
    parents.add_documents([Document("another book", metadata={"source": "other.txt"})])
    parents.search_kwargs = {"k": 41}

    found = around(parents).invoke(QUERY)

    assert [d.metadata["source"] for d in found] == [
        d.metadata["source"] for d in parents.invoke(QUERY)
    ]
    assert len(found) == 2


# On the store of the children


def test_children_count_from_their_parent_and_are_ordered_within_it_only():
    """`doc_id` names the parent: each parent counts as a document of its own."""
    children = on_children(
        parent_document_retriever(positioned(3), positioned(1)), k=40
    )

    sequence = read(children)

    assert sequence != sorted(sequence)
    for parent in range(14):
        siblings = [number for number in sequence if number // 3 == parent]
        assert siblings == sorted(siblings)


@pytest.mark.parametrize("k", [2, 6, 40])
def test_children_of_several_parents_taken_for_one_document_are_an_error(k):
    """Their start_index counts from the parent, which doc_id tells apart."""
    parents = parent_document_retriever(positioned(3), positioned(1))

    with pytest.raises(PositionError, match="doc_id"):
        on_children(parents, k, document_key="source").invoke(QUERY)


def test_so_are_chunks_that_were_split_twice_by_hand():
    twice = positioned(1).split_documents(positioned(3).split_documents([SOURCE]))

    with pytest.raises(ConflictingPositionsError):
        OrderPreservingRetriever(vectorstore=RecordingStore(twice), k=6).invoke(QUERY)


def test_children_of_a_whole_document_are_ordered_in_it():
    parents = parent_document_retriever(None, positioned(1))

    sequence = read(on_children(parents, k=40))

    assert sequence == list(range(40))


def test_children_know_their_place_in_the_document_when_oprag_splits_both_times():
    parents = parent_document_retriever(by_words(12), by_words(4))

    assert read(on_children(parents, k=40)) == list(range(40))


# Oprag's splitter for one of the two


def test_oprags_splitter_refuses_the_parents_of_another_splitter():
    with pytest.raises(PositionError, match="both steps"):
        parent_document_retriever(positioned(3), by_words(4))


def test_children_of_another_splitter_keep_their_parents_span_which_is_ambiguous():
    """Right as long as there is one child of each parent, an error otherwise."""
    parents = parent_document_retriever(by_words(12), positioned(1))

    assert read(on_children(parents, k=3)) == sorted(read(on_children(parents, k=3)))
    with pytest.raises(ConflictingPositionsError):
        on_children(parents, k=40).invoke(QUERY)
