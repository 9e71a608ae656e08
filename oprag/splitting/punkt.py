"""Punkt's rules: which marks end a sentence, by a trained model.

The rules and the expressions are those of nltk 3.10.4. There they run in the package
`regex`, which reads two things differently from `re`: `_SPACE` and `_is_letter`.
"""

from __future__ import annotations

import re
import unicodedata
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

_SPACE = r"[^\S\x1c-\x1f]"
_NO_SPACE = r"[\S\x1c-\x1f]"
_NO_WORD = """[)";}\\]*:@'({\\[‘’“”«»?!]"""
_MANY = rf"(?:-{{2,}}|\.{{2,}}|(?:\.{_SPACE}){{2,}}\.)"

CANDIDATES = re.compile(
    rf"[.?!](?=(?P<after>{_NO_WORD}|{_SPACE}+(?P<following>{_NO_SPACE}+)))"
)
"""Characters that may end a sentence. The rules look at `after`; `following` begins
the next sentence, and is None without white space before it."""

CLOSING = re.compile(rf"""["')\]}}‘’“”«»]+?(?:{_SPACE}+|(?=--)|$)""", re.MULTILINE)
"""Quotes and brackets that follow a sentence's end and belong to it."""

_TOKENS = re.compile(
    rf"""{_MANY}
    | (?=[^("`{{\[:;&\#*@)}}\]\-,]) {_NO_SPACE}+?
      (?={_SPACE} | $ | {_NO_WORD} | {_MANY}
        | ,(?=$ | {_SPACE} | {_NO_WORD} | {_MANY}))
    | {_NO_SPACE}""",
    re.VERBOSE,
)
_NUMBER = re.compile(r"-?[.,]?\d[\d,.-]*\.?")
_NUMBER_KIND = "##number##"
_CIRCLED = re.compile("[Ⓐ-ⓩ🄰-🅉🅐-🅩🅰-🆉]")

_LOWER_FIRST = 1 << 4
_UPPER_INSIDE = 1 << 2
_UPPER = 1 << 1 | _UPPER_INSIDE | 1 << 3
_LOWER = _LOWER_FIRST | 1 << 5 | 1 << 6


class PunktModel(NamedTuple):
    """Punkt's model of a language; all words in lower case."""

    abbreviations: frozenset[str]
    """Without their last full stop."""
    collocations: frozenset[tuple[str, ...]]
    """Pairs: a word with a full stop after it, and a word that often follows it."""
    starters: frozenset[str]
    """Words that often begin sentences."""
    contexts: dict[str, int]
    """How a word was seen: bits for upper and lower case of its first letter, at the
    beginning of a sentence, inside one, or at an unknown place."""

    @classmethod
    def load(cls, folder: Path) -> PunktModel:
        """Load the four files of a language of nltk's `punkt_tab`.

        Raises:
            FileNotFoundError: One of them is not there.
        """

        def rows(name: str) -> list[str]:
            text = (folder / name).read_text(encoding="utf-8")
            return text.removesuffix("\n").split("\n")

        contexts = (row.split("\t") for row in rows("ortho_context.tab"))
        return cls(
            frozenset(rows("abbrev_types.txt")),
            frozenset(tuple(row.split("\t")) for row in rows("collocations.tab")),
            frozenset(rows("sent_starters.txt")),
            {word: int(seen) for word, seen in contexts},
        )

    def ends_sentence(self, context: str) -> bool:
        """Tell whether a sentence ends somewhere in a text before its last token."""
        tokens = [
            token
            for line in context.split("\n")
            if line.strip()
            for token in _TOKENS.findall(line)
        ]
        return any(self._is_end(*pair) for pair in pairwise(tokens))

    def _is_end(self, token: str, following: str) -> bool:
        ends = self._ends_by_itself(token)
        if not token.endswith("."):
            return bool(ends)
        kind = _drop_stop(_kind(token))
        next_kind = _kind(following)
        if self._ends_by_itself(following):
            next_kind = _drop_stop(next_kind)
        if (kind, next_kind) in self.collocations:
            return False
        begins = self._begins_sentence(following, next_kind)
        upper = following[0].isupper()
        if len(token) == len("A.") and _is_letter(token[0]):
            never_lower = not self.contexts.get(next_kind, 0) & _LOWER
            in_a_name = begins is None and upper and never_lower
            return bool(ends) and begins is not False and not in_a_name
        if ends is False and (begins or (upper and next_kind in self.starters)):
            return True
        return bool(ends) and not (kind == _NUMBER_KIND and begins is False)

    def _ends_by_itself(self, token: str) -> bool | None:
        """Tell whether a token ends a sentence, as far as the token itself shows.

        False for an abbreviation and for an ellipsis, for which the next token decides;
        None for a token that ends none whatever follows.
        """
        if token in {".", "?", "!"}:
            return True
        if token.endswith(".."):
            return None if token.strip(".") else False
        if not token.endswith("."):
            return None
        word = token[:-1].lower()
        known = self.abbreviations
        return word not in known and word.rpartition("-")[2] not in known

    def _begins_sentence(self, token: str, kind: str) -> bool | None:
        """Tell by its first letter if a token begins a sentence; None if unknown."""
        if token in {";", ":", ",", ".", "!", "?"}:
            return False
        seen = self.contexts.get(kind, 0)
        if token[0].isupper() and seen & _LOWER and not seen & _UPPER_INSIDE:
            return True
        if token[0].islower() and (seen & _UPPER or not seen & _LOWER_FIRST):
            return False
        return None


def _kind(token: str) -> str:
    token = token.lower()
    return _NUMBER_KIND if _NUMBER.fullmatch(token) else token


def _drop_stop(kind: str) -> str:
    return kind[:-1] if len(kind) > 1 and kind.endswith(".") else kind


def _is_letter(character: str) -> bool:
    r"""Tell whether `regex` finds `[^\W\d]`: marks too, and no superscript digits."""
    category = unicodedata.category(character)
    return (
        category[0] in "LM"
        or category in {"Nl", "Pc"}
        or character in "\u200c\u200d"
        or _CIRCLED.match(character) is not None
    )
