"""What counts as a refusal: the rules, and the verdict on a whole reply.

Self-Route (arXiv 2407.16833) lets the model decline with one word, and models
wrap that word: quoted, bold, followed by a reason, inside a short sentence. The
paper does not say how such replies are read; these rules do.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import NamedTuple

from oprag.calls import SENTINEL, without_reasoning
from oprag.errors import InvalidOptionError

_GAP = r"[\s,:;\u2014\u2013-]+"
"""Between two words of a sentence."""


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


@dataclass(frozen=True)
class DeclineRules:
    """The words and marks by which a refusal is recognised; English by default.

    Everything is compared without case, blanks beyond one, and `marks`. Replace
    the word lists for another language; an empty list switches its form off.
    Words may be phrases ("based on").
    """

    sentinels: tuple[str, ...] = (SENTINEL,)
    """What the model was told to write when it declines; at least one."""
    marks: str = "\"'`´“”‘’„‚«»‹›「」『』*_~#>[]()\u200b\ufeff"
    """Quotes and Markdown marks: removed wherever they stand."""
    bullets: str = "-+•"
    """Removed at the start only, with blanks."""
    labels: tuple[str, ...] = ("answer", "final answer", "short answer", "response")
    """Echoes of the prompt's last line, removed at the start before a colon."""
    followers: str = ".,:;\u2014\u2013-"
    """Right after the sentinel they make it a refusal, as a line break does,
    whatever comes then."""
    continuations: tuple[str, ...] = (
        *("based on", "given", "from", "according to", "because", "since", "as"),
        *("in", "with"),
    )
    """After the sentinel and a blank they do the same."""
    introductions: tuple[str, ...] = _words(
        "based on only solely purely strictly according to given from in with by "
        "using the this that these those provided supplied retrieved available above "
        "text texts context passage passages document documents excerpt excerpts "
        "article story book information content source sources alone "
        "unfortunately regrettably sorry i i'm am but so thus therefore hence however"
    )
    """Of these alone a sentence may consist before its subject."""
    qualifiers: tuple[str, ...] = _words(
        "the this that your our user's given provided above following original final "
        "only possible correct posed asked being user you to for"
    )
    """Words that may stand about the subject ("the answer to the question")."""
    subjects: tuple[str, ...] = _words("question query answer request it this that")
    """What a refusal in the form of a sentence speaks of."""
    predicates: tuple[str, ...] = _words(
        "is was remains seems appears must should would"
    )
    """The verb between subject and sentinel."""
    contractions: tuple[str, ...] = ("it's", "that's")
    """Subject and verb in one word."""
    adverbs: tuple[str, ...] = _words(
        "therefore thus hence so then also still just simply clearly currently indeed "
        "probably likely essentially effectively entirely completely strictly "
        "technically unfortunately to be considered deemed regarded treated marked "
        "labeled labelled classified as left"
    )
    """Words that may stand between the verb and the sentinel; no negation."""
    reasons: tuple[str, ...] = _words(
        "by using within without due under on at for here so unless when if through "
        "solely only purely strictly alone the no there it nothing neither none sorry"
    )
    """As `continuations`, after the sentinel inside a sentence only."""
    max_words: int = 15
    """The longest sentence, in words, that can be a refusal."""
    reasoning_tags: tuple[tuple[str, str], ...] = (("<think>", "</think>"),)
    """Opening and closing mark of reasoning that some servers send as text before
    the reply. It is skipped; empty: such a block is text as any other."""

    def __post_init__(self) -> None:
        """Reject what could never match or would match everything.

        Raises:
            InvalidOptionError: There is no sentinel or nothing but marks in one,
                or a list of words was given as one string.
        """
        for field in fields(self):
            value = getattr(self, field.name)
            if isinstance(field.default, tuple) and not isinstance(value, tuple):
                raise InvalidOptionError(
                    f"{field.name} must be a tuple, not {value!r}",
                    option=field.name,
                    value=value,
                )
        if not self.sentinels or not all(map(self.fold, self.sentinels)):
            raise InvalidOptionError(
                f"every sentinel needs at least one letter; given: {self.sentinels!r}",
                option="sentinels",
                value=self.sentinels,
            )

    def fold(self, text: str) -> str:
        """Take off case, marks and bullets; make each run of blanks one character.

        A run with a line break in it becomes a line break, any other a space.
        Leading blanks go; one trailing blank stays.
        """
        bare = text.translate(dict.fromkeys(map(ord, self.marks))).casefold()
        return re.sub(r"\s+", _one_blank, bare).lstrip(self.bullets + " \n")


