"""Where the tokens of a text begin, in characters."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from functools import cached_property, lru_cache
from itertools import accumulate
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, cast

from oprag.errors import MissingDependencyError
from oprag.optional import require
from oprag.tokens.counters import NamedTokenCounter, counts_by_tokenizer, encodable
from oprag.tokens.huggingface import joints_at_white_space
from oprag.tokens.tiktoken_files import is_encoding, joints_of_encoding

if TYPE_CHECKING:
    import tiktoken
    import tokenizers

_CONTINUATION_BYTES = bytes(range(0x80, 0xC0))
"""What follows the first byte of a character in UTF-8."""
_NUMPY_PAYS_FROM = 200_000
"""Characters. Below, importing numpy and making the table costs more than it saves."""
_PIECE = 5_000
"""Characters that a Hugging Face tokenizer is given at a time, at least."""
_AFTER_CONTINUATIONS = -0x40
"""Their bytes are those below, read as signed numbers."""


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
    if _numpy_pays(text, tokenizer):
        return TiktokenArray(text, tokenizer)
    return TiktokenText(text, tokenizer)


class TiktokenText:
    """Tokens of a byte-level encoding, which together are the text's UTF-8 bytes."""

    def __init__(self, text: str, encoding: tiktoken.Encoding) -> None:
        self._text = text
        self._tokens: Sequence[int] = encoding.encode_ordinary(text)
        self._length_of: Callable[[int], int] = _byte_lengths(encoding).__getitem__
        self.n_tokens = len(self._tokens)
        self._encoded = text.encode()
        # Token, byte and character of what was asked for before, ascending.
        self._found = [(0, 0, 0)]

    def starts(self, indices: Sequence[int]) -> list[TokenStart]:
        """Find where tokens begin; see `TokenizedText.starts`."""
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

    def steps(self, token: int, here: int, there: int) -> int:
        """Count the tokens between two characters; see `TokenizedText.steps`."""
        passed = 0
        if there < here:
            left = len(self._text[there:here].encode())
            while left > 0:
                passed += 1
                left -= self._length_of(self._tokens[token - passed])
        else:
            left = len(self._text[here:there].encode())
            while left > 0:
                left -= self._length_of(self._tokens[token + passed])
                passed += 1
        return passed


class TiktokenArray(TiktokenText):
    """The same, without a Python object per token."""

    def __init__(self, text: str, encoding: tiktoken.Encoding) -> None:
        import numpy as np

        self._text = text
        tokens = encoding.encode_to_numpy(text, disallowed_special=())
        lengths = _byte_length_array(encoding)
        self._tokens = cast("Sequence[int]", tokens)
        self._length_of = lengths.item
        self._ends = lengths.take(tokens).cumsum(dtype=np.int64)
        self.n_tokens = len(tokens)

    def starts(self, indices: Sequence[int]) -> list[TokenStart]:
        """Find where tokens begin; see `TokenizedText.starts`."""
        import numpy as np

        tokens = np.asarray(indices, dtype=np.int64)
        offsets = np.where(tokens > 0, self._ends[tokens - 1], 0)
        if self._text.isascii():
            return [TokenStart(offset, exact=True) for offset in offsets.tolist()]
        continues, places = self._continuations
        begun = offsets - np.searchsorted(places, offsets)
        inside = continues[offsets]
        pairs = zip((begun - inside).tolist(), (~inside).tolist(), strict=True)
        return list(map(TokenStart._make, pairs))

    def tokens_before(self, places: Sequence[int]) -> list[int]:
        """Count the tokens before places, in characters, where tokens begin."""
        import numpy as np

        offsets = np.asarray(places, dtype=np.int64)
        if not self._text.isascii():
            # Of each continuation byte, the characters begun before it.
            _, continues = self._continuations
            begun = continues - np.arange(len(continues))
            offsets = offsets + np.searchsorted(begun, offsets, side="right")
        counts: list[int] = np.searchsorted(self._ends, offsets, side="right").tolist()
        return counts

    @cached_property
    def _continuations(self) -> tuple[Any, Any]:
        """Which bytes of the text begin no character: as booleans, and their places."""
        import numpy as np

        encoded = np.frombuffer(self._text.encode(), dtype=np.int8)
        continues = encoded < _AFTER_CONTINUATIONS
        return continues, np.flatnonzero(continues)


