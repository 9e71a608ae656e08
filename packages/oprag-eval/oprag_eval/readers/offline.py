"""A reader without a language model, so that everything runs without one.

It does not understand what it reads: it gives the sentence whose embedding is nearest
to the question's. What it is good for is to see that a run works from end to end, and
to compare what contexts hold. The order of passages makes no difference to it, and its
scores say nothing about how a language model would do.
"""

from __future__ import annotations

import re
import string
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from oprag.calls import SENTINEL, TokenUsage
from oprag.splitting import punkt_sentence_spans
from oprag.tokens import TokenizerSpec, resolve_token_counter
from oprag_eval.models import OFFLINE, Call, CallKind, Completion, Model
from oprag_eval.vectors import Matrix, Vectors, best_first

_BLANK_LINE = re.compile(r"\n\s*\n")
_WORD = re.compile(r"\w")


class Sentences(NamedTuple):
    """The sentences of a text, in reading order."""

    texts: tuple[str, ...]
    """Each on one line; those without a letter or digit are left out."""
    matrix: Matrix
    """One row per sentence, of length 1."""


def sentences_of(text: str, vectors: Vectors) -> Sentences:
    """Split a text and embed it; a blank line ends a sentence."""
    texts = [line for part in _BLANK_LINE.split(text) for line in _split(part)]
    return Sentences(tuple(texts), vectors.of_texts(texts))


def _split(paragraph: str) -> tuple[str, ...]:
    spans = punkt_sentence_spans(paragraph)
    lines = (" ".join(paragraph[start:end].split()) for start, end in spans)
    return tuple(line for line in lines if _WORD.search(line))


_LONG_ANSWER = 3
"""Sentences of a long answer."""
_GIST_PARTS = 4
"""A gist has a quarter of its page's tokens, where a call does not say."""


class OfflineReader(Model):
    """Replies with sentences of what it is given. It is not a language model.

    By kind of call:

    - `answer`, `short_answer`: the sentence nearest to the question;
    - `choice`: the letter of the option that, put behind the question, is nearest to
      some sentence;
    - `explained_choice`: the number of that option as `[[n]]`, without explanation;
    - `long_answer`: the three sentences nearest to the question, as they stand;
    - these decline, with the word *unanswerable*, where no sentence is as near
      as `threshold`;
    - `summary`, `gist`: the sentences nearest to the mean of all, as they stand, as
      many as the reply may have tokens; a gist without a limit has a quarter of its
      page's;
    - `look_up`: the page whose gist has the sentence nearest to the question;
    - `page_break`: the last that is offered.

    Of equal sentences, options and pages the first is taken. The same calls get the
    same replies.

    Args:
        vectors: Of the embedding model.
        token_counter: Counts prompts and replies; None for cl100k.
        threshold: Cosine below which it declines.
    """

    name = OFFLINE

    def __init__(
        self,
        vectors: Vectors,
        *,
        token_counter: TokenizerSpec = None,
        threshold: float = 0.5,
    ) -> None:
        self._vectors = vectors
        self._count = resolve_token_counter(token_counter)
        self._threshold = threshold
        self._replies: dict[CallKind, Callable[[Call], str]] = {
            "answer": self._answer,
            "choice": self._choice,
            "explained_choice": self._choice,
            "long_answer": self._answer,
            "short_answer": self._answer,
            "summary": self._summary,
            "gist": self._summary,
            "look_up": self._look_up,
            "page_break": lambda call: f"<{len(call.facts['breaks'])}>",
        }

    async def complete(self, call: Call) -> Completion:
        """Reply to one call; its tokens are counted, and marked as estimated."""
        text = self._cut(self._replies[call.kind](call), call.max_output_tokens)
        tokens = self._count(call.prompt), self._count(text)
        return Completion(text, TokenUsage(*tokens, estimated=True))

    def _answer(self, call: Call) -> str:
        read = "long_answer" if call.kind == "short_answer" else "context"
        most = _LONG_ANSWER if call.kind == "long_answer" else 1
        found = sentences_of(call.facts[read], self._vectors)
        near = _nearness(found, self._vectors.of_query(call.facts["question"]))
        chosen = [
            index for index in best_first(near)[:most] if near[index] > self._threshold
        ]
        return _in_order(found, chosen) or SENTINEL

    def _choice(self, call: Call) -> str:
        """The nearest option, by its letter or number."""
        question, options = call.facts["question"], call.facts["options"]
        found = sentences_of(call.facts["context"], self._vectors)
        queries = [self._vectors.of_query(f"{question} {each}") for each in options]
        best = [max(_nearness(found, query), default=-1.0) for query in queries]
        index = best_first(best)[0]
        if best[index] <= self._threshold:
            return SENTINEL
        letter = string.ascii_uppercase[index]
        return letter if call.kind == "choice" else f"[[{index + 1}]]"

    def _summary(self, call: Call) -> str:
        text = call.facts["text"]
        most = call.max_output_tokens or self._count(text) // _GIST_PARTS
        found = sentences_of(text, self._vectors)
        if not found.texts:
            return ""
        chosen: list[int] = []
        for index in best_first(_nearness(found, found.matrix.mean(axis=0))):
            if chosen and self._count(_in_order(found, [*chosen, index])) > most:
                break
            chosen.append(index)
        return _in_order(found, chosen)

    def _look_up(self, call: Call) -> str:
        query = self._vectors.of_query(call.facts["question"])
        pages = [sentences_of(gist, self._vectors) for gist in call.facts["gists"]]
        near = [max(_nearness(page, query), default=-1.0) for page in pages]
        return f"[{best_first(near)[0] + 1}]"

    def _cut(self, text: str, most: int | None) -> str:
        """The first words that fit; a reply is rarely too long."""
        words = text.split(" ")
        while most is not None and len(words) > 1 and self._count(text) > most:
            words = words[: len(words) * 3 // 4]
            text = " ".join(words)
        return text


def _nearness(found: Sentences, vector: Matrix) -> Matrix:
    if not found.texts:
        return np.zeros(0, dtype=np.float32)
    near: Matrix = found.matrix @ vector
    return near


def _in_order(found: Sentences, chosen: Sequence[int]) -> str:
    return " ".join(found.texts[index] for index in sorted(chosen))
