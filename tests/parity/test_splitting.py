"""LangChain, LlamaIndex and plain Python make the same of the same documents."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.documents import Document as LangChainDocument
from llama_index.core.schema import Document as LlamaIndexDocument

import langchain_oprag
import llamaindex_oprag
from oprag.errors import MissingDocumentError, MissingPositionError, PositionError
from oprag.metadata import document_key, text_hash
from oprag.splitting import TextChunk, split_sentences, split_tokens
from oprag.tokens import NamedTokenCounter
from tests.parity.loaded import Loaded, documents


class Chunk(NamedTuple):
    id: str
    text: str
    metadata: dict[str, Any]


class Splitters(NamedTuple):
    """One way to split, in each framework and without one."""

    langchain: Any
    llamaindex: Any
    plain: Callable[[str], list[TextChunk]]
    counter: NamedTokenCounter


COUNTERS = {
    "characters": NamedTokenCounter(len, name="characters"),
    "bytes": NamedTokenCounter(lambda text: -(-len(text.encode()) // 4), name="bytes"),
}


def by_tokens(size: int, overlap: int, counter: NamedTokenCounter) -> Splitters:
    options: dict[str, Any] = {"chunk_size": size, "tokenizer": counter}
    options["chunk_overlap"] = overlap
    return Splitters(
        langchain_oprag.OffsetTokenSplitter(**options),
        llamaindex_oprag.OffsetTokenNodeParser(**options),
        lambda text: split_tokens(text, **options),
        counter,
    )


def lines(text: str) -> list[tuple[int, int]]:
    ends = [*(i + 1 for i, char in enumerate(text) if char == "\n"), len(text)]
    ends = sorted({end for end in ends if end})
    return list(zip([0, *ends], ends, strict=False))


def by_sentences(size: int, counter: NamedTokenCounter) -> Splitters:
    options: dict[str, Any] = {"chunk_size": size, "tokenizer": counter}
    options["sentence_spans"] = lines
    return Splitters(
        langchain_oprag.OffsetSentenceSplitter(**options),
        llamaindex_oprag.OffsetSentenceNodeParser(**options),
        lambda text: split_sentences(text, **options),
        counter,
    )


counters = st.sampled_from(list(COUNTERS.values()))
splitters = st.builds(
    by_tokens, st.integers(3, 30), st.integers(0, 2), counters
) | st.builds(by_sentences, st.integers(3, 30), counters)


def split_by_langchain(loaded: Loaded, how: Splitters) -> list[Chunk]:
    chunks = how.langchain.split_documents([t.for_langchain() for t in loaded.texts])
    return [Chunk(str(c.id), c.page_content, c.metadata) for c in chunks]


def split_by_llamaindex(loaded: Loaded, how: Splitters) -> list[Chunk]:
    parsed = [text.for_llamaindex() for text in loaded.texts]
    nodes = how.llamaindex.get_nodes_from_documents(parsed)
    return [Chunk(node.node_id, node.text, node.metadata) for node in nodes]


def split_plainly(loaded: Loaded, how: Splitters) -> list[Chunk]:
    """The chunks that both must give, but for id and version, without the adapters."""
    cut = {id(text): how.plain(text.text) for text in loaded.texts}
    made: dict[int, list[Chunk]] = {}
    for name in loaded.names:
        parts = loaded.parts_of(name)
        total = sum(len(cut[id(part)]) for part in parts)
        index = 0
        for part in parts:
            made[id(part)] = []
            for start, end, _ in cut[id(part)]:
                own = part.text[start:end]
                number = {} if part.number is None else {"part_index": part.number}
                metadata = {
                    **part.metadata,
                    "doc_key": document_key(name),
                    "doc_uri": name,
                    **number,
                    "chunk_index": index,
                    "n_chunks": total,
                    "char_start": start,
                    "char_end": end,
                    "token_count": how.counter(own),
                    "token_counter": how.counter.name,
                    "chunk_hash": text_hash(own),
                }
                if not made[id(part)]:
                    metadata["text_length"] = len(part.text)
                    metadata["text_hash"] = text_hash(part.text)
                made[id(part)].append(Chunk("", own, metadata))
                index += 1
    return [chunk for text in loaded.texts for chunk in made[id(text)]]


@given(documents(), splitters)
def test_chunks_ids_and_metadata_are_the_same(loaded, how):
    langchain, llamaindex = (
        split_by_langchain(loaded, how),
        split_by_llamaindex(loaded, how),
    )
    plain = split_plainly(loaded, how)

    assert langchain == llamaindex
    assert [c.text for c in langchain] == [c.text for c in plain]
    for chunk, expected in zip(langchain, plain, strict=True):
        version = chunk.metadata.pop("doc_version")
        assert version
        assert list(chunk.metadata.items()) == list(expected.metadata.items())
    assert len({chunk.id for chunk in langchain}) == len(langchain)


@given(documents(), splitters, splitters)
def test_chunks_of_other_settings_or_another_text_have_other_ids(loaded, how, other):
    ids = {chunk.id for chunk in split_by_langchain(loaded, how)}
    changed = Loaded(tuple(t._replace(text=t.text + "!") for t in loaded.texts))
    same = how.langchain._settings() == other.langchain._settings()
    same = same and how.counter is other.counter

    assert ids.isdisjoint(chunk.id for chunk in split_by_llamaindex(changed, how))
    others = {chunk.id for chunk in split_by_llamaindex(loaded, other)}
    assert ids == others if same else ids.isdisjoint(others)


@given(documents(), splitters, st.integers(1, 3))
def test_chunks_of_ours_are_cut_again_alike(loaded, how, size):
    finer = by_tokens(size, 0, COUNTERS["characters"])
    coarse = how.langchain.split_documents([t.for_langchain() for t in loaded.texts])
    parsed = [text.for_llamaindex() for text in loaded.texts]
    nodes = how.llamaindex.get_nodes_from_documents(parsed)

    fine = finer.langchain.split_documents(coarse)
    finer_nodes = finer.llamaindex.get_nodes_from_documents(nodes)

    assert [(str(c.id), c.page_content, c.metadata) for c in fine] == [
        (node.node_id, node.text, node.metadata) for node in finer_nodes
    ]
    texts = {(text.name, text.number): text.text for text in loaded.texts}
    for chunk in fine:
        own = chunk.metadata
        text = texts[own.get("doc_uri"), own.get("part_index")]
        assert text[own["char_start"] : own["char_end"]] == chunk.page_content


NAMED = {"source": "a.pdf"}
WRONG: list[tuple[list[dict[str, Any]], type[Exception]]] = [
    *(
        ([{key: "1"}], MissingDocumentError)
        for key in ("page", "page_number", "page_label", "row", "Header 2")
    ),
    ([{"page": 1, "source": ""}], MissingDocumentError),
    ([{**NAMED, "page_label": "iv"}], MissingPositionError),
    ([{**NAMED, "page": "front"}], MissingPositionError),
    ([{**NAMED, "page_number": 0}], MissingPositionError),
    ([{**NAMED, "start_index": 9}], PositionError),
    ([{**NAMED, "char_start": 0, "char_end": 99}], PositionError),
    ([NAMED, {**NAMED, "start_char_idx": 0}], PositionError),
]


@pytest.mark.parametrize(("metadatas", "error"), WRONG)
def test_what_cannot_be_split_is_the_same_error(metadatas, error):
    how = by_tokens(5, 0, COUNTERS["characters"])
    messages = []
    for split in (
        lambda: how.langchain.split_documents(
            [LangChainDocument("text", metadata=metadata) for metadata in metadatas]
        ),
        lambda: how.llamaindex.get_nodes_from_documents(
            [LlamaIndexDocument(text="text", metadata=m) for m in metadatas]
        ),
    ):
        with pytest.raises(error) as caught:
            split()
        assert type(caught.value) is error
        messages.append(str(caught.value))
    assert messages[0] == messages[1]


def numbers_of(metadatas: Sequence[dict[str, Any]]) -> list[list[int | None]]:
    how = by_tokens(9, 0, COUNTERS["characters"])
    texts = [f"text {i}" for i in range(len(metadatas))]
    chunks = how.langchain.create_documents(texts, [{**NAMED, **m} for m in metadatas])
    nodes = how.llamaindex.get_nodes_from_documents(
        [
            LlamaIndexDocument(text=text, metadata={**NAMED, **metadata})
            for text, metadata in zip(texts, metadatas, strict=True)
        ]
    )
    return [[c.metadata.get("part_index") for c in made] for made in (chunks, nodes)]


@pytest.mark.parametrize(
    ("metadatas", "numbers"),
    [
        ([{"page": 3}, {"page": 1}], [3, 1]),
        ([{"page_number": 3}, {"page_number": 1}], [2, 0]),
        ([{"page_label": "10"}, {"page_label": "9"}], [9, 8]),
        ([{"page_label": "1"}, {"page_label": "1"}], [0, 1]),
        ([{"page_label": "2"}, {"page_label": "i"}], [0, 1]),
        ([{"page_label": "ii", "page": 1}, {"page_label": "i", "page": 0}], [1, 0]),
        ([{"loc": {"pageNumber": 2}}, {"loc": {"pageNumber": 1}}], [1, 0]),
        ([{"seq_num": 1}], [0]),
        ([{"row": 0}, {"row": 7}], [0, 7]),
        # Elements of one page follow one another, as they came.
        ([{"page": 1}, {"page": 0}, {"page": 0}], [2, 0, 1]),
        ([{}, {}], [0, 1]),
        ([{}], [None]),
    ],
)
def test_parts_count_from_0_in_both(metadatas, numbers):
    assert numbers_of(metadatas) == [numbers, numbers]
