"""What the splitters share: documents in, chunks with flat metadata out."""

from __future__ import annotations

import copy
from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from langchain_core.documents import Document

from langchain_oprag._parts import Part, documents_in_parts
from oprag.errors import InvalidOptionError
from oprag.metadata import CHAR_START, OWN_KEYS, PART_INDEX, chunk_id, chunk_metadata
from oprag.optional import require
from oprag.splitting import TextChunk, split_tokens
from oprag.tokens import NamedTokenCounter, TokenizerSpec, resolve_token_counter

require(
    "langchain_text_splitters",
    extra="langchain",
    purpose="A splitter of langchain_oprag",
)

from langchain_text_splitters import TextSplitter  # noqa: E402 -- checked above

_START_INDEX = "start_index"
"""LangChain's own key of the first character."""
_FLAT = frozenset({str, int, float, bool, type(None)})
"""Types of values that never change."""


class OffsetSplitter(TextSplitter):
    """Base of the splitters: they only say where a text is cut."""

    def __init__(
        self,
        *,
        chunk_size: int,
        chunk_overlap: int,
        tokenizer: TokenizerSpec,
        add_start_index: bool,
    ) -> None:
        # Of an empty text the core checks the sizes and does nothing else.
        split_tokens(
            "",
            chunk_size=chunk_size,
            chunk_overlap=chunk_overlap,
            tokenizer="approximate",
        )
        super().__init__(
            chunk_size=chunk_size,
            chunk_overlap=chunk_overlap,
            length_function=self._length,
            add_start_index=add_start_index,
            strip_whitespace=False,
        )
        self._tokenizer = tokenizer
        self._counter: NamedTokenCounter | None = None

    @abstractmethod
    def _spans(self, text: str) -> list[TextChunk]:
        """The chunks of a text."""

    def split_text(self, text: str) -> list[str]:
        """Split one text.

        Args:
            text: Any text. Empty: no chunks.

        Returns:
            The chunks' texts in reading order, white space included: without
            overlap, joined they are `text`.
        """
        return [text[start:end] for start, end, _ in self._spans(text)]

    def create_documents(
        self, texts: list[str], metadatas: list[dict[Any, Any]] | None = None
    ) -> list[Document]:
        """Split texts, and write down where every chunk stands.

        Args:
            texts: Any texts.
            metadatas: One per text, with the document's name (`source`); copied
                into every chunk. None for none. See `split_documents` for texts of
                the same name, and without one.

        Returns:
            As `split_documents`.

        Raises:
            InvalidOptionError: There are not as many metadatas as texts.
        """
        metadatas = [{} for _ in texts] if metadatas is None else metadatas
        lengths = {"texts": len(texts), "metadatas": len(metadatas)}
        if len(texts) != len(metadatas):
            message = f"Give one metadata mapping per text; there are {lengths}."
            raise InvalidOptionError(message, option="metadatas", value=lengths)
        return self._split(texts, metadatas, [None] * len(texts))

    def split_documents(self, documents: Iterable[Document]) -> list[Document]:
        """Split documents, and write down where every chunk stands.

        Documents of one name (`doc_uri`, `source`, `file_path`, `url`, …: see
        `oprag.positions`) are the parts of one text: pages, rows, sections. Parts
        are numbered by their page or row, where the metadata gives one, else as
        they come: hand over all sections of a text in one call. A document without
        any name is a text of its own, named by its `id`, else by its SHA-256.

        Args:
            documents: Texts or parts of texts, or chunks of oprag's own splitters.
                Not changed.

        Returns:
            The chunks, in the order of `documents`. Their metadata is that of the
            document (copied deeply) and oprag's: `doc_key`, `doc_uri`,
            `chunk_index` (running on over the parts), `n_chunks`, `char_start` and
            `char_end` (characters, relative to the part), `part_index`,
            `token_count` and `token_counter`; with `add_start_index` also
            `start_index`. Their `id` is the same for the same chunk every time.

        Raises:
            MissingDocumentError: A page, row or section does not name its text.
            UnscopedPositionError: A document is a chunk that another splitter made.
        """
        documents = list(documents)
        return self._split(
            [document.page_content for document in documents],
            [document.metadata for document in documents],
            [document.id for document in documents],
        )

    @classmethod
    def from_huggingface_tokenizer(cls, tokenizer: Any, **kwargs: Any) -> TextSplitter:
        """Make a splitter with `tokenizer=`; the other options as usual."""
        return cls(tokenizer=tokenizer, **kwargs)

    @classmethod
    def from_tiktoken_encoder(
        cls,
        encoding_name: str = "cl100k_base",
        model_name: str | None = None,
        allowed_special: Any = None,
        disallowed_special: Any = "all",
        **kwargs: Any,
    ) -> Any:
        """Make a splitter with the encoding or the model's encoding as `tokenizer=`.

        Raises:
            InvalidOptionError: Special tokens were named. Text that looks like one
                is split as the text that it is.
        """
        if allowed_special or disallowed_special != "all":
            message = (
                "allowed_special and disallowed_special have no effect here: text that "
                "looks like a special token is split as the text that it is."
            )
            value = allowed_special or disallowed_special
            raise InvalidOptionError(message, option="allowed_special", value=value)
        if model_name is not None:
            tiktoken = require("tiktoken", extra="langchain", purpose="model_name=")
            encoding_name = tiktoken.encoding_name_for_model(model_name)
        return cls(tokenizer=encoding_name, **kwargs)

    def _resolved(self) -> NamedTokenCounter:
        """The token counter, resolved when it is first used and then kept."""
        if self._counter is None:
            self._counter = resolve_token_counter(self._tokenizer)
        return self._counter

    def _length(self, text: str) -> int:
        return self._resolved()(text)

    def _split(
        self,
        texts: Sequence[str],
        metadatas: Sequence[Mapping[Any, Any]],
        ids: Sequence[str | None],
    ) -> list[Document]:
        rows: list[list[Document]] = [[] for _ in texts]
        for name, parts in documents_in_parts(texts, metadatas, ids).items():
            spans = [self._spans(texts[part.text_index]) for part in parts]
            placed = [
                [TextChunk(s + part.offset, e + part.offset, n) for s, e, n in row]
                if part.offset
                else row
                for part, row in zip(parts, spans, strict=True)
            ]
            written = chunk_metadata(name, placed, self._resolved().name)
            for part, row, entries in zip(parts, spans, written, strict=True):
                index = part.text_index
                given = _without_place(metadatas[index])
                for entry in entries:
                    self._complete(entry, part)
                rows[index] = _documents(texts[index], given, part, row, entries)
        return [chunk for row in rows for chunk in row]

    def _complete(self, written: dict[str, str | int], part: Part) -> None:
        """Write what LangChain and the part add to a chunk's own metadata."""
        written.pop(PART_INDEX, None)
        if part.number is not None:
            written[PART_INDEX] = part.number
        if self._add_start_index:
            written[_START_INDEX] = written[CHAR_START]


def _documents(
    text: str,
    given: dict[Any, Any],
    part: Part,
    spans: Sequence[TextChunk],
    written: Sequence[dict[str, str | int]],
) -> list[Document]:
    """Make the chunks of one text, each with a deep copy of the text's metadata."""
    # deepcopy takes longer than all the rest; of flat metadata it changes nothing.
    flat = _FLAT.issuperset(map(type, given.values()))
    return [
        Document(
            text[start:end],
            id=chunk_id(part.id_name, number),
            metadata={**(given if flat else copy.deepcopy(given)), **entry},
        )
        for number, ((start, end, _), entry) in enumerate(
            zip(spans, written, strict=True)
        )
    ]


def _without_place(metadata: Mapping[Any, Any]) -> dict[Any, Any]:
    """Metadata for the chunks of a text: where the text stands is not where they do."""
    dropped = (*OWN_KEYS, _START_INDEX)
    return {key: value for key, value in metadata.items() if key not in dropped}
