"""What goes out: the objects that came in, or new ones that say where they stand."""

import copy
import warnings

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.documents import Document

from langchain_oprag import OffsetTokenSplitter, OrderPreservingCompressor
from oprag import place_of
from oprag.errors import BudgetTooSmallError, UnfilledBudgetWarning
from oprag.metadata import result_hash
from tests.corpora import STYLES, Retrieval, retrievals
from tests.effort import cases
from tests.langchain.corpus import chunk

SOURCE = "The first part. And the second. Far away the third."
#         0               16              32                 51


def piece(start: int, end: int, **metadata) -> Document:
    return Document(
        SOURCE[start:end],
        id=f"id-{start}",
        metadata={"source": "a.txt", "start_index": start, **metadata},
    )


FIRST, SECOND, THIRD = piece(0, 15), piece(16, 31), piece(32, 51)


# Merging


def test_touching_chunks_become_one_document_with_the_whole_span():
    left, right = piece(0, 16, title="t"), piece(16, 32, title="u")

    (merged,) = OrderPreservingCompressor(merge=True)([right, left])

    assert merged.page_content == SOURCE[0:32]
    assert merged.metadata == {
        "source": "a.txt",
        "start_index": 0,
        "title": "t",
        "oprag_rank": 0,
        "oprag_citation": "a.txt, characters 0-32",
        "oprag_document": "a.txt",
        "oprag_key": "a.txt",
        "oprag_start": 0,
        "oprag_end": 32,
        "oprag_exact": True,
        "oprag_hash": result_hash(SOURCE[0:32]),
        "oprag_ids": f"{left.id}\n{right.id}",
    }


def test_a_gap_that_cannot_be_read_leaves_the_spans_apart():
    (merged,) = OrderPreservingCompressor(merge=True)([SECOND, FIRST, THIRD])

    assert (
        merged.page_content == "The first part.\nAnd the second.\nFar away the third."
    )
    assert merged.metadata["oprag_spans"] == "0-15,16-31,32-51"
    assert merged.metadata["oprag_exact"] is False
    assert (merged.metadata["oprag_start"], merged.metadata["oprag_end"]) == (0, 51)


@pytest.mark.filterwarnings("ignore::oprag.errors.UnfilledBudgetWarning")
def test_text_from_a_gap_that_reads_like_its_neighbour_has_a_place_of_its_own():
    metadatas = [{"source": "a", "start_index": start} for start in (0, 6)]
    found = [Document("ab ", id=str(i), metadata=m) for i, m in enumerate(metadatas)]

    _, between, _ = OrderPreservingCompressor(
        selection="recall",
        merge=False,
        token_budget=10,
        token_counter=len,
        documents={"a": "ab ab ab "},
        separator="",
    )(found)

    assert (between.metadata["oprag_start"], between.metadata["oprag_end"]) == (3, 6)
    assert between.id not in {"0", "1"}


@pytest.mark.parametrize("documents", [{"a.txt": SOURCE}, {"a.txt": SOURCE}.get])
def test_a_gap_is_filled_from_the_full_text(documents):
    compressor = OrderPreservingCompressor(merge=True, documents=documents)

    (merged,) = compressor([SECOND, FIRST, THIRD])

    assert merged.page_content == SOURCE
    assert "oprag_spans" not in merged.metadata


def test_the_token_count_of_one_chunk_is_not_kept_for_several():
    counts = {"token_count": 4, "token_counter": "words"}
    documents = [
        piece(0, 16, **counts),
        piece(16, 32, **counts),
        piece(45, 51, **counts),
    ]

    merged, alone = OrderPreservingCompressor(merge=True)(documents)

    assert not counts.keys() & merged.metadata.keys()
    assert counts.items() <= alone.metadata.items()


def test_a_merged_page_keeps_its_number():
    pages = [chunk(0, page=3), chunk(1, page=3), chunk(0, page=0), chunk(1, page=0)]

    first, second = OrderPreservingCompressor(merge=True)(pages)

    assert [first.metadata["page"], second.metadata["page"]] == [0, 3]
    assert [first.metadata["oprag_part"], second.metadata["oprag_part"]] == [0, 3]


def test_a_merged_document_has_an_id_of_its_own_that_is_always_the_same():
    compressor = OrderPreservingCompressor(merge=True)

    (merged,) = compressor([SECOND, FIRST])
    (again,) = compressor([FIRST, SECOND])
    (other,) = compressor([SECOND, THIRD])

    assert merged.id == again.id
    assert len({merged.id, other.id, "id-0", "id-16", "id-32", None}) == 6


def test_a_merged_document_of_parts_without_ids_has_none():
    FIRST_ = FIRST.model_copy(update={"id": None})  # noqa: N806 -- a variant of FIRST

    assert OrderPreservingCompressor(merge=True)([FIRST_, SECOND])[0].id is None


# Gap marks


