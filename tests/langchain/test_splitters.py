"""The splitters as LangChain's `TextSplitter`: slices, flat metadata, parts, ids."""

import copy
import hashlib
import re

import pytest
from langchain_core.documents import Document

from langchain_oprag import OffsetSentenceSplitter, OffsetTokenSplitter
from tests.kit.words import words

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


# Metadata


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


def test_without_a_name_the_documents_id_is_the_name():
    (chunk,) = by_words().split_documents([Document("text", id="the-id")])

    assert chunk.metadata.get("doc_uri") == "the-id"


def test_texts_without_a_name_are_documents_of_their_own():
    chunks = by_words().create_documents(["one text", "another", "one text"])

    names = metadata_of(chunks, "doc_uri", "chunk_index", "n_chunks")
    sha = hashlib.sha256(b"one text").hexdigest()[:16]
    assert names[0] == (f"sha256:{sha}", 0, 1)
    assert names[1][0] != names[0][0]
    assert names[2] == (f"sha256:{sha}#2", 0, 1)


# Splitting twice


def test_what_was_counted_and_found_for_the_whole_is_not_said_of_its_pieces():
    coarse = OffsetTokenSplitter(chunk_size=8, add_start_index=True)

    fine = by_words(2).split_documents(coarse.split_documents([DOCUMENT]))

    gone = {"token_count", "token_counter", "start_index"}
    assert not any(gone & chunk.metadata.keys() for chunk in fine)
