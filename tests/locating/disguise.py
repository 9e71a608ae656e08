"""Ground truth by construction: a copy of a text, all of its characters different.

A splitter run on the copy gives chunks that tell where they were taken from. For it
to cut the copy where it cuts the text, what it measures and what it cuts at must be
the same: white space and the characters named in `keep` stay as they are, and every
function that the splitter is given looks at the text under the disguise.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable
from functools import cache
from itertools import chain

import tiktoken

FIRST = 0x3400
"""The characters of the copy start here, beyond every punctuation mark but a few."""


@cache
def alphabet() -> list[str]:
    """Characters for a copy. Some splitters drop what cannot be printed."""
    chars = map(chr, chain(range(FIRST, 0xD800), range(0xE000, 0x110000)))
    return [char for char in chars if char.isprintable()]


class Disguise:
    """A copy of `text`, and the way back from it."""

    def __init__(self, text: str, keep: str = "") -> None:
        self.text = text
        self.solid = [i for i, char in enumerate(text) if not char.isspace()]
        chars = list(text)
        self.rank: dict[str, int] = {}
        self.original: dict[int, str] = {}
        news = [char for char in alphabet() if char not in keep]
        if len(self.solid) > len(news):
            raise ValueError(f"{len(self.solid)} characters are too many to tell apart")
        for k, (i, new) in enumerate(zip(self.solid, news, strict=False)):
            if text[i] not in keep and text[i].isprintable():
                chars[i] = new
                self.rank[new] = k
                self.original[ord(new)] = text[i]
        self.copy = "".join(chars)

    def reveal(self, part: str) -> str:
        """Return a part of the copy as it looks in the text."""
        return part.translate(self.original)

    def span(self, chunk: str) -> tuple[int, int] | None:
        """The first and last solid character of a chunk of the copy, in the text.

        None where the chunk holds no character of the copy that tells its place.
        """
        flat = "".join(chunk.split())
        for at, char in enumerate(flat):
            if char in self.rank:
                first = self.rank[char] - at
                return self.solid[first], self.solid[first + len(flat) - 1] + 1
        return None

    def cut(self, split: Callable[[str], Iterable[str]]) -> Callable[[str], list[str]]:
        """A function that cuts a text into adjacent parts, made to cut the copy."""

        def cut_copy(text: str) -> list[str]:
            parts, at = [], 0
            for part in split(self.reveal(text)):
                parts.append(text[at : at + len(part)])
                at += len(part)
            assert at == len(text)
            return parts

        return cut_copy


class Bare(Disguise):
    """No disguise: the text itself."""

    def __init__(self, text: str) -> None:
        self.text = self.copy = text

    def reveal(self, part: str) -> str:
        return part


class Tokens:
    """A tokenizer that cuts the copy where it would cut the text."""

    def __init__(self, disguise: Disguise, encoding: tiktoken.Encoding) -> None:
        self.disguise = disguise
        self.encoding = encoding

    def encode(self, text: str) -> list[int]:
        revealed = self.disguise.reveal(text)
        self.chars = text
        self.ends = [0]
        for char in revealed:
            self.ends.append(self.ends[-1] + len(char.encode()))
        self.tokens = [0]
        for token in self.encoding.encode(revealed, disallowed_special=()):
            size = len(self.encoding.decode_single_token_bytes(token))
            self.tokens.append(self.tokens[-1] + size)
        return list(range(len(self.tokens) - 1))

    def decode(self, tokens: list[int]) -> str:
        """The characters wholly inside the tokens, a mark for each that is broken."""
        start, end = self.tokens[tokens[0]], self.tokens[tokens[-1] + 1]
        first, last = bisect_left(self.ends, start), bisect_right(self.ends, end) - 1
        before = "\ufffd" if self.ends[first] != start else ""
        after = "\ufffd" if self.ends[last] != end else ""
        return before + self.chars[first:last] + after if first <= last else before
