"""Ids of chunks: UUIDs that anyone can make again from the document's name."""

from __future__ import annotations

import hashlib
import uuid

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.documents import Document as LangChainDocument
from llama_index.core import Document as LlamaIndexDocument
from llama_index.core.schema import NodeWithScore

from langchain_oprag import OffsetTokenSplitter, OrderPreservingCompressor
from llamaindex_oprag import OffsetTokenNodeParser, OrderPreservingPostprocessor
from oprag.metadata import (
    chunk_id,
    document_key,
    document_version,
    named_id,
    version_settings,
    version_text,
)
from oprag.tokens import resolve_token_counter


@given(
    st.text(max_size=20),
    st.integers(0, 10**9),
    st.sampled_from(["", "a1b2c3-0123456789"]),
    st.none() | st.integers(0, 99),
    st.integers(0, 99),
)
def test_an_id_is_the_uuid_of_what_tells_a_chunk_from_all_others(
    name, index, version, part, offset
):
    number = "" if part is None else part
    named = f"{document_key(name)}/{version}/{number}/{offset}/{index}"
    own = chunk_id(name, index, version=version, part=part, offset=offset)
    assert own == str(uuid.uuid5(uuid.NAMESPACE_OID, named))


def test_a_key_is_16_hex_digits_of_the_name():
    assert document_key("a.txt") == hashlib.sha256(b"a.txt").hexdigest()[:16]


@pytest.mark.parametrize(
    ("settings", "texts"),
    [("tokens 9", ["text"]), ("tokens 8", ["texts"]), ("tokens 8", ["te", "xt"])],
)
def test_other_settings_and_other_texts_are_another_version(settings, texts):
    version = document_version("tokens 8", ["text"])

    other = document_version(settings, texts)

    assert other != version
    same_settings = version_settings(other) == version_settings(version)
    assert same_settings == (settings == "tokens 8")
    assert (version_text(other) == version_text(version)) == (texts == ["text"])


@given(st.text(st.characters(codec="utf-8"), max_size=20))
def test_an_id_of_a_name_is_its_uuid(name):
    assert named_id(name) == str(uuid.uuid5(uuid.NAMESPACE_OID, name))


@pytest.mark.parametrize("name", ["a.txt", "lease.txt", "report.md"])
def test_printed_as_a_dict_the_metadata_of_a_chunk_is_at_most_100_tokens(name):
    text = "one two three four five. " * 9_000
    count = resolve_token_counter("cl100k_base")

    document = LangChainDocument(text, metadata={"source": name})
    chunks = OffsetTokenSplitter(chunk_size=128).split_documents([document])
    nodes = OffsetTokenNodeParser(chunk_size=128).get_nodes_from_documents(
        [LlamaIndexDocument(text=text, id_=name)]
    )

    for each in (*chunks, *nodes):
        assert count(str(each.metadata)) <= 100


FOLDER = "contracts/2024/commercial/north"
NAMES = ["lease.txt", f"{FOLDER}/lease-agreement-final-v2.txt", f"/srv/{FOLDER}/a.txt"]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    ("pages", "first", "later", "result"),
    [
        # What a document of one text adds stays below 100 with its name left out; the
        # first chunk of a page has a hash of the page besides, and its number.
        (0, 88, 82, 104),
        (12, 105, 89, 125),
    ],
)
def test_what_is_added_does_not_grow_with_the_name_or_the_text(
    name, pages, first, later, result
):
    text = "one two three four five. " * (500 if pages else 9_000)
    metadatas = [
        {"source": name, **({"page": page} if pages else {})}
        for page in range(pages or 1)
    ]
    count = resolve_token_counter("cl100k_base")

    def added(metadata):
        own = {key: metadata[key] for key in metadata if key not in metadatas[0]}
        without = {
            key: value.replace(name, "") if isinstance(value, str) else value
            for key, value in own.items()
        }
        return count(str(without))

    chunks = OffsetTokenSplitter(chunk_size=128).split_documents(
        [LangChainDocument(text, metadata=each) for each in metadatas]
    )
    nodes = OffsetTokenNodeParser(chunk_size=128).get_nodes_from_documents(
        [LlamaIndexDocument(text=text, metadata=each) for each in metadatas]
    )
    made = OrderPreservingCompressor()(chunks)
    ordered = OrderPreservingPostprocessor().postprocess_nodes(
        [NodeWithScore(node=node) for node in nodes]
    )

    for each in (*chunks, *nodes):
        begins = "text_length" in each.metadata
        assert added(each.metadata) <= (first if begins else later)
    for metadata in (
        *(each.metadata for each in made),
        *(each.node.metadata for each in ordered),
    ):
        assert added(metadata) <= result
