"""What counts as a refusal: the rules, and the verdict on a whole reply.

Self-Route (arXiv 2407.16833) lets the model decline with one word, and models
wrap that word: quoted, bold, followed by a reason, inside a short sentence. The
paper does not say how such replies are read; these rules do.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields, replace
from typing import NamedTuple

from oprag.calls import SENTINEL, without_reasoning
from oprag.errors import InvalidOptionError

_GAP = r"[\s,:;\u2014\u2013-]+"
"""Between two words of a sentence."""
_SEVERAL = re.compile(r"[.!…]\s\S")
"""A sentence and the beginning of another."""
_PARTING = re.compile(r"[\s,:;\u2014\u2013]")
"""Between two words; a hyphen may stand inside one."""
_WORD = re.compile(r"\w[^\s,:;\u2014\u2013]*")
_RUN = r"[\s,.!…:;\u2014\u2013-]"
"""What runs of any length may consist of in a refusal."""
_BETWEEN = 10
"""More than a run has between its ends after it was shortened."""


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
    """Only these words may stand before the subject."""
    qualifiers: tuple[str, ...] = _words(
        "the this that your our user's given provided above following original final "
        "only possible correct posed asked being user you to for"
    )
    """Words that may stand about the subject ("the answer to the question")."""
    subjects: tuple[str, ...] = _words("question query answer request it this that")
    """What a refusal says it of, if it is a sentence."""
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
        bare = text.translate(_deleting(self.marks)).casefold()
        return re.sub(r"\s+", _one_blank, bare).lstrip(self.bullets + " \n")

    def folded(self, words: Iterable[str]) -> list[str]:
        """Fold words; leave out the empty and all but the first of equals."""
        folded = dict.fromkeys(self.fold(word).strip() for word in words)
        return [word for word in folded if word]

    @property
    def words(self) -> list[str]:
        """All words and phrases of the rules, folded."""
        return self.folded(
            [
                *self.sentinels,
                *self.labels,
                *self.continuations,
                *self.introductions,
                *self.qualifiers,
                *self.subjects,
                *self.predicates,
                *self.contractions,
                *self.adverbs,
                *self.reasons,
            ]
        )


@functools.lru_cache(maxsize=64)
def _deleting(marks: str) -> dict[int, None]:
    return dict.fromkeys(map(ord, marks))


def as_decline_rules(
    sentinel: str | Sequence[str] | None, rules: DeclineRules | None
) -> DeclineRules:
    """Return the rules with other sentinels.

    Args:
        sentinel: What the model was told to write when it declines; several are
            possible. None: the sentinels of `rules`.
        rules: Words and marks; None: English.

    Raises:
        InvalidOptionError: As `DeclineRules` raises it.
    """
    rules = rules or DeclineRules()
    if sentinel is None:
        return rules
    several = (sentinel,) if isinstance(sentinel, str) else tuple(sentinel)
    return replace(rules, sentinels=several)


def _one_blank(run: re.Match[str]) -> str:
    return "\n" if {"\n", "\r"} & set(run[0]) else " "


def is_refusal(text: str | None, rules: DeclineRules | None = None) -> bool:
    """Say whether a whole reply declines to answer.

    After reasoning blocks, case, marks, bullets and a label ("Answer:") are taken
    off, a reply is a refusal when

    1. nothing is left: an empty reply answers nothing;
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
    bare = without_reasoning(text or "", rules.reasoning_tags)
    return declines(shortened(bare, rules), rules)


def shortened(text: str, rules: DeclineRules) -> str:
    """Fold a text, and shorten its long runs of blanks and punctuation.

    The result is judged as the text would be, also with more text behind it. So a
    reply can be judged while it comes and each character is looked at a few times
    only, however long a run grows.

    Args:
        text: Without its reasoning block; or a result of this with more behind it.
        rules: Words and marks.
    """
    pattern, edge = _grammar(rules).long_run
    return pattern.sub(lambda run: _short_run(run[0], edge), rules.fold(text))


def _short_run(run: str, edge: int) -> str:
    """Keep both ends of a run, and of what is between what the rules ask for.

    That is: whether it holds the end of a sentence with something behind it, marks
    that end one, and marks that do not. A comma is neither, but it parts words.
    """
    head, between, tail = run[:edge], run[edge:-edge], run[-edge:]
    if len(set(between)) == 1 or not _PARTING.search(run):
        return head + "".join(dict.fromkeys(between)) + tail
    ends, inside = (
        re.search(r"[.!…]", between),
        re.search(r"[:;\u2014\u2013-]", between),
    )
    several = ". ." if _SEVERAL.search(run) else ""
    kept = [several, *(found[0] for found in (ends, inside) if found)]
    return f"{head},{','.join(kept)},{tail}"


def declines(text: str, rules: DeclineRules) -> bool:
    """Say whether a text is a refusal that `shortened` returned."""
    grammar = _grammar(rules)
    if not text or grammar.lead.match(text):
        return True
    # Cheap checks first: answers are long and would be searched in vain.
    if len(_WORD.findall(text)) > rules.max_words:
        return False
    several = _SEVERAL.search(text) or "?" in text
    return not several and bool(grammar.sentence.match(text))


class _Grammar(NamedTuple):
    lead: re.Pattern[str]
    sentence: re.Pattern[str]
    long_run: tuple[re.Pattern[str], int]
    """Runs that are shortened, and how much of them is kept at either end."""


@functools.lru_cache(maxsize=64)
def _grammar(rules: DeclineRules) -> _Grammar:
    """Compile the rules. The patterns are for folded text."""

    def any_of(*lists: Iterable[str]) -> str:
        words = {word for words in lists for word in rules.folded(words)}
        longest_first = sorted(words, key=lambda word: (-len(word), word))
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
    edge = 3 + max(
        (len(run) for word in rules.words for run in re.findall(f"{_RUN}+", word)),
        default=0,
    )
    long_run = re.compile(f"{_RUN}{{{2 * edge + _BETWEEN},}}")
    return _Grammar(re.compile(lead), re.compile(sentence), (long_run, edge))
