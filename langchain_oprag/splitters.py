"""LangChain text splitters whose chunks have exact places."""

from __future__ import annotations

import copy
from abc import abstractmethod
from collections.abc import Iterable
from typing import Any, Never

from langchain_core.documents import Document

from oprag.documents import check_entries
from oprag.errors import InvalidOptionError, refuse_unknown, refuse_unnamed
from oprag.metadata import ALL_RESULT_KEYS, CHAR_START, OWN_KEYS
from oprag.optional import require
from oprag.splitting import (
    OF_SENTENCES,
    SentenceSpans,
    SourceText,
    TextChunk,
    check_splitting,
    group_parts,
    split_sentences,
    split_tokens,
    stamp_chunks,
)
from oprag.tokens import TokenizerSpec, is_fallback, resolve_token_counter

require(
    "langchain_text_splitters",
    extra="langchain",
    purpose="A splitter of langchain_oprag",
)

from langchain_text_splitters import TextSplitter  # noqa: E402 -- checked above

_START_INDEX = "start_index"
"""LangChain's own key of the first character."""
_OPTIONS = ("chunk_size", "chunk_overlap", "tokenizer", "add_start_index")
_OF_SENTENCES = ("chunk_size", "tokenizer", "sentence_spans", "add_start_index")
_PLAIN = frozenset({bool, bytes, float, int, str, type(None)})
"""Types of values that need no copy."""
_NOT_INHERITED = {*OWN_KEYS, *ALL_RESULT_KEYS, _START_INDEX}
"""Keys that place the document, which do not hold for its chunks."""


def source_of(document: Document) -> SourceText:
    """Return the text, metadata and id that the core needs to split a document."""
    return SourceText(document.page_content, document.metadata, document.id)


class OffsetSplitter(TextSplitter):
    """Base of the splitters, which themselves only choose the cuts of a text."""

    def __init__(
        self,
        *unnamed: Never,
        chunk_size: int = 128,
        chunk_overlap: int = 0,
        tokenizer: TokenizerSpec = None,
        add_start_index: bool = False,
        **unknown: Never,
    ) -> None:
        refuse_unnamed(type(self).__name__, unnamed, _OPTIONS)
        refuse_unknown(unknown, _OPTIONS)
        check_splitting(chunk_size, chunk_overlap)
        super().__init__(
            chunk_size=chunk_size,
            chunk_overlap=chunk_overlap,
            length_function=self._length,
            add_start_index=add_start_index,
            strip_whitespace=False,
        )
        self._tokenizer = tokenizer

    @abstractmethod
    def _split_spans(self, text: str) -> list[TextChunk]:
        """Return the chunks of a text."""

    @abstractmethod
    def _settings(self) -> tuple[object, ...]:
        """Return the settings that decide the cuts of a text."""

    def split_text(self, text: str) -> list[str]:
        """Split one text.

        Args:
            text: Any text; an empty one has no chunks.

        Returns:
            The chunks' texts in reading order, white space included. Without overlap
            they join to `text`.
        """
        return [text[start:end] for start, end, _ in self._split_spans(text)]

    def create_documents(
        self, texts: list[str], metadatas: list[dict[Any, Any]] | None = None
    ) -> list[Document]:
        """Split texts, and record the place of every chunk.

        Args:
            texts: Any texts.
            metadatas: One per text, with the document's name (`source`); copied
                into every chunk. None for no metadata. See `split_documents` for texts
                of the same name, and without a name.

        Returns:
            As `split_documents`.

        Raises:
            InvalidOptionError: There are not as many metadatas as texts.
        """
        check_entries("texts", texts, str)
        metadatas = [{} for _ in texts] if metadatas is None else metadatas
        lengths = {"texts": len(texts), "metadatas": len(metadatas)}
        if len(texts) != len(metadatas):
            message = f"Give one metadata mapping per text; there are {lengths}."
            raise InvalidOptionError(message, option="metadatas", value=lengths)
        return self._split(list(map(SourceText, texts, metadatas)))

    def split_documents(self, documents: Iterable[Document]) -> list[Document]:
        """Split documents, and record the place of every chunk.

        Documents of one name (`doc_uri`, `source`, `file_path`, `url`, …: see
        `oprag.positions`) are the parts of one text: pages, rows, sections. Parts
        are numbered from 0 by their page or row if the metadata gives one, else in the
        given order: hand over all parts of a text in one call. A document without any
        name is a separate text, named by its `id`, else by a hash of it.

        Args:
            documents: Texts or parts of texts, or chunks of oprag's own splitters.
                Not changed.

        Returns:
            The chunks, in the order of `documents`. Their metadata is a deep copy of
            the document's, and oprag's own: `doc_key`, `doc_uri`, `doc_version`
            (of the text and the splitter's settings), `part_index`, `chunk_index`
            (running on over the parts), `n_chunks`, `char_start` and `char_end`
            (characters, relative to the part), `token_count` and `token_counter`; on
            the first chunk of each part `text_length` and `text_hash` of its text; with
            `add_start_index` also `start_index`. The same chunk of the same version has
            the same `id` every time.

        Raises:
            MissingDocumentError: A page, row or section does not name its text.
            InvalidOptionError: Two documents have the same `doc_key`.
            MissingPositionError: A page comes alone, and without a number.
            PositionError: A document is a chunk that another splitter made.
        """
        check_entries("documents", documents, Document)
        return self._split([source_of(document) for document in documents])

    @property
    def is_estimated(self) -> bool:
        """Whether the cuts follow an estimate, because cl100k cannot be loaded."""
        return is_fallback(self._tokenizer)

    def _length(self, text: str) -> int:
        return resolve_token_counter(self._tokenizer)(text)

    def _split(self, texts: list[SourceText]) -> list[Document]:
        counter = resolve_token_counter(self._tokenizer)
        rows: list[list[Document]] = [[] for _ in texts]
        for parts in group_parts(texts):
            spans = [self._split_spans(part.source.text) for part in parts]
            stamps = stamp_chunks(
                parts, spans, settings=self._settings(), counter=counter
            )
            for part, row, written in zip(parts, spans, stamps, strict=True):
                inherited = {
                    key: value
                    for key, value in part.source.metadata.items()
                    if key not in _NOT_INHERITED
                }
                plain = _PLAIN.issuperset(map(type, inherited.values()))
                for _, entry in written if self._add_start_index else ():
                    entry[_START_INDEX] = entry[CHAR_START]
                rows[part.place] = [
                    Document(
                        part.source.text[start:end],
                        id=own_id,
                        metadata={
                            **(inherited if plain else copy.deepcopy(inherited)),
                            **entry,
                        },
                    )
                    for (start, end, _), (own_id, entry) in zip(
                        row, written, strict=True
                    )
                ]
        return [chunk for row in rows for chunk in row]


