"""Starts of the tokens of a text, in characters."""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from functools import lru_cache
from itertools import accumulate
from operator import itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from oprag.tokens.counters import encodable, tiktoken_tokens
from oprag.tokens.joints import (
    ENDS_OF_WORDS,
    IN_WORDS,
    VISIBLE,
    Joints,
    joints_of_huggingface,
    joints_of_tiktoken,
)
from oprag.tokens.tiktoken_files import is_encoding

if TYPE_CHECKING:
    import tiktoken
    import tokenizers

_CONTINUATION_BYTES = bytes(range(0x80, 0xC0))
"""The bytes that follow the first of a character in UTF-8."""


class TokenStart(NamedTuple):
    """The start of a token in its text."""

    position: int
    """In characters; rounded down if the token begins inside a code point."""
    exact: bool
    """Whether the token begins with a character. It does not if it begins inside one,
    or if the token before begins the same one."""


class Ends(NamedTuple):
    """A part of a text, in three: between its ends the tokens are those of the text."""

    head: str
    """The text before its first joint."""
    n_tokens: int
    """Tokens of the text between that and its last joint."""
    tail: str
    """The text after its last joint."""


class TiktokenText:
    """Tokens of a byte-level encoding, which together are the text's UTF-8 bytes."""

    n_tokens: int
    """Number of tokens, special tokens around the text not included."""

    def __init__(self, text: str, encoding: tiktoken.Encoding) -> None:
        self._text = text
        self._tokens = tiktoken_tokens(encoding, text)
        self._ends: Sequence[int] | None = _byte_ends(self._tokens, encoding)
        self.n_tokens = len(self._tokens)
        self._encoded = text.encode()
        self._encoding = encoding
        self._sides = _sides(encoding)
        # Token, byte and character of the places asked for before, ascending.
        self._found = [(0, 0, 0)]
        self._asked = (0, 0)

    def ends(self, first: int, last: int) -> Ends | None:
        """Divide a part of the text, from its token `first` up to `last`, at joints.

        Args:
            first: A token that begins with a character.
            last: Another one after it, or the number of tokens.

        Returns:
            None if no two joints are known.
        """
        opening, closing = self._joints_between(first, last)
        if closing == opening:
            return None
        tokens, read = self._tokens, self._encoding.decode_bytes
        head = read(tokens[first:opening]).decode() if opening > first else ""
        tail = read(tokens[closing:last]).decode() if closing < last else ""
        return Ends(head, closing - opening, tail)

    def part_ends(self, start: int, end: int) -> Ends | None:
        """Divide a part of the text, by its characters, at joints; as `ends` does."""
        if self._sides is None:
            return None
        if self._ends is None:
            lengths = map(_byte_lengths(self._encoding).__getitem__, self._tokens)
            self._ends = [*accumulate(lengths)]
        ends, n_tokens = self._ends, self.n_tokens
        first, last = self._byte(start), self._byte(end)
        opening = bisect_left(ends, first) + 1 if first else 0
        closing = n_tokens
        if end < len(self._text):
            # The character after its blank makes a joint, so it has to be there.
            closing = bisect_right(ends, last)
            closing -= ends[closing - 1] == last - 1
        opening, closing = self._joints_between(opening, closing)
        if closing <= opening:
            return None
        begun = ends[opening - 1] if opening else 0
        ended = ends[closing - 1]
        head, tail = self._encoded[first:begun], self._encoded[ended:last]
        return Ends(head.decode(), closing - opening, tail.decode())

    def _joints_between(self, first: int, last: int) -> tuple[int, int]:
        """Return the tokens that begin at the first joint and at the last one.

        Both are the same if no two are known.
        """
        sides, tokens = self._sides, self._tokens
        if sides is None:
            return first, first
        while first < last and not (
            first == 0 or sides[tokens[first]] & sides[tokens[first - 1]] >> _AFTER
        ):
            first += 1
        while last > first and not (
            last == self.n_tokens
            or sides[tokens[last]] & sides[tokens[last - 1]] >> _AFTER
        ):
            last -= 1
        return first, last

    def _byte(self, position: int) -> int:
        """Return the first byte of a character in UTF-8, from the last one found."""
        if len(self._encoded) == len(self._text):
            return position
        known, byte = self._asked
        if position >= known:
            byte += len(self._text[known:position].encode())
        else:
            byte -= len(self._text[position:known].encode())
        self._asked = position, byte
        return byte

    def starts(self, indices: Sequence[int]) -> list[TokenStart]:
        """Find the starts of tokens.

        Returns:
            One for each, positions never descending.
        """
        return [self.start(index) for index in indices]

    def _length(self, first: int, last: int) -> int:
        """Add up the bytes of some tokens."""
        if self._ends is not None:
            return self._ends[last - 1] - (self._ends[first - 1] if first else 0)
        # The fastest way. It takes two at least, so twice the one without bytes.
        several = itemgetter(-1, -1, *self._tokens[first:last])
        return sum(several(_byte_lengths(self._encoding)))

    def start(self, index: int) -> TokenStart:
        """Find the start of one token."""
        encoded, found = self._encoded, self._found
        token, offset, begun = found[-1]
        if index < token:
            token, offset, begun = found[bisect_left(found, (index + 1,)) - 1]
        if index > token:
            length = self._length(token, index)
            passed = encoded[offset : offset + length]
            if not passed.isascii():
                passed = passed.translate(None, _CONTINUATION_BYTES)
            offset += length
            begun += len(passed)
            if index > found[-1][0]:
                found.append((index, offset, begun))
        inside = encoded[offset] in _CONTINUATION_BYTES
        return TokenStart(begun - inside, not inside)


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
        self._text = text
        self._joints = joints_of_huggingface(tokenizer)

    def ends(self, first: int, last: int) -> Ends | None:
        """Divide a part of the text at joints; see `TiktokenText.ends`."""
        start = self._span(first)[0] if first else 0
        end = self._span(last)[0] if last < self.n_tokens else len(self._text)
        return self._divide(first, last, start, end)

    def part_ends(self, start: int, end: int) -> Ends | None:
        """Divide a part of the text, by its characters, at joints; as `ends` does."""
        first = self._token_from(start) if start else 0
        last = self._token_from(end) if end < len(self._text) else self.n_tokens
        return self._divide(first, last, start, end)

    def _token_from(self, position: int) -> int:
        """Return the first token that begins at a place or after it."""
        every = range(self.n_tokens)
        return bisect_left(every, position, key=lambda index: self._span(index)[0])

    def _divide(self, first: int, last: int, start: int, end: int) -> Ends | None:
        if self._joints is Joints.NONE:
            return None
        opening, closing = first, last
        begun = self._joint(opening, start)
        while opening < last and (begun is None or begun < start):
            opening += 1
            begun = self._joint(opening, start)
        ended = self._joint(closing, end)
        # The character after its blank makes a joint, so the part has to hold it.
        while closing > opening and (
            ended is None or not (ended == end or ended + 1 < end)
        ):
            closing -= 1
            ended = self._joint(closing, end)
        if closing == opening or begun is None or ended is None:
            return None
        head, tail = self._text[start:begun], self._text[ended:end]
        return Ends(head, closing - opening, tail)

    def _joint(self, index: int, wanted: int) -> int | None:
        """Return the joint at which a token begins; of two, the one that is wanted."""
        text = self._text
        if index == 0:
            return 0
        if index == self.n_tokens:
            return len(text)
        encoding = self._encoding
        if encoding.token_to_word(index) == encoding.token_to_word(index - 1):
            return None
        start, _ = self._span(index)
        blank = start if text.startswith(" ", start) else start - 1
        before, *others = [*text[max(blank - 1, 0) : blank + 2], ""]
        if before not in VISIBLE or others[0] != " " or others[1] not in VISIBLE:
            return None
        if self._span(index - 1)[1] > blank:  # the blank is a token by itself
            return None
        is_behind = self._joints is Joints.AROUND and wanted == blank + 1
        return wanted if is_behind else blank

    def starts(self, indices: Sequence[int]) -> list[TokenStart]:
        """Find the starts of tokens; see `TiktokenText.starts`."""
        starts = []
        reached = 0
        for index in indices:
            start, end = self._span(index)
            reached = max(start, reached)
            _, before = self._span(index - 1) if index else (0, 0)
            starts.append(TokenStart(reached, before <= reached or before < end))
        return starts

    def start(self, index: int) -> TokenStart:
        """Find the start of one token."""
        return self.starts([index])[0]

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


