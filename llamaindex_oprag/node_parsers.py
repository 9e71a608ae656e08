"""Node parsers whose nodes are exact slices of their document.

LlamaIndex's own parsers look for a node's text in the document after splitting and
can find it in the wrong place; these carry the offsets through.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from llama_index.core.bridge.pydantic import (
    Field,
    WithJsonSchema,
    field_serializer,
    model_validator,
)

from llamaindex_oprag._offset_parser import OffsetNodeParser
from oprag.errors import invalid_option
from oprag.positions import qualified_name
from oprag.splitting import SentenceSpans, TextChunk, split_sentences, split_tokens
from oprag.tokens import NamedTokenCounter

if TYPE_CHECKING:
    pass


class OffsetTokenNodeParser(OffsetNodeParser):
    """Cuts documents into uniform windows of tokens, with exact offsets.

    Stands wherever LlamaIndex takes a node parser or text splitter:
    `Settings.text_splitter`, the transformations of an `IngestionPipeline` or an
    index.

    Every node's text is `document.text[start_char_idx:end_char_idx]`, and its
    metadata has oprag's flat keys (`oprag.metadata`), which neither the model nor
    the embedding model is shown. The keys are written for the document as it was
    handed over; see `oprag.metadata.chunk_metadata`.

    Documents of one file (`file_path`, `source`) are parts of one document: offsets
    count from the start of the part, `part_index` is its page, row or record from 0,
    else its place among them; `chunk_index` runs on over the parts that are handed
    over together. Sections that another parser cut before are parts in the order they
    come; their nodes have no `start_char_idx`, because it is not known in the
    document.

    Node ids are stable: the same text, cut with the same settings, gets the same ids,
    and no other does, unless `id_func` is given.

    Args:
        chunk_size: Tokens, at least 1.
        chunk_overlap: Tokens that two neighbours share; below `chunk_size`.
        tokenizer: A fast tokenizer of `transformers` or its name, a tiktoken
            encoding, or a callable from a text to a number. None for cl100k.
        **options: Of LlamaIndex's `NodeParser`: `include_metadata`,
            `include_prev_next_rel`, `id_func`.
        callback_manager: Told of what is done, as in all of LlamaIndex.

    Raises:
        InvalidOptionError: On construction, for an unknown option or an impossible
            value. It is a `ValueError`.
        MissingPositionError: When parsing a single page without a number.
        PositionError: When parsing a section without the others.

    Source:
        OP-RAG (arXiv:2409.01666), section 3: uniform chunks of 128 tokens.

    Example:
        >>> from llama_index.core.schema import Document
        >>> parser = OffsetTokenNodeParser(chunk_size=3, tokenizer=len)
        >>> nodes = parser.get_nodes_from_documents([Document(text="abcdefg")])
        >>> [(node.text, node.start_char_idx) for node in nodes]
        [('abc', 0), ('def', 3), ('g', 6)]
    """

    chunk_size: int = Field(default=128, ge=1, description="Tokens of a node.")
    chunk_overlap: int = Field(
        default=0, ge=0, description="Tokens that two neighbours share."
    )

    @model_validator(mode="after")
    def _check_overlap(self) -> OffsetTokenNodeParser:
        if self.chunk_overlap >= self.chunk_size:
            takes = f"It takes a number below chunk_size={self.chunk_size}."
            raise invalid_option("chunk_overlap", self.chunk_overlap, takes)
        return self

    @classmethod
    def class_name(cls) -> str:
        """Name in `to_dict`."""
        return "OffsetTokenNodeParser"

    def _chunks(self, text: str, counter: NamedTokenCounter) -> list[TextChunk]:
        return split_tokens(
            text,
            chunk_size=self.chunk_size,
            chunk_overlap=self.chunk_overlap,
            tokenizer=counter,
        )

    def _settings(self) -> tuple[object, ...]:
        return "tokens", self.chunk_size, self.chunk_overlap


class OffsetSentenceNodeParser(OffsetNodeParser):
    """Packs whole sentences into nodes of limited size, with exact offsets.

    As `OffsetTokenNodeParser`, but cut between sentences. A sentence over the limit
    is cut at its best inner boundary.

    Args:
        chunk_size: Tokens that a node may have, at least 1.
        tokenizer: As for `OffsetTokenNodeParser`.
        sentence_spans: Finds the sentences of a text: a callable that gives spans
            of characters, end exclusive, ascending. None for trained English Punkt.
        **options: Of LlamaIndex's `NodeParser`, as for `OffsetTokenNodeParser`.
        callback_manager: Told of what is done, as in all of LlamaIndex.

    Source:
        DOS RAG (arXiv:2506.03989), section 3: whole sentences, 100 tokens.
    """

    chunk_size: int = Field(
        default=100, ge=1, description="Tokens that a node may have."
    )
    sentence_spans: Annotated[
        SentenceSpans | None, WithJsonSchema({"type": ["string", "null"]})
    ] = Field(
        default=None, description="Finds the sentences of a text; None for Punkt."
    )

    @classmethod
    def class_name(cls) -> str:
        """Name in `to_dict`."""
        return "OffsetSentenceNodeParser"

    @field_serializer("sentence_spans")
    def _name_of_sentence_spans(self, sentence_spans: Any) -> str | None:
        return None if sentence_spans is None else qualified_name(sentence_spans)

    def _chunks(self, text: str, counter: NamedTokenCounter) -> list[TextChunk]:
        return split_sentences(
            text,
            chunk_size=self.chunk_size,
            tokenizer=counter,
            sentence_spans=self.sentence_spans,
        )

    def _settings(self) -> tuple[object, ...]:
        return "sentences", self.chunk_size, self.sentence_spans