class OffsetTokenSplitter(OffsetSplitter):
    """Cuts texts into uniform windows of tokens, as OP-RAG does.

    Every chunk is a slice of its text. See `oprag.splitting.split_tokens` for the
    places of the cuts, and `split_documents` for the metadata of the chunks.

    Args:
        chunk_size: Tokens in a window, at least 1.
        chunk_overlap: Tokens that a window shares with the one before, below
            `chunk_size`.
        tokenizer: A tiktoken encoding, a fast Hugging Face tokenizer, the name of
            either, or a callable `str -> int`. None for cl100k, or for an estimate,
            with a warning, if its file is not available.
        add_start_index: Also write LangChain's `start_index`, equal to
            `char_start`.

    Raises:
        InvalidOptionError: A size is out of range.

    Example:
        >>> from langchain_core.documents import Document
        >>> splitter = OffsetTokenSplitter(chunk_size=2, tokenizer="cl100k_base")
        >>> document = Document("one two three", metadata={"source": "a.txt"})
        >>> first, second = splitter.split_documents([document])
        >>> second.page_content, second.metadata["char_start"]
        (' three', 7)
    """

    def _split_spans(self, text: str) -> list[TextChunk]:
        return split_tokens(
            text,
            chunk_size=self._chunk_size,
            chunk_overlap=self._chunk_overlap,
            tokenizer=self._tokenizer,
        )

    def _settings(self) -> tuple[object, ...]:
        return "tokens", self._chunk_size, self._chunk_overlap


class OffsetSentenceSplitter(OffsetSplitter):
    """Packs whole sentences into chunks of at most so many tokens, as DOS RAG does.

    Every chunk is a slice of its text. See `oprag.splitting.split_sentences` for the
    cuts in a sentence that is too long, and `split_documents` for the metadata of the
    chunks.

    Args:
        chunk_size: Tokens that a chunk may have, at least 1.
        tokenizer: As for `OffsetTokenSplitter`.
        sentence_spans: A callable from a text to the spans of its sentences,
            `(start, end)` in characters; None for English Punkt.
        add_start_index: Also write LangChain's `start_index`, equal to
            `char_start`.

    Raises:
        InvalidOptionError: `chunk_size` or `sentence_spans` cannot have this value.
    """

    def __init__(
        self,
        *unnamed: Never,
        chunk_size: int = 100,
        tokenizer: TokenizerSpec = None,
        sentence_spans: SentenceSpans | None = None,
        add_start_index: bool = False,
        **unknown: Never,
    ) -> None:
        refuse_unnamed(type(self).__name__, unnamed, _OF_SENTENCES)
        refuse_unknown(unknown, _OF_SENTENCES, OF_SENTENCES)
        super().__init__(
            chunk_size=chunk_size, tokenizer=tokenizer, add_start_index=add_start_index
        )
        check_splitting(chunk_size, sentence_spans=sentence_spans)
        self._sentence_spans = sentence_spans

    def _split_spans(self, text: str) -> list[TextChunk]:
        return split_sentences(
            text,
            chunk_size=self._chunk_size,
            tokenizer=self._tokenizer,
            sentence_spans=self._sentence_spans,
        )

    def _settings(self) -> tuple[object, ...]:
        return "sentences", self._chunk_size, self._sentence_spans