_AFTER = 2
"""Bits by which the flags of a token's end are shifted, above those of its start."""


@lru_cache(maxsize=8)
def _sides(encoding: tiktoken.Encoding) -> bytes | None:
    """Return the flags of each token by its number; None if there are no joints.

    There is a joint between two tokens if the first ends and the second begins with the
    same flag, one for each kind: see `Joints.BEFORE` and `Joints.WORDS`.
    """
    if joints_of_tiktoken(encoding) is Joints.NONE:
        return None
    sides = bytearray(encoding.n_vocab)
    for token, length in enumerate(_byte_lengths(encoding)):
        if length:
            read = encoding.decode_single_token_bytes(token).decode("latin-1")
            before_blank = read[0] == " " and length > 1 and read[1] in VISIBLE
            before_other = read[0].isascii() and read[0] not in IN_WORDS
            sides[token] = (
                before_blank
                | before_other << 1
                | (read[-1] in VISIBLE) << _AFTER
                | (read[-1] in ENDS_OF_WORDS) << _AFTER + 1
            )
    return bytes(sides)


def _byte_ends(tokens: Sequence[int], encoding: tiktoken.Encoding) -> Any:
    """Return the ends of an array's tokens, in bytes; None for those of a list."""
    if not isinstance(tokens, array):
        return None
    import numpy as np  # which made the array

    lengths = _byte_lengths_as_array(encoding)[np.frombuffer(tokens, np.uint32)]
    return memoryview(lengths.cumsum())  # gives Python's own numbers, and faster


@lru_cache(maxsize=8)
def _byte_lengths_as_array(encoding: tiktoken.Encoding) -> Any:
    import numpy as np

    return np.array(_byte_lengths(encoding))


@lru_cache(maxsize=8)
def _byte_lengths(encoding: tiktoken.Encoding) -> list[int]:
    """Return the bytes of each token by its number, 0 for unused ones, and a last 0."""
    lengths = [0] * (encoding.n_vocab + 1)
    for token in range(encoding.n_vocab):
        try:
            lengths[token] = len(encoding.decode_single_token_bytes(token))
        except KeyError:
            continue
    return lengths
