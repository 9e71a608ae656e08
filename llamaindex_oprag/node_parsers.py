"""Node parsers whose nodes are exact slices of their document.

LlamaIndex's own parsers look for a node's text in the document after splitting and
can find it in the wrong place; these carry the offsets through.
"""

from __future__ import annotations

import itertools
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Annotated, Any, ClassVar, Self

from llama_index.core.bridge.pydantic import (
    ConfigDict,
    Field,
    ValidationInfo,
    WithJsonSchema,
    field_serializer,
    field_validator,
)
from llama_index.core.node_parser.interface import TextSplitter
from llama_index.core.node_parser.node_utils import (
    build_nodes_from_splits,
    default_id_func,
)
from llama_index.core.schema import BaseNode, Document, NodeRelationship
from llama_index.core.utils import get_tqdm_iterable

from llamaindex_oprag._nodes import hide_keys, text_of
from llamaindex_oprag._pickles import refuse_lost_state
from oprag.context import OpragErrorsMixin
from oprag.effects import run_in_thread
from oprag.metadata import ALL_RESULT_KEYS, CHAR_END, CHAR_START, OWN_KEYS
from oprag.splitting import (
    OF_SENTENCES,
    Part,
    SentenceSpans,
    SourceText,
    Stamp,
    TextChunk,
    check_splitting,
    group_parts,
    name_callable,
    split_sentences,
    split_tokens,
    stamp_chunks,
)
from oprag.tokens import NamedTokenCounter, resolve_token_counter

_NEXT, _PREVIOUS = NodeRelationship.NEXT, NodeRelationship.PREVIOUS
_CALLABLE = "callable "
"""The prefix in `to_dict` of the name of a tokenizer that is only a function."""


class OffsetNodeParser(OpragErrorsMixin, TextSplitter):
    """The base of both node parsers: everything but the choice of the cuts."""

    model_config = ConfigDict(extra="forbid", validate_assignment=True)

    tokenizer: Any = Field(
        default=None,
        description=(
            "What counts tokens: a fast tokenizer or its name, a tiktoken encoding, or "
            "a callable from a text to a number. None for cl100k."
        ),
    )

    @field_validator("chunk_size", "chunk_overlap", mode="before", check_fields=False)
    @classmethod
    def _check_value(cls, value: Any, info: ValidationInfo) -> Any:
        sizes: dict[Any, Any] = {"chunk_size": 128, **info.data, info.field_name: value}
        check_splitting(sizes["chunk_size"], sizes.get("chunk_overlap", 0))
        return value

    @abstractmethod
    def _chunks(self, text: str, counter: NamedTokenCounter) -> list[TextChunk]:
        """Cut a text."""

    @abstractmethod
    def _settings(self) -> tuple[object, ...]:
        """Return the settings that decide the cuts of a text."""

    def split_text(self, text: str) -> list[str]:
        """Cut a text into consecutive slices of it.

        Raises:
            TokenizerError: The tokenizer cannot be used or loaded.
        """
        counter = resolve_token_counter(self.tokenizer)
        return [text[start:end] for start, end, _ in self._chunks(text, counter)]

    def _parse_nodes(
        self, nodes: Sequence[BaseNode], show_progress: bool = False, **kwargs: Any
    ) -> list[BaseNode]:
        counter = resolve_token_counter(self.tokenizer)
        groups = group_parts([_make_source(node) for node in nodes])
        progress = get_tqdm_iterable(
            list(itertools.chain(*groups)), show_progress, "Parsing nodes"
        )
        cut = {part.place: self._chunks(part.source.text, counter) for part in progress}
        made: dict[int, list[BaseNode]] = {}
        for parts in groups:
            rows = [cut[part.place] for part in parts]
            stamps = stamp_chunks(
                parts, rows, settings=self._settings(), counter=counter
            )
            for part, row, written in zip(parts, rows, stamps, strict=True):
                made[part.place] = self._nodes_of(nodes[part.place], part, row, written)
        return list(itertools.chain(*(made[index] for index in range(len(nodes)))))

    async def aget_nodes_from_documents(
        self, documents: Sequence[Document], show_progress: bool = False, **kwargs: Any
    ) -> list[BaseNode]:
        """Parse documents into nodes, in a thread."""
        work = partial(
            self.get_nodes_from_documents, documents, show_progress, **kwargs
        )
        return await run_in_thread(work)

    def _nodes_of(
        self,
        source: BaseNode,
        part: Part,
        chunks: Sequence[TextChunk],
        stamps: Sequence[Stamp],
    ) -> list[BaseNode]:
        text = part.source.text
        nodes = build_nodes_from_splits(
            [text[start:end] for start, end, _ in chunks],
            source,
            id_func=lambda i, _document: (
                stamps[i].id
                if self.id_func is default_id_func
                else str(self.id_func(i, source))
            ),
        )
        inherited = {
            key: value
            for key, value in source.metadata.items()
            if self.include_metadata and key not in (*OWN_KEYS, *ALL_RESULT_KEYS)
        }
        for node, (_, entry) in zip(nodes, stamps, strict=True):
            node.metadata = {**inherited, **entry}
            for field, keys in hidden_keys(node, node.metadata).items():
                setattr(node, field, keys)
            node.embedding = None
            if source.source_node is not None:
                node.relationships[NodeRelationship.SOURCE] = source.source_node
            if part.offset is not None:
                node.start_char_idx = int(entry[CHAR_START])
                node.end_char_idx = int(entry[CHAR_END])
        return list(nodes)

    def _postprocess_parsed_nodes(
        self, nodes: list[BaseNode], parent_doc_map: dict[str, Document]
    ) -> list[BaseNode]:
        """Link neighbours.

        LlamaIndex would search for each text here and write the offsets of the match.
        Our offsets are known.
        """
        if self.include_prev_next_rel:
            for before, after in itertools.pairwise(nodes):
                if before.ref_doc_id == after.ref_doc_id:
                    before.relationships[_NEXT] = after.as_related_node_info()
                    after.relationships[_PREVIOUS] = before.as_related_node_info()
        return nodes

    @field_serializer("tokenizer")
    def _name_of_tokenizer(self, tokenizer: Any) -> str | None:
        """Name a tokenizer in `to_dict`, so that hashes of ingestion caches differ."""
        if tokenizer is None or isinstance(tokenizer, str):
            return tokenizer
        name = resolve_token_counter(tokenizer).name
        return name or _CALLABLE + name_callable(tokenizer)

    @classmethod
    def from_dict(cls, data: dict[str, Any], **kwargs: Any) -> Self:
        """Make a parser from the result of `to_dict`.

        A tokenizer is restored by its name. A callable is not restored: pass it again,
        as a keyword argument.
        """
        kept = {**data, **kwargs}
        id_func = kept.get("id_func")
        # LlamaIndex writes a name here and takes only a function.
        if isinstance(id_func, dict) and (
            id_func.get("id_func_name") == default_id_func.__name__
        ):
            del kept["id_func"]
        return super().from_dict(kept)

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = super().__getstate__()
        refuse_lost_state(self, state)
        return state


