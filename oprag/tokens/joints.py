r"""Joints: places at which the tokens on one side never depend on the other side.

A joint is before a single blank between two visible characters of ASCII: `a,| b`. In
encodings of tiktoken it is also between a letter or digit of ASCII and a character that
continues no word: `a|.` and `a|\n`. A text that is cut there has the tokens of both
sides, so that a part of a text is counted by its ends. Whether that holds is read off
the tokenizer: it has to cut there whatever else the text holds, and none of its steps
may look across. If that is not known, there are no joints.
"""

from __future__ import annotations

import json
import string
from collections.abc import Iterator, Mapping
from enum import Enum
from functools import lru_cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import tiktoken
    import tokenizers

VISIBLE = frozenset(map(chr, range(0x21, 0x7F)))
"""Characters that a joint is between."""
ENDS_OF_WORDS = frozenset(string.ascii_letters + string.digits)
IN_WORDS = ENDS_OF_WORDS | {"'"}
"""The only characters of ASCII that may continue a word after a letter or a digit."""


class Joints(Enum):
    """The places where a tokenizer has joints."""

    NONE = "nowhere that is known"
    WORDS = "before the blank, and at the ends of words"
    BEFORE = "before the blank"
    AROUND = "before the blank and behind it, which no token holds"


_BRANCHES = frozenset(
    r"""
'(?i:[sdmt]|ll|ve|re)
'(?:[sdmt]|ll|ve|re)
(?i:'s|'t|'re|'ve|'m|'ll|'d)
's
't
're
've
'm
'll
'd
_?\p{L}+
_?\p{L}++
_?[\p{L}]+
_?\p{N}+
_?\p{N}++
_?[\p{N}]+
\p{N}
\p{N}+
\p{N}{1,3}
\p{N}{1,3}+
[^\r\n\p{L}\p{N}]?\p{L}+
[^\r\n\p{L}\p{N}]?+\p{L}+
[^\r\n\p{L}\p{N}]?+\p{L}++
[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?
[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?
_?[^\s\p{L}\p{N}]+
_?[^\s\p{L}\p{N}]++
_?[^\s\p{L}\p{N}]+[\r\n]*
_?[^\s\p{L}\p{N}]++[\r\n]*
_?[^\s\p{L}\p{N}]++[\r\n]*+
_?[^\s\p{L}\p{N}]+[\r\n/]*
\s*[\r\n]
\s*[\r\n]+
\s++$
\s+(?!\S)
\s+
\s
""".replace("_", " ").split("\n")[1:-1]
)
"""Alternatives of the expressions that tokenizers cut texts with.

None of them matches a visible character with a blank after it, nor a letter or digit
with a character that continues no word, so that matches end at a joint. None looks
ahead from such a character, so that the text before a joint is matched the same alone
as within the whole text. None looks back.
"""

_PER_CHARACTER = {
    *("BertNormalizer", "Lowercase", "NFC", "NFD", "NFKC", "NFKD", "Nmt"),
    *("Precompiled", "StripAccents"),
}
"""Normalizers that change a character of ASCII in the same way whatever stands beside
it, if that is no mark."""
_PER_PIECE = {
    *("BertPreTokenizer", "ByteLevel", "Digits", "Punctuation", "Split"),
    *("Whitespace", "WhitespaceSplit"),
}
"""Pre-tokenizers that cut each given piece by itself."""
_DROPS_BLANKS = {"BertPreTokenizer", "Whitespace", "WhitespaceSplit"}
_MODELS = {"BPE", "Unigram", "WordLevel", "WordPiece"}
"""Models that read each piece by itself."""


@lru_cache(maxsize=32)
def joints_of_tiktoken(encoding: tiktoken.Encoding) -> Joints:
    """Return the joints of an encoding of tiktoken."""
    expression = getattr(encoding, "_pat_str", None)  # nothing public tells
    return Joints.WORDS if _is_proved(expression) else Joints.NONE


@lru_cache(maxsize=32)
def joints_of_huggingface(tokenizer: tokenizers.Tokenizer) -> Joints:
    """Return the joints of a Hugging Face tokenizer that is not changed any more."""
    try:
        normalizer = _describe_part(tokenizer.normalizer)
        cutting = _describe_part(tokenizer.pre_tokenizer)
    except Exception:  # noqa: BLE001 -- one that is written in Python describes nothing
        return Joints.NONE
    model = tokenizer.model
    proved = (
        type(model).__name__ in _MODELS
        and not getattr(model, "dropout", None)
        and all(map(_is_per_character, _parts(normalizer, "normalizers")))
        and all(map(_is_apart, tokenizer.get_added_tokens_decoder().values()))
    )
    return _joints_of_cutting(cutting) if proved else Joints.NONE


def _describe_part(part: Any) -> dict[str, Any]:
    """Return a part of a tokenizer as its file describes it; empty if it is none."""
    if part is None:
        return {}
    described: dict[str, Any] = json.loads(part.__getstate__())
    return described


def _parts(described: Mapping[str, Any], name: str) -> Iterator[Mapping[str, Any]]:
    if described.get("type") == "Sequence":
        for part in described[name]:
            yield from _parts(part, name)
    elif described:
        yield described


def _is_per_character(normalizer: Mapping[str, Any]) -> bool:
    if normalizer["type"] == "Replace":  # several blanks by one
        return bool(normalizer["pattern"] == {"Regex": " {2,}"})
    return normalizer["type"] in _PER_CHARACTER


def _is_apart(token: Any) -> bool:
    """Tell whether a token that is looked for in the text holds no joint.

    It may not take the blank after it either. One that takes the blank before it begins
    at a joint.
    """
    return " " not in token.content and not token.rstrip


def _joints_of_cutting(described: Mapping[str, Any]) -> Joints:
    first, *others = [*_parts(described, "pretokenizers")] or [{}]
    kind = first.get("type")
    if any(other["type"] not in _PER_PIECE for other in others):
        return Joints.NONE
    if kind in _DROPS_BLANKS:
        return Joints.AROUND
    if kind == "ByteLevel":
        return Joints.BEFORE if first.get("use_regex", True) else Joints.NONE
    if kind == "Metaspace":
        return Joints.BEFORE if first.get("split", True) else Joints.NONE
    if kind == "Split":
        isolates = first["behavior"] == "Isolated" and not first["invert"]
        proved = isolates and _is_proved(first["pattern"].get("Regex"))
        return Joints.BEFORE if proved else Joints.NONE
    return Joints.NONE


def _is_proved(expression: str | None) -> bool:
    return bool(expression) and _BRANCHES.issuperset(_alternatives(str(expression)))


def _alternatives(expression: str) -> Iterator[str]:
    """Divide a regular expression at each `|` that is in no group and no class."""
    depth = start = 0
    in_class = escaped = False
    for place, character in enumerate(expression):
        if escaped or character == "\\":
            escaped = not escaped
        elif in_class or character == "[":
            in_class = character != "]"
        elif character in "()":
            depth += 1 if character == "(" else -1
        elif character == "|" and not depth:
            yield expression[start:place]
            start = place + 1
    yield expression[start:]
