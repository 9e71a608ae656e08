"""A text of any length, and all that components read of it, in both frameworks."""

import random
from collections.abc import Sequence
from functools import cached_property, partial
from typing import Any, NamedTuple, Self

from langchain_core.documents import Document
from langchain_core.embeddings import DeterministicFakeEmbedding
from langchain_core.vectorstores import InMemoryVectorStore
from llama_index.core import Document as LlamaDocument
from llama_index.core import MockEmbedding, VectorStoreIndex
from llama_index.core.schema import (
    NodeRelationship,
    NodeWithScore,
    RelatedNodeInfo,
    TextNode,
)

import langchain_oprag
import llamaindex_oprag
from oprag.units import group_documents

NAME = "book.txt"
REFUSAL = "unanswerable"
CHUNK = 500
"""Characters of a chunk."""
WORDS = [
    *("the", "order", "of", "the", "passages", "mattered", ",", "because", "Ann"),
    *("built", "it", "in", "1912", "."),
]
_seeds = iter(range(10**9))


class Material:
    """A text that was never seen before, and what was retrieved of it: all of it."""

    def __init__(self, length: int) -> None:
        self.text = prose(next(_seeds), length)
        self.texts = {NAME: self.text}
        self.spans = [(s, min(s + CHUNK, length)) for s in range(0, length, CHUNK)]
        random.Random(0).shuffle(self.spans)  # noqa: S311 -- an order, no secret

    @cached_property
    def chunks(self) -> list[Document]:
        return [
            Document(
                self.text[start:end],
                id=str(start),
                metadata={"source": NAME, "start_index": start},
            )
            for start, end in self.spans
        ]

    @cached_property
    def nodes(self) -> list[NodeWithScore]:
        source = {NodeRelationship.SOURCE: RelatedNodeInfo(node_id=NAME)}
        return [
            NodeWithScore(
                node=TextNode(
                    text=self.text[start:end],
                    id_=str(start),
                    start_char_idx=start,
                    end_char_idx=end,
                    relationships=source,
                )
            )
            for start, end in self.spans
        ]

    @cached_property
    def bare(self) -> list[Document]:
        return [
            Document(c.page_content, metadata={"source": NAME}) for c in self.chunks
        ]

    @cached_property
    def bare_nodes(self) -> list[NodeWithScore]:
        return [
            NodeWithScore(node=TextNode(text=c.page_content, metadata=c.metadata))
            for c in self.bare
        ]

    @cached_property
    def unit_texts(self) -> dict[str, str]:
        return {**self.texts, "other.txt": "Another book."}

    @cached_property
    def units(self) -> Sequence[Any]:
        counted: Any = {"max_tokens": 10**7, "token_counter": "approximate"}
        return list(group_documents(self.unit_texts, **counted))

    @cached_property
    def unit(self) -> Document:
        return Document(self.text, metadata={"source": NAME})

    @cached_property
    def unit_node(self) -> NodeWithScore:
        return NodeWithScore(node=TextNode(text=self.text, metadata={"source": NAME}))

    @property
    def parsed(self) -> list[LlamaDocument]:
        return [LlamaDocument(text=self.text, id_=NAME)]

    @cached_property
    def store(self) -> InMemoryVectorStore:
        """The text in chunks of our own splitter."""
        store = empty_store()
        langchain_oprag.index_documents([self.unit], store)
        return store

    @cached_property
    def index(self) -> VectorStoreIndex:
        """The same for LlamaIndex, which takes a second for some hundred nodes."""
        index = empty_index()
        parser = llamaindex_oprag.OffsetTokenNodeParser(chunk_size=1_000)
        llamaindex_oprag.index_documents(self.parsed, index, node_parser=parser)
        return index

    def prepared(self, *, stored: bool) -> Self:
        """Build all that a question does not build, with the store and the index."""
        lazy = ["chunks", "nodes", "bare", "bare_nodes", "units", "unit", "unit_node"]
        for name in [*lazy, *(["store", "index"] if stored else [])]:
            getattr(self, name)
        return self


class Component(NamedTuple):
    """One of our components, and the methods by which it is asked the same."""

    make: Any
    """A function of the material."""
    ways: dict[str, Any]
    """The method's name: a function of the component and the material."""
    stored: bool = False
    """Whether it reads the store or the index."""


def pair(name: str, *given: Any, **more: Any) -> dict[str, Any]:
    """A method and its async twin; what is a function is called with the material."""

    def ask(method: str, component: Any, material: Material) -> Any:
        asked = [each(material) if callable(each) else each for each in given]
        return getattr(component, method)(*asked, **more)

    return {each: partial(ask, each) for each in (name, f"a{name.strip('_')}")}


def prose(seed: int, length: int) -> str:
    """Make paragraphs by chance, the same for one seed."""
    chance = random.Random(seed)  # noqa: S311 -- texts, no secrets
    text = f"Book {seed}. " + " ".join(chance.choices(WORDS, k=length // 4))
    lines = [text[start : start + 700] for start in range(0, len(text), 700)]
    return "\n\n".join(lines)[:length]


def empty_store() -> InMemoryVectorStore:
    return InMemoryVectorStore(DeterministicFakeEmbedding(size=4))


def empty_index() -> VectorStoreIndex:
    return VectorStoreIndex([], embed_model=MockEmbedding(4))
