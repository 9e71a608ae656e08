"""Documents with some chunks of one tenant and some of another.

No word is in them twice, so that a word of a chunk that a filter hides shows
wherever it comes up.
"""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from langchain_core.documents import Document as LangChainDocument
from llama_index.core.schema import Document as LlamaIndexDocument
from llama_index.core.schema import TextNode

import langchain_oprag
import llamaindex_oprag
from oprag.stores import StoredChunk
from tests.kit.words import words

SHARED, OPEN = "shared lease.txt", "open.txt"
"""Chunks of both tenants; chunks of the first alone."""
SIZE = 4
"""Words of a chunk."""


class Tenants(NamedTuple):
    """Whose the chunks of the documents are."""

    shared: str
    """A letter for each chunk of `SHARED`."""
    open: int = 3
    """Chunks of `OPEN`, all of tenant a."""

    @property
    def texts(self) -> dict[str, str]:
        lengths = {SHARED: len(self.shared), OPEN: self.open}
        return {
            name: " ".join(f"{name[0]}{n:04}x" for n in range(length * SIZE))
            for name, length in lengths.items()
        }

    def owners(self, name: str) -> str:
        return self.shared if name == SHARED else "a" * self.open

    def words_of(self, tenants: Iterable[str]) -> set[str]:
        return {
            word
            for name, text in self.texts.items()
            for place, word in enumerate(text.split())
            if self.owners(name)[place // SIZE] in tenants
        }

    def documents(self) -> list[LangChainDocument]:
        splitter = langchain_oprag.OffsetTokenSplitter(
            chunk_size=SIZE, chunk_overlap=0, tokenizer=words
        )
        chunks = splitter.split_documents(
            LangChainDocument(text, metadata={"source": name})
            for name, text in self.texts.items()
        )
        for chunk in chunks:
            chunk.metadata["tenant"] = self._owner(chunk.metadata)
        return chunks

    def stored(self) -> list[StoredChunk]:
        return [
            StoredChunk(each.page_content, each.metadata, each.id or "")
            for each in self.documents()
        ]

    def nodes(self) -> list[TextNode]:
        """The chunks for LlamaIndex; the same text is embedded as in LangChain."""
        parser = llamaindex_oprag.OffsetTokenNodeParser(
            chunk_size=SIZE, chunk_overlap=0, tokenizer=words
        )
        nodes: Sequence[Any] = parser.get_nodes_from_documents(
            [
                LlamaIndexDocument(text=text, metadata={"source": name})
                for name, text in self.texts.items()
            ]
        )
        for node in nodes:
            node.metadata["tenant"] = self._owner(node.metadata)
            node.excluded_embed_metadata_keys = list(node.metadata)
            node.excluded_llm_metadata_keys = list(node.metadata)
        return list(nodes)

    def _owner(self, metadata: dict[str, Any]) -> str:
        return self.owners(metadata.get("doc_uri"))[metadata["chunk_index"]]
