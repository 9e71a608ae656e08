"""The words of a text that BM25 compares, in any script.

The text is lower-cased, and cut at every character that is no letter, no digit and no
mark on a letter. Scripts without blanks between words (Chinese, Japanese, Thai, Lao,
Burmese, Khmer), and Korean, are cut into pairs of neighbouring characters. English
function words and single letters are left out.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection

_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff"
    "\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
)
_MARKS = "\u0300-\u036f\u0591-\u05c7\u064b-\u065f\u0670\u0900-\u0963\u0966-\u0dff"
"""Marks within words, and the scripts of India with theirs: for `re` they are no word
characters."""
_RUN = re.compile(f"[{_UNSPACED}]+")
_WORD = re.compile(rf"[{_UNSPACED}]+|[\w{_MARKS}]{{2,}}")


def words_of(text: str, stopwords: Collection[str]) -> list[str]:
    """Return the words of a text, with repetitions.

    Example:
        >>> words_of("The rent: 900 a month.", {"the"})
        ['rent', '900', 'month']
        >>> words_of("第7条 租金", set())
        ['第', '条', '租金']
    """
    text = unicodedata.normalize("NFKC", text).lower()
    if not _RUN.search(text):
        return [word for word in _WORD.findall(text) if word not in stopwords]
    words: list[str] = []
    for word in _WORD.findall(_RUN.sub(r" \g<0> ", text)):
        if len(word) > 1 and _RUN.match(word):
            words += [word[at : at + 2] for at in range(len(word) - 1)]
        elif word not in stopwords:
            words.append(word)
    return words
