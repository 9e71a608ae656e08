"""The splitters as LangChain's `TextSplitter`: slices, flat metadata, parts, ids."""

import copy
import hashlib
import pickle
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_chroma import Chroma
from langchain_core.documents import Document
from langchain_core.stores import InMemoryStore
from langchain_core.vectorstores import InMemoryVectorStore
from langchain_text_splitters import MarkdownHeaderTextSplitter, TextSplitter

from langchain_oprag import (
    OffsetSentenceSplitter,
    OffsetTokenSplitter,
    OrderPreservingCompressor,
    OrderPreservingRetriever,
)
from oprag.errors import InvalidOptionError, MissingDocumentError, PositionError
from oprag.metadata import OWN_KEYS, chunk_id
from oprag.testing import SplitterSuite
from oprag.tokens import resolve_token_counter
from tests.corpora import texts
from tests.effort import cases
from tests.langchain.compat import ParentDocumentRetriever
from tests.langchain.corpus import EMBEDDING, words

TEXT = "One two three. Four five six seven. Eight nine ten."
#       0              15                   36

DOCUMENT = Document(TEXT, metadata={"source": "count.txt", "lang": "en"})


def by_words(size: int = 4, **options) -> OffsetTokenSplitter:
    return OffsetTokenSplitter(chunk_size=size, tokenizer=words, **options)


def sentences(text: str) -> list[tuple[int, int]]:
    return [match.span() for match in re.finditer(r"[^.]+\.?\s*", text)]


def by_sentences(size: int = 7, **options) -> OffsetSentenceSplitter:
    return OffsetSentenceSplitter(
        chunk_size=size, tokenizer=words, sentence_spans=sentences, **options
    )


@pytest.fixture(params=[by_words, by_sentences])
def make(request):
    return request.param


def metadata_of(chunks, *keys):
    return [tuple(chunk.metadata.get(key) for key in keys) for chunk in chunks]


def page(number: int, text: str, source: str = "a.pdf", **metadata) -> Document:
    return Document(text, metadata={"source": source, "page": number, **metadata})


# Splitting


class TestTokens(SplitterSuite):
    chunk_size = 32
    splitter = OffsetTokenSplitter(chunk_size=32, chunk_overlap=8)
    count = staticmethod(resolve_token_counter("cl100k_base"))

    def split(self, text):
        chunks = self.splitter.create_documents([text], [{"source": "a"}])
        places = metadata_of(chunks, "char_start", "char_end")
        return [
            (c.page_content, *place) for c, place in zip(chunks, places, strict=True)
        ]


class TestSentences(TestTokens):
    splitter = OffsetSentenceSplitter(chunk_size=32)


def test_they_are_text_splitters(make):
    assert isinstance(make(), TextSplitter)


def test_windows_of_words_are_slices():
    assert by_words().split_text(TEXT) == [
        "One two three. Four ",
        "five six seven. Eight ",
        "nine ten.",
    ]


def test_windows_overlap_by_words():
    assert by_words(chunk_overlap=2).split_text(TEXT) == [
        "One two three. Four ",
        "three. Four five six ",
        "five six seven. Eight ",
        "seven. Eight nine ten.",
    ]


def test_whole_sentences_are_packed():
    assert by_sentences().split_text(TEXT) == [
        "One two three. Four five six seven. ",
        "Eight nine ten.",
    ]


def test_the_defaults_are_those_of_the_papers():
    text = "Mr. Smith counts to one hundred and starts again. " * 40
    tokens = OffsetTokenSplitter().create_documents([text])
    packed = OffsetSentenceSplitter().create_documents([text])

    assert tokens[0].metadata["token_counter"] == "cl100k_base"
    assert {chunk.metadata["token_count"] for chunk in tokens[:-1]} == {128}
    assert all(90 < chunk.metadata["token_count"] <= 100 for chunk in packed[:-1])
    assert all(chunk.page_content.startswith("Mr. Smith") for chunk in packed)


@settings(max_examples=cases(300))
@given(texts, st.integers(1, 9), st.booleans())
def test_every_chunk_is_its_slice_and_nothing_is_lost(text, size, packed):
    splitter = by_sentences(size) if packed else by_words(size)
    chunks = splitter.create_documents([text], [{"source": "a"}])

    assert "".join(chunk.page_content for chunk in chunks) == text
    assert [chunk.page_content for chunk in chunks] == splitter.split_text(text)
    for start, end, content in [
        (*metadata_of([chunk], "char_start", "char_end")[0], chunk.page_content)
        for chunk in chunks
    ]:
        assert text[start:end] == content


