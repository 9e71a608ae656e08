"""LangChain text splitters whose chunks know exactly where they stand."""

from __future__ import annotations

from langchain_oprag._splitting import OffsetSplitter
from oprag.splitting import SentenceSpans, TextChunk, split_sentences, split_tokens
from oprag.tokens import TokenizerSpec


class OffsetTokenSplitter(OffsetSplitter):
    """Cuts texts into uniform windows of tokens, as OP-RAG does.

    Every chunk is a slice of its text; see `oprag.splitting.split_tokens` for where
    the cuts fall, and `split_documents` for the metadata that is written.

    Args:
        chunk_size: Tokens in a window, at least 1.
        chunk_overlap: Tokens that a window shares with the one before, below
            `chunk_size`.
        tokenizer: A tiktoken encoding, a fast Hugging Face tokenizer, a name of
            either, or a callable `str -> int`; None for cl100k where it is
            installed, else an approximation.
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

    def __init__(
        self,
        *,
        chunk_size: int = 128,
        chunk_overlap: int = 0,
        tokenizer: TokenizerSpec = None,
        add_start_index: bool = False,
    ) -> None:
        super().__init__(
            chunk_size=chunk_size,
            chunk_overlap=chunk_overlap,
            tokenizer=tokenizer,
            add_start_index=add_start_index,
        )

    def _spans(self, text: str) -> list[TextChunk]:
        return split_tokens(
            text,
            chunk_size=self._chunk_size,
            chunk_overlap=self._chunk_overlap,
            tokenizer=self._resolved(),
        )

    def _settings(self) -> tuple[object, ...]:
        return "tokens", self._chunk_size, self._chunk_overlap


class OffsetSentenceSplitter(OffsetSplitter):
    """Packs whole sentences into chunks of at most so many tokens, as DOS RAG does.

    Every chunk is a slice of its text; see `oprag.splitting.split_sentences` for
    what becomes of a sentence that is too long, and `split_documents` for the
    metadata that is written.

    Args:
        chunk_size: Tokens that a chunk may count, at least 1.
        tokenizer: As for `OffsetTokenSplitter`.
        sentence_spans: A callable from a text to the spans of its sentences,
            `(start, end)` in characters; None for English Punkt.
        add_start_index: Also write LangChain's `start_index`, equal to
            `char_start`.

    Raises:
        InvalidOptionError: `chunk_size` is out of range.
        SentenceDataError: When used without `sentence_spans`, and no trained
            sentence model is installed.
    """

    def __init__(
        self,
        *,
        chunk_size: int = 100,
        tokenizer: TokenizerSpec = None,
        sentence_spans: SentenceSpans | None = None,
        add_start_index: bool = False,
    ) -> None:
        super().__init__(
            chunk_size=chunk_size,
            chunk_overlap=0,
            tokenizer=tokenizer,
            add_start_index=add_start_index,
        )
        self._sentence_spans = sentence_spans

    def _spans(self, text: str) -> list[TextChunk]:
        return split_sentences(
            text,
            chunk_size=self._chunk_size,
            tokenizer=self._resolved(),
            sentence_spans=self._sentence_spans,
        )

    def _settings(self) -> tuple[object, ...]:
        return "sentences", self._chunk_size, self._sentence_spans
