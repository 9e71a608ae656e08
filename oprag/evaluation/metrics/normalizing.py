"""Answers as words: what the scores of short answers do not look at."""

from __future__ import annotations

import re
import string

_ARTICLES = re.compile(r"\b(a|an|the)\b")
_NO_PUNCTUATION = str.maketrans("", "", string.punctuation)


def answer_words(text: str) -> list[str]:
    """Split an answer into the words that count.

    In this order: lower case; ASCII punctuation deleted (so that `U.S.` is `us`);
    the words *a*, *an* and *the* replaced by a blank; split on blanks.

    Source:
        SQuAD's evaluation script, as ∞Bench uses it (`normalize_answer` in its
        `compute_scores.py`).
    """
    bare = text.lower().translate(_NO_PUNCTUATION)
    return _ARTICLES.sub(" ", bare).split()
