"""Starts of the tokens of a text, in characters."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from oprag.tokens.counters import encodable, tiktoken_tokens
from oprag.tokens.tiktoken_files import is_encoding

if TYPE_CHECKING:
    import tiktoken
    import tokenizers

_CONTINUATION_BYTES = bytes(range(0x80, 0xC0))
"""The bytes that follow the first of a character in UTF-8."""


class TokenStart(NamedTuple):
    """The start of a token in its text."""

    position: int
    """In characters; rounded down where the token begins inside a code point."""
    exact: bool
    """Whether the token begins with a character; not inside one, and not as a further
    token of one that the token before begins."""


class TiktokenText:
    """Tokens of a byte-level encoding, which together are the text's UTF-8 bytes."""

    n_tokens: int
    """Number of tokens, special tokens around the text not included."""

    def __init__(self, text: str, encoding: tiktoken.Encoding) -> None:
        self._text = text
        self._tokens = tiktoken_tokens(encoding, text)
        self._length_of: Callable[[int], int] = _byte_lengths(encoding).__getitem__
        self.n_tokens = len(self._tokens)
        self._encoded = text.encode()
        # Token, byte and character of what was asked for before, ascending.
        self._found = [(0, 0, 0)]

    def starts(self, indices: Sequence[int]) -> list[TokenStart]:
        """Find where tokens begin.

        Returns:
            One for each, positions never descending.
        """
        encoded, found = self._encoded, self._found
        starts = []
        nearest = bisect_left(found, (indices[0] + 1,)) - 1 if indices else 0
        token, offset, begun = found[nearest]
        for index in indices:
            length = sum(map(self._length_of, self._tokens[token:index]))
            passed = encoded[offset : offset + length]
            if not passed.isascii():
                passed = passed.translate(None, _CONTINUATION_BYTES)
            begun += len(passed)
            token, offset = index, offset + length
            if token > found[-1][0]:
                found.append((token, offset, begun))
            inside = encoded[offset] in _CONTINUATION_BYTES
            starts.append(TokenStart(begun - inside, not inside))
        return starts


class HuggingFaceText:
    """Tokens with the offsets that a Hugging Face tokenizer reports.

    Several tokens of one character share its offset. Some tokenizers report an
    offset after the space that the token holds (RoBERTa's `trim_offsets`), or
    none for a token without a character; offsets that step back are
    read as those of the token before.
    """

    def __init__(self, text: str, tokenizer: tokenizers.Tokenizer) -> None:
        # A batch, because it lets other threads run meanwhile.
        (self._encoding,) = tokenizer.encode_batch([text], add_special_tokens=False)
        self.n_tokens = len(self._encoding)

    def starts(self, indices: Sequence[int]) -> list[TokenStart]:
        """Find where tokens begin; see `TiktokenText.starts`."""
        starts = []
        reached = 0
        for index in indices:
            start, end = self._span(index)
            reached = max(start, reached)
            _, before = self._span(index - 1) if index else (0, 0)
            starts.append(TokenStart(reached, before <= reached or before < end))
        return starts

    def _span(self, index: int) -> tuple[int, int]:
        return self._encoding.token_to_chars(index) or (0, 0)


TokenizedText: TypeAlias = TiktokenText | HuggingFaceText
"""A text and its tokens. `n_tokens` may be 0 for white space."""


def tokenize(text: str, tokenizer: Any) -> TokenizedText:
    """Tokenise a text once, with the offsets of its tokens."""
    text = encodable(text)
    if is_encoding(tokenizer):
        return TiktokenText(text, tokenizer)
    return HuggingFaceText(text, tokenizer)


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
