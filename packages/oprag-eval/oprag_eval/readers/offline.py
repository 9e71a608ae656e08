"""A reader without a language model, so that everything runs without one.

It does not understand its texts: it gives the sentence that shares most words with the
question. It serves to see that a run works from end to end, and to compare the evidence
in contexts. The order of passages makes no difference to it, and its scores say nothing
about how a language model would do.
"""

from __future__ import annotations

import re
import string
from collections.abc import Sequence

from oprag.calls import SENTINEL, TokenUsage
from oprag.splitting import punkt_sentence_spans
from oprag.tokens import TokenizerSpec, resolve_token_counter
from oprag_eval.artifacts import best_first
from oprag_eval.metrics.short_answers import answer_words
from oprag_eval.models import OFFLINE, Call, Completion, Model

_BLANK_LINE = re.compile(r"\n\s*\n")
_LONG_ANSWER = 3
"""Sentences of a long answer."""
_GIST_PARTS = 4
"""A gist has a quarter of its page's tokens, if a call does not say."""
_NEAR = 0.2
"""Nearness up to which it declines."""


class OfflineReader(Model):
    """Replies with sentences of the text it is given. It is not a language model.

    By kind of call:

    - `answer`, `short_answer`: the sentence nearest to the question;
    - `choice`: the letter of the option that, put after the question, is nearest to
      some sentence;
    - `explained_choice`: the number of that option as `[[n]]`, without explanation;
    - `long_answer`: the three sentences nearest to the question, unchanged;
    - these decline, with the word *unanswerable*, if no sentence is near;
    - `summary`, `gist`: the first sentences, as many as the reply may have tokens; a
      gist without a limit has a quarter of its page's;
    - `look_up`: the page whose gist has the sentence nearest to the question;
    - `page_break`: the last that is offered.

    A sentence of m words that shares s with a text of n is at s / √(m n), each word
    counted once. Of equal sentences, options and pages the first is taken.

    Args:
        token_counter: Counts prompts and replies; None for cl100k.
    """

    name = OFFLINE

    def __init__(self, *, token_counter: TokenizerSpec = None) -> None:
        self._count = resolve_token_counter(token_counter)

    async def complete(self, call: Call) -> Completion:
        """Reply to one call; its tokens are counted, and marked as estimated."""
        text = self._reply(call)
        most = call.max_output_tokens
        words = text.split(" ")
        while most is not None and len(words) > 1 and self._count(text) > most:
            words = words[: len(words) * 3 // 4]
            text = " ".join(words)
        tokens = self._count(call.prompt), self._count(text)
        return Completion(text, TokenUsage(*tokens, estimated=True))

    def _reply(self, call: Call) -> str:
        facts = call.facts
        if call.kind == "page_break":
            return f"<{len(facts['breaks'])}>"
        if call.kind == "look_up":
            pages = [
                _nearness(_sentences(g), facts["question"]) for g in facts["gists"]
            ]
            near = [max(page, default=0) for page in pages] or [0]  # a blank document
            return f"[{best_first(near)[0] + 1}]"
        if call.kind in ("summary", "gist"):
            return self._beginning(facts["text"], call.max_output_tokens)
        if call.kind in ("choice", "explained_choice"):
            return _choice(call)
        read = _sentences(facts["long_answer" if "context" not in facts else "context"])
        near = _nearness(read, facts["question"])
        most = _LONG_ANSWER if call.kind == "long_answer" else 1
        chosen = [place for place in best_first(near)[:most] if near[place] > _NEAR]
        return " ".join(read[place] for place in sorted(chosen)) or SENTINEL

    def _beginning(self, text: str, most: int | None) -> str:
        most = most or self._count(text) // _GIST_PARTS
        kept = ""
        for sentence in _sentences(text):
            longer = f"{kept} {sentence}".strip()
            if kept and self._count(longer) > most:
                break
            kept = longer
        return kept


def _choice(call: Call) -> str:
    facts = call.facts
    read = _sentences(facts["context"])
    near = [
        max(_nearness(read, f"{facts['question']} {option}"), default=0.0)
        for option in facts["options"]
    ]
    place = best_first(near)[0]
    if near[place] <= _NEAR:
        return SENTINEL
    letter = string.ascii_uppercase[place]
    return letter if call.kind == "choice" else f"[[{place + 1}]]"


def _sentences(text: str) -> list[str]:
    """Split a text, each sentence on one line; a blank line ends a sentence."""
    return [
        " ".join(part[start:end].split())
        for part in _BLANK_LINE.split(text)
        for start, end in punkt_sentence_spans(part)
    ]


def _nearness(sentences: Sequence[str], text: str) -> list[float]:
    wanted = {*answer_words(text)}
    found = [{*answer_words(sentence)} for sentence in sentences]
    return [
        len(words & wanted) / (len(words) * len(wanted) or 1) ** 0.5 for words in found
    ]