def hidden_keys(node: BaseNode, metadata: dict[str, Any]) -> dict[str, list[str]]:
    """Return the fields of a node that name the metadata to hide from models."""
    llm, embed = node.excluded_llm_metadata_keys, node.excluded_embed_metadata_keys
    own = tuple([key for key in metadata if key in OWN_KEYS])
    return {
        "excluded_llm_metadata_keys": hide_keys(llm, own),
        "excluded_embed_metadata_keys": hide_keys(embed, own),
    }


class OffsetTokenNodeParser(OffsetNodeParser):
    """Cuts documents into uniform windows of tokens, with exact offsets.

    It works wherever LlamaIndex takes a node parser or text splitter:
    `Settings.text_splitter`, the transformations of an `IngestionPipeline` or an
    index.

    Every node's text is `document.text[start_char_idx:end_char_idx]`, and its
    metadata has oprag's flat keys (`oprag.metadata`), which are shown to neither the
    model nor the embedding model. The keys are written for the document in the form
    that was handed over; see `oprag.metadata.chunk_metadata`.

    Documents of one file (`file_path`, `source`) are parts of one document. Offsets
    count from the start of the part. `part_index` is its page, row or record from 0,
    else its place among the parts. `chunk_index` runs on over the parts that are handed
    over together. Sections that another parser cut before are parts in the given order;
    their nodes have no `start_char_idx`, because it is not known in the document.

    Node ids are stable: the same text, cut with the same settings, gets the same ids,
    and no other does, unless `id_func` is given.

    Args:
        chunk_size: Tokens, at least 1.
        chunk_overlap: Tokens that two neighbours share; below `chunk_size`.
        tokenizer: A fast tokenizer of `transformers` or its name, a tiktoken
            encoding, or a callable from a text to a number. None for cl100k.
        **options: Options of LlamaIndex's `NodeParser`: `include_metadata`,
            `include_prev_next_rel`, `id_func`.
        callback_manager: Gets the events, as in all of LlamaIndex.

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

    @classmethod
    def class_name(cls) -> str:
        """Return the name in `to_dict`."""
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

    It works as `OffsetTokenNodeParser`, but cuts between sentences. A sentence over the
    limit is cut at its best inner boundary.

    Args:
        chunk_size: Tokens that a node may have, at least 1.
        tokenizer: As for `OffsetTokenNodeParser`.
        sentence_spans: Finds the sentences of a text: a callable that gives spans
            of characters, end exclusive, ascending. None for trained English Punkt.
        **options: Options of `NodeParser`, as for `OffsetTokenNodeParser`.
        callback_manager: Gets the events, as in all of LlamaIndex.

    Source:
        DOS RAG (arXiv:2506.03989), section 3: whole sentences, 100 tokens.
    """

    advice: ClassVar[Mapping[str, str]] = OF_SENTENCES
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
        """Return the name in `to_dict`."""
        return "OffsetSentenceNodeParser"

    @field_serializer("sentence_spans")
    def _name_of_sentence_spans(self, sentence_spans: Any) -> str | None:
        return None if sentence_spans is None else name_callable(sentence_spans)

    def _chunks(self, text: str, counter: NamedTokenCounter) -> list[TextChunk]:
        return split_sentences(
            text,
            chunk_size=self.chunk_size,
            tokenizer=counter,
            sentence_spans=self.sentence_spans,
        )

    def _settings(self) -> tuple[object, ...]:
        return "sentences", self.chunk_size, self.sentence_spans


def _make_source(node: BaseNode) -> SourceText:
    """Return a document, or an earlier parser's node, in the form the core takes."""
    return SourceText(
        text_of(node),
        node.metadata,
        node.ref_doc_id or node.node_id,
        cut=node.source_node is not None,
        has_neighbours=bool(node.prev_node or node.next_node),
    )