def test_an_empty_text_has_no_chunks(make):
    assert make().split_text("") == []
    assert make().create_documents(["", "one"], [{"source": "a"}, {"source": "b"}]) == (
        make().create_documents(["one"], [{"source": "b"}])
    )


# Metadata


def test_all_flat_metadata_is_written():
    first, second = by_sentences().split_documents([DOCUMENT])

    assert second.metadata == {
        "source": "count.txt",
        "lang": "en",
        "doc_key": hashlib.sha256(b"count.txt").hexdigest()[:16],
        "doc_uri": "count.txt",
        "doc_version": first.metadata["doc_version"],
        "chunk_index": 1,
        "n_chunks": 2,
        "char_start": 36,
        "char_end": 51,
    }
    version = str(first.metadata["doc_version"])
    ids = [chunk_id("count.txt", index, version=version) for index in (0, 1)]
    assert [first.id, second.id] == ids
    assert [key for key in second.metadata if key in OWN_KEYS] == [
        key for key in OWN_KEYS if key in second.metadata
    ]


def test_tokens_are_written_with_the_name_of_their_counter():
    splitter = OffsetTokenSplitter(chunk_size=5, tokenizer="o200k_base")

    chunks = splitter.split_documents([DOCUMENT])

    assert metadata_of(chunks[:2], "token_count", "token_counter") == [
        (5, "o200k_base"),
        (5, "o200k_base"),
    ]


def test_every_method_writes_the_same(make):
    splitter = make()
    chunks = splitter.split_documents([DOCUMENT])

    assert splitter.split_documents(iter([DOCUMENT])) == chunks
    assert splitter.transform_documents([DOCUMENT]) == chunks
    assert splitter.create_documents([TEXT], [DOCUMENT.metadata]) == chunks


async def test_awaited_it_is_the_same(make):
    assert await make().atransform_documents([DOCUMENT]) == make().split_documents(
        [DOCUMENT]
    )


@pytest.mark.parametrize(
    ("options", "expected"), [({}, [None, None]), ({"add_start_index": True}, [0, 36])]
)
def test_langchains_start_index_is_written_on_request(options, expected):
    chunks = by_sentences(**options).split_documents([DOCUMENT])

    assert [chunk.metadata.get("start_index") for chunk in chunks] == expected


def test_documents_are_not_written_to_and_nothing_is_shared(make):
    document = Document(TEXT, metadata={"source": "a", "tags": ["x"]})
    before = copy.deepcopy(document)

    first, second, *_ = make().split_documents([document])
    first.metadata["tags"].append("y")

    assert document == before
    assert second.metadata["tags"] == ["x"]


# Names


@pytest.mark.parametrize(
    ("metadata", "name"),
    [
        ({"source": "s"}, "s"),
        ({"file_path": "f"}, "f"),
        ({"url": "u"}, "u"),
        ({"doc_uri": "d", "doc_key": "k", "source": "s"}, "d"),
        ({"document_id": "i", "source": "s"}, "s"),
        ({"source": "s", "file_path": "f"}, "f"),
        ({"document_id": "i", "url": "u"}, "i"),
    ],
)
def test_the_document_is_named_by_its_metadata(metadata, name):
    (chunk,) = by_words().create_documents(["text"], [metadata])

    assert chunk.metadata.get("doc_uri") == name


def test_without_a_name_the_documents_id_is_the_name():
    (chunk,) = by_words().split_documents([Document("text", id="the-id")])

    assert chunk.metadata.get("doc_uri") == "the-id"


def test_two_texts_without_a_name_are_two_documents():
    chunks = by_words().create_documents(["one text", "another"])

    names = metadata_of(chunks, "doc_uri", "chunk_index", "n_chunks")
    sha = hashlib.sha256(b"one text").hexdigest()[:16]
    assert names[0] == (f"sha256:{sha}", 0, 1)
    assert names[1][0] != names[0][0]


def test_so_are_two_equal_texts():
    chunks = by_words().create_documents(["same", "same"])

    assert len({chunk.metadata["doc_key"] for chunk in chunks}) == 2
    assert len({chunk.id for chunk in chunks}) == 2


@pytest.mark.parametrize("key", ["page", "row", "Header 2"])
def test_a_part_of_something_nameless_is_an_error(key):
    with pytest.raises(MissingDocumentError, match=f"{key}.*source") as caught:
        by_words().create_documents(["text"], [{key: 1}])

    assert (caught.value.rank, caught.value.keys) == (0, (key,))