def _one_blank(run: re.Match[str]) -> str:
    return "\n" if {"\n", "\r"} & set(run[0]) else " "


def is_refusal(text: str | None, rules: DeclineRules | None = None) -> bool:
    """Say whether a whole reply declines to answer.

    After reasoning blocks, case, marks, bullets and a label ("Answer:") are taken
    off, a reply is a refusal when

    1. nothing is left: an empty reply answers nothing, so the question goes on;
    2. it is a sentinel alone, with or without an exclamation mark;
    3. it begins with a sentinel, and one of the `followers`, a line break or one
       of the `continuations` comes next, whatever comes then;
    4. it is one sentence of at most `max_words` words: perhaps an introduction
       ("Based on the text,"), a subject, a predicate, a sentinel, and then the
       end, a colon, semicolon or dash, or one of the `continuations` or `reasons`.

    Anything else is an answer, whatever words it holds.

    Args:
        text: The reply. None counts as empty.
        rules: Words and marks; None: English, with the sentinel "unanswerable".

    Returns:
        True for a refusal.
    """
    rules = rules or DeclineRules()
    folded = rules.fold(without_reasoning(text or "", rules.reasoning_tags))
    grammar = _grammar(rules)
    if not folded or grammar.lead.match(folded):
        return True
    # Cheap checks first: answers are long and would be searched in vain.
    if len(re.findall(r"\w[^\s,:;\u2014\u2013]*", folded)) > rules.max_words:
        return False
    several = re.search(r"[.!…]\s\S|\?", folded)
    return not several and bool(grammar.sentence.match(folded))


class _Grammar(NamedTuple):
    lead: re.Pattern[str]
    sentence: re.Pattern[str]


@functools.lru_cache(maxsize=64)
def _grammar(rules: DeclineRules) -> _Grammar:
    """Compile the rules. Both patterns are for `match` on folded text."""

    def any_of(*lists: Iterable[str]) -> str:
        words = {rules.fold(word).strip() for words in lists for word in words}
        longest_first = sorted(words - {""}, key=lambda word: (-len(word), word))
        escaped = [re.escape(word).replace(r"\ ", r"\s") for word in longest_first]
        return f"(?:{'|'.join(escaped)})" if escaped else r"(?!)"

    sentinel = any_of(rules.sentinels)
    followers = f"[{re.escape(rules.followers)}]" if rules.followers else "(?!)"
    lead = (
        rf"(?:{any_of(rules.labels)}\s?:\s?)?{sentinel}"
        rf"(?:\s?!*\s?\Z|\s?{followers}|\n"
        rf"|\s{any_of(rules.continuations)}(?!\w))"
    )
    about, subject = any_of(rules.qualifiers), any_of(rules.subjects)
    either = any_of(rules.qualifiers, rules.subjects)
    sentence = (
        rf"(?:{any_of(rules.introductions)}{_GAP})*"
        rf"(?:(?:{about}{_GAP})*{subject}(?:{_GAP}{either})*{_GAP}"
        rf"{any_of(rules.predicates)}|{any_of(rules.contractions)})"
        rf"(?:{_GAP}{any_of(rules.adverbs)})*{_GAP}{sentinel}"
        rf"(?:[\s,.!…]*\Z|\s?[:;\u2014\u2013-]"
        rf"|{_GAP}{any_of(rules.continuations, rules.reasons)}(?!\w))"
    )
    return _Grammar(re.compile(lead), re.compile(sentence))
