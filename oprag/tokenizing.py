"""Where the tokens of a text begin, in characters, from one tokenisation of it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from oprag.errors import MissingDependencyError
from oprag.optional import require
from oprag.tiktoken_files import is_encoding
from oprag.tokens import encodable

if TYPE_CHECKING:
    import tiktoken
    import tokenizers

__all__ = ["TokenStart", "TokenizedText", "tokenize"]

_CONTINUATION_BYTES = bytes(range(0x80, 0xC0))
"""What follows the first byte of a character in UTF-8."""
_NUMPY_PAYS_FROM = 200_000
"""Characters. Below, importing numpy and making the table costs more than it saves."""


class TokenStart(NamedTuple):
    """Where a token begins in its text."""

    position: int
    """In characters; rounded down where the token begins inside a code point."""
    exact: bool
    """Whether the token begins with a character; not inside one, and not as a further
    token of one that the token before stands for."""


class TokenizedText(Protocol):
    """A text and its tokens, special tokens around it not included."""

    n_tokens: int
    """Number of tokens; may be 0 for a text that is not empty (white space)."""

    def starts(self, indices: Sequence[int]) -> list[TokenStart]:
        """Find where tokens begin.

        Args:
            indices: Numbers of tokens, ascending, each at least 0 and below
                `n_tokens`.

        Returns:
            One for each, positions never descending.
        """

    def steps(self, token: int, here: int, there: int) -> int:
        """Count the tokens between two characters, walking from one to the other.

        Args:
            token: Number of the token that begins at `here`.
            here: In characters, where that token begins.
            there: In characters, where another token begins, before or after, or
                where the text ends.

        Returns:
            The number of tokens passed, 0 or more.
        """


def tokenize(text: str, tokenizer: Any) -> TokenizedText:
    """Tokenise a text once, with the offsets of its tokens.

    Args:
        text: Any text. An unpaired surrogate is read as U+FFFD.
        tokenizer: As on `NamedTokenCounter.tokenizer`.
    """
    text = encodable(text)
    if not is_encoding(tokenizer):
        return HuggingFaceText(text, tokenizer)
    if len(text) >= _NUMPY_PAYS_FROM and _has_numpy(tokenizer):
        return TiktokenArray(text, tokenizer)
    return TiktokenText(text, tokenizer)


class TiktokenText:
    """Tokens of a byte-level encoding, which together are the text's UTF-8 bytes.

    Args:
        text: Without surrogates.
        encoding: Of tiktoken.
    """

    def __init__(self, text: str, encoding: tiktoken.Encoding) -> None:
        self._text = text
        tokens = encoding.encode_ordinary(text)
        lengths = map(_byte_lengths(encoding).__getitem__, tokens)
        self._lengths: Sequence[int] = list(lengths)
        self.n_tokens = len(tokens)

    def starts(self, indices: Sequence[int]) -> list[TokenStart]:
        """Find where tokens begin; see `TokenizedText.starts`."""
        encoded = self._text.encode()
        starts = []
        token = offset = begun = 0
        for index in indices:
            length = sum(self._lengths[token:index])
            passed = encoded[offset : offset + length]
            begun += len(passed.translate(None, _CONTINUATION_BYTES))
            token, offset = index, offset + length
            inside = encoded[offset] in _CONTINUATION_BYTES
            starts.append(TokenStart(begun - inside, not inside))
        return starts

    def steps(self, token: int, here: int, there: int) -> int:
        """Count the tokens between two characters; see `TokenizedText.steps`."""
        passed = 0
        if there < here:
            left = len(self._text[there:here].encode())
            while left > 0:
                passed += 1
                left -= self._lengths[token - passed]
        else:
            left = len(self._text[here:there].encode())
            while left > 0:
                left -= self._lengths[token + passed]
                passed += 1
        return passed


class TiktokenArray(TiktokenText):
    """The same, without a Python object per token.

    Args:
        text: Without surrogates.
        encoding: Of tiktoken, in a version with `encode_to_numpy`.
    """

    def __init__(self, text: str, encoding: tiktoken.Encoding) -> None:
        import numpy as np

        self._text = text
        tokens = encoding.encode_to_numpy(text, disallowed_special=())
        lengths = _byte_length_array(encoding)[tokens]
        self._lengths = lengths
        self._ends = lengths.cumsum(dtype=np.int64)
        self.n_tokens = len(tokens)

    def starts(self, indices: Sequence[int]) -> list[TokenStart]:
        """Find where tokens begin; see `TokenizedText.starts`."""
        import numpy as np

        tokens = np.asarray(indices, dtype=np.int64)
        offsets = np.where(tokens > 0, self._ends[tokens - 1], 0)
        if self._text.isascii():
            return [TokenStart(offset, exact=True) for offset in offsets.tolist()]
        encoded = np.frombuffer(self._text.encode(), dtype=np.uint8)
        continues = (encoded >= min(_CONTINUATION_BYTES)) & (
            encoded <= max(_CONTINUATION_BYTES)
        )
        begun = offsets - np.searchsorted(np.flatnonzero(continues), offsets)
        inside = continues[offsets]
        pairs = zip((begun - inside).tolist(), (~inside).tolist(), strict=True)
        return [TokenStart(position, exact) for position, exact in pairs]


class HuggingFaceText:
    """Tokens with the offsets that a Hugging Face tokenizer reports.

    Several tokens of one character share its offset. Some tokenizers report an
    offset behind the space that the token holds (RoBERTa's `trim_offsets`), or
    none for a token that stands for no character; offsets that step back are
    read as those of the token before.

    Args:
        text: Without surrogates.
        tokenizer: Without truncation and padding.
    """

    def __init__(self, text: str, tokenizer: tokenizers.Tokenizer) -> None:
        self._encoding = tokenizer.encode(text, add_special_tokens=False)
        self.n_tokens = len(self._encoding)

    def starts(self, indices: Sequence[int]) -> list[TokenStart]:
        """Find where tokens begin; see `TokenizedText.starts`."""
        starts = []
        reached = 0
        for index in indices:
            start, end = self._span(index)
            reached = max(start, reached)
            _, before = self._span(index - 1) if index else (0, 0)
            starts.append(TokenStart(reached, before <= reached or before < end))
        return starts

    def steps(self, token: int, here: int, there: int) -> int:
        """Count the tokens between two characters; see `TokenizedText.steps`."""
        passed = 0
        if there < here:
            while token > passed and self._span(token - passed - 1)[0] >= there:
                passed += 1
        else:
            left = self.n_tokens - token
            while passed < left and self._span(token + passed)[0] < there:
                passed += 1
        return passed

    def _span(self, index: int) -> tuple[int, int]:
        span: tuple[int, int] | None = self._encoding.token_to_chars(index)
        return span or (0, 0)


def _has_numpy(encoding: tiktoken.Encoding) -> bool:
    """Whether numpy is installed, and a tiktoken (0.9 or newer) that works with it."""
    if not hasattr(encoding, "encode_to_numpy"):
        return False
    try:
        require("numpy", extra="langchain", purpose="Fast splitting")
    except MissingDependencyError:
        return False
    return True


@lru_cache(maxsize=4)
def _byte_lengths(encoding: tiktoken.Encoding) -> list[int]:
    """Bytes of each token by its number, 0 for numbers that are not used."""
    lengths = [0] * encoding.n_vocab
    for token in range(encoding.n_vocab):
        try:
            lengths[token] = len(encoding.decode_single_token_bytes(token))
        except KeyError:
            continue
    return lengths


@lru_cache(maxsize=4)
def _byte_length_array(encoding: tiktoken.Encoding) -> Any:
    import numpy as np

    return np.array(_byte_lengths(encoding), dtype=np.int32)