def test_metadatas_belong_to_texts():
    with pytest.raises(InvalidOptionError) as caught:
        by_words().create_documents(["a", "b"], [{"source": "a"}])

    assert caught.value.value == {"texts": 2, "metadatas": 1}


# Parts


PAGES = [page(0, "a b c d e f"), page(1, "g h i"), page(2, "j k l m n")]


def test_pages_are_parts_of_one_document():
    chunks = by_words(3).split_documents(PAGES)

    assert metadata_of(
        chunks, "part_index", "char_start", "chunk_index", "n_chunks"
    ) == [(0, 0, 0, 5), (0, 6, 1, 5), (1, 0, 2, 5), (2, 0, 3, 5), (2, 6, 4, 5)]
    assert len({chunk.metadata["doc_key"] for chunk in chunks}) == 1
    assert len({chunk.id for chunk in chunks}) == 5


def test_pages_that_come_in_another_order_keep_their_place():
    chunks = by_words(3).split_documents(PAGES[::-1])

    assert [chunk.page_content for chunk in chunks] == [
        "j k l ",
        "m n",
        "g h i",
        "a b c ",
        "d e f",
    ]
    assert [part for (part,) in metadata_of(chunks, "part_index")] == [2, 2, 1, 0, 0]
    assert [index for (index,) in metadata_of(chunks, "chunk_index")] == [3, 4, 2, 0, 1]


def test_pages_of_two_documents_may_alternate():
    other = page(0, "x y", "b.pdf")
    chunks = by_words(3).split_documents([PAGES[0], other, PAGES[1]])

    assert metadata_of(chunks, "source", "part_index", "chunk_index", "n_chunks") == [
        ("a.pdf", 0, 0, 3),
        ("a.pdf", 0, 1, 3),
        ("b.pdf", 0, 0, 1),
        ("a.pdf", 1, 2, 3),
    ]


def test_pages_split_one_at_a_time_keep_their_place_and_have_stable_ids():
    together = by_words(3).split_documents(PAGES)
    apart = [chunk for one in PAGES for chunk in by_words(3).split_documents([one])]

    place = ("doc_key", "part_index", "char_start", "char_end")
    assert metadata_of(apart, *place) == metadata_of(together, *place)
    again = [chunk for one in PAGES for chunk in by_words(3).split_documents([one])]
    assert [chunk.id for chunk in apart] == [chunk.id for chunk in again]
    assert len({chunk.id for chunk in apart}) == len(apart)


def test_elements_of_one_page_follow_one_another():
    elements = [
        page(1, "third", element="c"),
        page(0, "first", element="a"),
        page(0, "second", element="b"),
    ]
    chunks = by_words().split_documents(elements)

    assert [part for (part,) in metadata_of(chunks, "part_index")] == [2, 0, 1]
    assert len({chunk.id for chunk in chunks}) == 3


def test_sections_of_one_text_are_its_parts_in_the_order_given():
    markdown = "# A\nfirst words here\n## B\nthen more words\n# C\nlast words"
    headers = [("#", "Header 1"), ("##", "Header 2")]
    sections = MarkdownHeaderTextSplitter(headers).split_text(markdown)
    for section in sections:
        section.metadata["source"] = "a.md"

    chunks = by_words(2).split_documents(sections)
    result = OrderPreservingCompressor()(chunks[::-1])

    assert [chunk.page_content for chunk in result] == [
        "first words ",
        "here",
        "then more ",
        "words",
        "last words",
    ]


def test_a_document_of_one_text_has_no_part(make):
    chunks = make().split_documents([DOCUMENT])

    assert not any("part_index" in chunk.metadata for chunk in chunks)


@pytest.mark.parametrize("store", ["memory", "chroma"])
def test_three_pages_survive_a_store_and_come_back_in_order(store, tmp_path):
    vectorstore = (
        InMemoryVectorStore(EMBEDDING)
        if store == "memory"
        else Chroma("pdf", EMBEDDING, str(tmp_path))
    )
    for one in PAGES:
        vectorstore.add_documents(by_words(1).split_documents([one]))

    result = OrderPreservingRetriever(vectorstore=vectorstore, k=14).invoke("query")

    assert (
        "".join(chunk.page_content for chunk in result) == "a b c d e fg h ij k l m n"
    )


def test_indexing_the_same_document_twice_replaces_its_chunks():
    vectorstore = InMemoryVectorStore(EMBEDDING)

    vectorstore.add_documents(by_words().split_documents([DOCUMENT]))
    vectorstore.add_documents(by_words().split_documents([DOCUMENT]))

    assert len(vectorstore.store) == 3