@pytest.mark.parametrize("citations", [False, True])
@pytest.mark.parametrize("begin", ["", "[…]\n\n", "\n\n"])
def test_no_mark_is_written_into_a_document_nor_taken_out(citations, begin):
    apart = THIRD.model_copy(update={"page_content": f"{begin}third"})

    first, third = OrderPreservingCompressor(citations=citations)([apart, FIRST])

    assert first.page_content == FIRST.page_content
    assert third.page_content == apart.page_content
    end = 32 + len(apart.page_content)
    assert (third.metadata["oprag_start"], third.metadata["oprag_end"]) == (32, end)
    assert third.id == THIRD.id


# Documents of other kinds


class Titled(Document):
    title: str = ""


def test_a_document_class_of_the_users_own_passes_through():
    own = Titled("text", metadata={"source": "a", "start_index": 0}, title="t")

    (copied,) = OrderPreservingCompressor()([own])
    assert type(copied) is Titled
    assert (copied.page_content, copied.title) == ("text", "t")


def test_a_document_class_of_the_users_own_keeps_all_but_merged_text():
    own = [
        Titled(text, metadata={"source": "a", "start_index": start}, title=text)
        for text, start in (("one ", 0), ("two", 4))
    ]

    copied = OrderPreservingCompressor()(own)
    assert [(type(each), each.title) for each in copied] == [
        (Titled, "one "),
        (Titled, "two"),
    ]
    assert all(
        each.metadata != first.metadata for each, first in zip(copied, own, strict=True)
    )
    # The title is not that of the merged text.
    (merged,) = OrderPreservingCompressor(merge=True)(own)
    assert type(merged) is Document


# Laws

options = st.fixed_dictionaries(
    {
        "merge": st.booleans(),
        "citations": st.booleans(),
        "order": st.sampled_from(["document", "score"]),
        "token_budget": st.none() | st.integers(1, 200),
        "token_counter": st.sampled_from([len, "approximate"]),
    }
)
styles = st.sampled_from([*STYLES, "pages"])


PAGES = "pages"
"""A style of positions: what are documents otherwise are pages of one file."""


def metadatas_of(retrieval: Retrieval, style: str) -> list[dict]:
    if style != PAGES:
        return retrieval.metadatas(style)
    pages = list(retrieval.sources)
    return [
        {
            "source": "a.pdf",
            "page": pages.index(piece.document),
            "start_index": piece.start,
        }
        for piece in retrieval.pieces
    ]


def documents_of(retrieval: Retrieval, style: str) -> list[Document]:
    pairs = zip(retrieval.texts, metadatas_of(retrieval, style), strict=True)
    return [
        Document(text, id=str(i), metadata={**metadata, "score": 1 / (i + 1)})
        for i, (text, metadata) in enumerate(pairs)
    ]


def order(documents, given_options):
    """The result, or None where nothing fits the budget."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnfilledBudgetWarning)
        try:
            return OrderPreservingCompressor(**given_options)(documents)
        except BudgetTooSmallError:
            return None


@settings(max_examples=cases(150))
@given(retrievals(), styles, options)
def test_running_on_its_own_result_changes_nothing(retrieval, style, given_options):
    once = order(documents_of(retrieval, style), given_options)

    assert once is None or order(once, given_options) == once


@settings(max_examples=cases(150))
@given(retrievals(), styles, options)
def test_nothing_that_was_given_is_written_to(retrieval, style, given_options):
    documents = documents_of(retrieval, style)
    before = copy.deepcopy(documents)

    order(documents, given_options)

    assert documents == before


@pytest.mark.slow
@settings(max_examples=cases(150))
@given(retrievals(), styles)
def test_unmerged_the_results_are_copies_of_what_was_given(retrieval, style):
    documents = documents_of(retrieval, style)

    result = order(documents, {})

    given_ones = {document.id: document for document in documents}
    for document in result:
        assert document is not given_ones[document.id]
        assert document.page_content == given_ones[document.id].page_content
    distinct = {(piece.document, piece.start, piece.text) for piece in retrieval.pieces}
    assert len(result) == len(distinct)


@settings(max_examples=cases(150))
@given(retrievals(), st.sampled_from(["own", "langchain"]))
def test_the_spans_of_a_result_are_slices_of_the_source(retrieval, style):
    options = {"merge": True, "documents": retrieval.sources}

    for document in order(documents_of(retrieval, style), options):
        place = place_of(document)
        assert place.exact
        text = retrieval.sources[place.document][place.start : place.end]
        assert text == document.page_content


SPLIT = OffsetTokenSplitter(chunk_size=3).create_documents(
    [SOURCE * 3, SOURCE * 2], [{"source": name} for name in ("a.txt", "b.txt")]
)


@given(
    st.permutations(SPLIT),
    st.integers(1, 40),
    st.booleans(),
    st.none() | st.integers(10, 300),
)
@pytest.mark.filterwarnings("ignore::oprag.errors.UnfilledBudgetWarning")
def test_the_usual_case_gives_what_the_general_one_gives(found, count, merge, budget):
    options = {"merge": merge, "token_budget": budget}

    usual = OrderPreservingCompressor(**options)(found[:count])
    # It names the same documents; but the short way is not taken then.
    general = OrderPreservingCompressor(document_key="doc_key", **options)(
        found[:count]
    )

    assert usual == general