class HuggingFaceText:
    """Tokens with the offsets that a Hugging Face tokenizer reports.

    Several tokens of one character share its offset. Some tokenizers report an
    offset behind the space that the token holds (RoBERTa's `trim_offsets`), or
    none for a token that stands for no character; offsets that step back are
    read as those of the token before.

    A long text is tokenised in pieces where that changes nothing (BERT's kind of
    WordPiece): that takes less time than all at once, and as many threads as
    Hugging Face may take (`TOKENIZERS_PARALLELISM`, `RAYON_NUM_THREADS`).

    Args:
        text: Without surrogates.
        tokenizer: Without truncation and padding.
    """

    def __init__(self, text: str, tokenizer: tokenizers.Tokenizer) -> None:
        self._offsets = _piece_starts(text, joints_at_white_space(tokenizer))
        if len(text) < _PIECE:
            self._encodings = [tokenizer.encode(text, add_special_tokens=False)]
        else:  # which lets other threads run meanwhile
            ends = [*self._offsets[1:], len(text)]
            pieces = [text[a:b] for a, b in zip(self._offsets, ends, strict=True)]
            self._encodings = tokenizer.encode_batch(pieces, add_special_tokens=False)
        self._firsts = list(accumulate(map(len, self._encodings), initial=0))
        self.n_tokens = self._firsts[-1]

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
        piece = bisect_right(self._firsts, index) - 1
        encoding, offset = self._encodings[piece], self._offsets[piece]
        span = encoding.token_to_chars(index - self._firsts[piece])
        return (offset + span[0], offset + span[1]) if span else (0, 0)


def _piece_starts(text: str, joints: re.Pattern[str] | None) -> list[int]:
    """Where to cut a text whose parts are tokenised apart; 0 alone: nowhere."""
    starts = [0]
    while joints and (found := joints.search(text, starts[-1] + _PIECE)):
        starts.append(found.start() + 1)
    return starts


def _numpy_pays(text: str, encoding: tiktoken.Encoding) -> bool:
    """Whether a text is long, and numpy and a tiktoken from 0.9 on are installed."""
    if len(text) < _NUMPY_PAYS_FROM or not hasattr(encoding, "encode_to_numpy"):
        return False
    try:
        require("numpy", extra="langchain", purpose="Fast splitting")
    except MissingDependencyError:
        return False
    return True


def joints_of(counter: NamedTokenCounter) -> re.Pattern[str] | None:
    """Return where the counts of a counter add up, if that is known.

    Returns:
        A pattern of two characters: `count(a + b) == count(a) + count(b)` wherever it
        matches the last of `a` and the first of `b`. A space after a printable ASCII
        character always is such a place. Known of the encodings that tiktoken defines
        and of BERT's kind of WordPiece.
    """
    if not counts_by_tokenizer(counter):
        return None
    if is_encoding(counter.tokenizer):
        return joints_of_encoding(counter.tokenizer)
    return joints_at_white_space(counter.tokenizer)


def tokens_before(
    text: str, places: Sequence[int], counter: NamedTokenCounter
) -> list[int]:
    """Count the tokens before places where counts add up.

    Args:
        text: Any text.
        places: In characters, ascending: joints of the counter, or the text's end.
        counter: The counter.
    """
    if is_encoding(counter.tokenizer) and _numpy_pays(text, counter.tokenizer):
        tokenized = TiktokenArray(encodable(text), counter.tokenizer)
        return tokenized.tokens_before(places)
    parts = zip([0, *places[:-1]], places, strict=True)
    return list(accumulate(counter.count(text[start:end]) for start, end in parts))


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