# Splitting twice


def test_a_chunk_of_ours_is_split_where_it_stands_in_its_document():
    coarse = by_words(4).split_documents([DOCUMENT])

    fine = by_words(2, add_start_index=True).split_documents(coarse)

    for chunk in fine:
        start, end = chunk.metadata["char_start"], chunk.metadata["char_end"]
        assert TEXT[start:end] == chunk.page_content
        assert chunk.metadata["start_index"] == start
    assert "".join(chunk.page_content for chunk in fine) == TEXT
    assert [index for (index,) in metadata_of(fine, "chunk_index")] == list(range(5))
    assert not any("part_index" in chunk.metadata for chunk in fine)
    assert len({chunk.id for chunk in (*coarse, *fine)}) == len(coarse) + len(fine)


def test_what_was_counted_and_found_for_the_whole_is_not_said_of_its_pieces():
    coarse = OffsetTokenSplitter(chunk_size=8, add_start_index=True)

    fine = by_words(2).split_documents(coarse.split_documents([DOCUMENT]))

    gone = {"token_count", "token_counter", "start_index"}
    assert not any(gone & chunk.metadata.keys() for chunk in fine)


def test_so_are_chunks_of_pages():
    coarse = by_words(3).split_documents(PAGES)

    fine = by_words(1).split_documents(coarse)

    expected = by_words(1).split_documents(PAGES)
    place = ("part_index", "char_start", "char_end", "chunk_index", "n_chunks")
    assert metadata_of(fine, *place) == metadata_of(expected, *place)


def test_a_chunk_whose_text_was_changed_cannot_be_split():
    (chunk, *_) = by_words().split_documents([DOCUMENT])
    chunk.page_content = chunk.page_content.strip()

    with pytest.raises(PositionError, match="char_start") as caught:
        by_words().split_documents([chunk])

    assert caught.value.keys == ("char_start", "char_end")


@pytest.mark.parametrize("start", [0, 118, -1])
def test_a_chunk_of_another_splitter_cannot_be_split(start):
    document = Document("text", metadata={"source": "a", "start_index": start})

    with pytest.raises(PositionError, match="already is a chunk"):
        by_words().split_documents([document])


def test_parents_and_children_of_a_parent_document_retriever_are_all_there():
    store = InMemoryVectorStore(EMBEDDING)
    retriever = ParentDocumentRetriever(
        vectorstore=store,
        docstore=InMemoryStore(),
        parent_splitter=by_words(4),
        child_splitter=by_words(1),
        search_kwargs={"k": 10},
    )
    ordered = OrderPreservingRetriever(base_retriever=retriever)

    ordered.add_documents([DOCUMENT])

    assert len(store.store) == 10
    assert "".join(d.page_content for d in ordered.invoke("query")) == TEXT
    assert list(ordered.docstore.yield_keys())


# Construction


@pytest.mark.parametrize(
    ("options", "option"),
    [
        ({"chunk_size": 0}, "chunk_size"),
        ({"chunk_size": -3}, "chunk_size"),
        ({"chunk_size": 4, "chunk_overlap": 4}, "chunk_overlap"),
        ({"chunk_size": 4, "chunk_overlap": -1}, "chunk_overlap"),
    ],
)
def test_impossible_sizes_are_refused_on_construction(options, option):
    with pytest.raises(InvalidOptionError) as caught:
        OffsetTokenSplitter(**options)

    assert caught.value.option == option


def test_a_size_of_nothing_is_refused_for_sentences():
    with pytest.raises(InvalidOptionError):
        OffsetSentenceSplitter(chunk_size=0)


def test_no_tokenizer_is_loaded_on_construction():
    class Untouched:
        def __getattribute__(self, name: str):
            raise AssertionError(name)

    OffsetTokenSplitter(tokenizer=Untouched())
    OffsetSentenceSplitter(tokenizer=Untouched())


def test_text_that_looks_like_a_special_token_is_text():
    text = "before <|endoftext|> after"

    assert "".join(OffsetTokenSplitter(chunk_size=3).split_text(text)) == text


def test_they_can_be_pickled():
    splitter = OffsetTokenSplitter(chunk_size=5)
    chunks = splitter.split_documents([DOCUMENT])

    again = pickle.loads(pickle.dumps(splitter))  # noqa: S301 -- ours

    assert again.split_documents([DOCUMENT]) == chunks


def test_lengths_are_tokens_as_langchain_asks_for_them():
    assert by_words()._length_function(TEXT) == 10
