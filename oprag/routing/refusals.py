"""What counts as a refusal: the rules, and the verdict on a reply or its beginning.

Self-Route (arXiv 2407.16833) lets the model decline with one word, and models
wrap that word: quoted, bold, with a reason before or behind it, inside a sentence.
The paper does not say how such replies are read; these rules do.
"""

from __future__ import annotations

import functools
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Literal, TypeAlias

from oprag.calls import SENTINEL, without_reasoning
from oprag.errors import InvalidOptionError, invalid_option, written
from oprag.routing.refusal_words import ABBREVIATED, grammar_of, nothing_found

Decision: TypeAlias = Literal["undecided", "answering", "declined"]

LONGEST_OPENING = 300
"""Characters, from the first that is no blank, within which a refusal shows."""

_TAGS = re.compile(r"<[/|a-z][^<>\s]{0,20}(?:>|\Z)", re.IGNORECASE)
"""End tokens (`</s>`, `<|im_end|>`) and tags around an answer, the last perhaps cut."""
_CITATIONS = re.compile(
    r"\[\^?(?:(?:passage|source|document|doc|chunk)\s)?\d{1,3}(?:\s?[,;\u2013-]\s?\d{1,3})*"
    r"[,;\u2013-]?\s?(?:\]|\Z)|【[^】\s]{0,20}(?:】|\Z)",
    re.IGNORECASE,
)
"""Numbers of passages in brackets, the last perhaps cut."""
_ODD = re.compile(r"[^\x20-\x7e\s]")
_LIST_NUMBER = re.compile(r"\A(?:\d[.,:]\s(?=\S))+")
_OPEN_LIST_NUMBER = re.compile(r"\A\d[.,:]?\s?\Z")
_FENCE = re.compile(r"\A```\w+[^\S\n]*\n")
_OPEN_FENCE = re.compile(r"```\w*\s*\Z")
_QUOTED_END = re.compile(r"[?.!](?=[\"'”’»]+(?:\s+[a-z]|\s*\Z))")
"""The end of a quoted sentence inside another one."""
_MARKS = str.maketrans(
    dict.fromkeys("([{)]}", ",")
    | dict.fromkeys("\"'`´“”‘’„‚«»‹›「」『』*_~#<>|\\$⁰¹²³⁴⁵⁶⁷⁸⁹", "")
)


def _cut(before: str, names: str, behind: str) -> str:
    """Match what stands before and one of the names, the last name perhaps cut."""
    begun = {name[:end] for name in names.split("|") for end in range(len(name) + 1)}
    return rf"{before}(?:(?:{names})(?={behind})|(?:{'|'.join(sorted(begun))})\Z)"


_COMMANDS = re.compile(
    _cut(r"<\|(?:start|channel|start_header_id)\|>", "final|assistant", "<")
    + "|"
    + _cut(r"\\", "boxed|text|textbf|textit|mathrm|mathbf", r"\{")
)
"""Who speaks and where to, in some models' own marks; and LaTeX around an answer."""
_LEADING = "-+•=,.:;!?… \n"
_SENTENCE_END = re.compile(
    rf"(?<=[.!?…]){ABBREVIATED}\s+"
    r"|(?<=[。！？])|(?<![,:;\u2013\u2014-])\n\n"
)


@dataclass(frozen=True)
class DeclineRules:
    """How a refusal is recognised.

    The sentences around a sentinel are read in English. A sentinel of another
    language is recognised where it stands alone.
    """

    sentinels: tuple[str, ...] = (SENTINEL,)
    """What the model was told to write when it declines; at least one."""
    lenient: bool = False
    """Whether a reply of at most two sentences without a sentinel, which says nothing
    but that nothing was found ("The text does not say."), is a refusal as well."""
    reasoning_tags: tuple[tuple[str, str], ...] = (
        ("<think>", "</think>"),
        ("<thinking>", "</thinking>"),
    )
    """Opening and closing mark of reasoning that some servers send as text before
    the reply. It is skipped; empty: such a block is text as any other."""

    def __post_init__(self) -> None:
        """Reject what could never match or would match everything.

        Raises:
            InvalidOptionError: There is no sentinel or nothing but marks in one,
                or one string was given for several.
        """
        for field in fields(self):
            value = getattr(self, field.name)
            if isinstance(field.default, tuple) and not isinstance(value, tuple):
                raise InvalidOptionError(
                    f"{field.name} must be a tuple, not {written(value)}",
                    option=field.name,
                    value=value,
                )
        if not self.sentinels or not all(self.folded_sentinels):
            takes = "Each sentinel needs a letter or a digit."
            raise invalid_option("sentinels", self.sentinels, takes)

    @property
    def folded_sentinels(self) -> tuple[str, ...]:
        """The sentinels as they are looked for."""
        return tuple(fold(sentinel).strip(" ,.:;!?\n") for sentinel in self.sentinels)


def as_decline_rules(
    sentinel: str | Sequence[str] | None,
    rules: DeclineRules | Literal["lenient"] | None,
) -> DeclineRules:
    """Return the rules with other sentinels.

    Args:
        sentinel: What the model was told to write when it declines; several are
            possible. None: the sentinels of `rules`.
        rules: `"lenient"` for `DeclineRules(lenient=True)`; None for the default.

    Raises:
        InvalidOptionError: As `DeclineRules` raises it; or these are no rules.
    """
    if rules is None or rules == "lenient":
        rules = DeclineRules(lenient=rules == "lenient")
    elif not isinstance(rules, DeclineRules):
        takes = 'It takes DeclineRules, "lenient" or None.'
        raise invalid_option("decline_rules", rules, takes)
    if sentinel is None:
        return rules
    if not isinstance(sentinel, (str, Sequence)):
        takes = f"It takes a word that the model writes, such as {SENTINEL!r}."
        raise invalid_option("sentinel", sentinel, takes)
    several = (sentinel,) if isinstance(sentinel, str) else tuple(sentinel)
    return replace(rules, sentinels=several)


def fold(text: str) -> str:
    """Take off case, quotes, brackets, Markdown marks, tags and what leads a list.

    So are numbers of passages in brackets, emoji and other signs, and characters that
    are not seen. A run of blanks becomes a space, or a line break, or two where a line
    is empty. What is left of a text's beginning is a beginning of what is left of it.
    """
    bare = _FENCE.sub("", _ODD.sub(lambda odd: _usual(odd[0]), text))
    bare = _CITATIONS.sub("", _TAGS.sub("", _COMMANDS.sub("", bare)))
    bare = _QUOTED_END.sub("", bare).translate(_MARKS).casefold()
    bare = re.sub(r"\s+", lambda run: "\n" * min(run[0].count("\n"), 2) or " ", bare)
    bare = bare.lstrip(_LEADING)
    return _LIST_NUMBER.sub("", bare).lstrip(_LEADING)


@functools.lru_cache(maxsize=512)
def _usual(character: str) -> str:
    """Return a letter of another shape as it is usual; a sign separates, as a comma.

    One by one: normalised as a whole, a text is not what its pieces are.
    """
    category = unicodedata.category(character)
    if category in ("Cc", "Cf") or "\ufe00" <= character <= "\ufe0f":
        return ""
    usual = unicodedata.normalize("NFKC", character)
    if category.startswith("L") and usual.isascii():
        return usual
    return "," if category in ("So", "Sm", "Sk") and character != "´" else character


def is_refusal(text: str | None, rules: DeclineRules | None = None) -> bool:
    """Say whether a whole reply declines to answer.

    Reasoning blocks, end tokens, case, quotes, brackets, Markdown marks, numbers of
    passages in brackets, emoji and characters that are not seen do not count. A reply
    is a refusal when nothing is left of it, and it is no number or sign; or when

    1. it begins like one: with the sentinel; with *the question*, *the answer*, *it*,
       *this*, *that*, *therefore*, *so*; or with words like *the text does not*,
       *there is no*, *no information*, *I cannot*, *based on*, *sorry*. What begins so
       may stand behind *since*, *because*, *as* or *given that*; behind *after reading
       the text*, *in short* or a label as *verdict:*; and behind *hmm*, *well*, *ok*,
       *sure*, *none*, *yes* or *no* with a comma or full stop; and
    2. within its first two sentences and 300 characters the sentinel stands alone
       as a sentence or clause, or is said of the question, the answer or *it*; and
    3. what else these say is why, or that nothing was found.

    Anything else is an answer, whatever words it holds. Lenient rules count besides
    a whole reply of at most two sentences that begins like a refusal and only says
    that nothing was found.

    Args:
        text: The reply. None counts as empty.
        rules: None for the sentinel "unanswerable".

    Returns:
        True for a refusal.
    """
    rules = rules or DeclineRules()
    bare = without_reasoning(text or "", rules.reasoning_tags)
    return judge(bare, rules, ended=True) == "declined"


def judge(text: str, rules: DeclineRules, *, ended: bool) -> Decision:
    """Say what the beginning of a reply allows, or what the whole of it says.

    Args:
        text: Without its reasoning block. What stands behind the opening, that is
            300 characters or two sentences, changes nothing.
        rules: How a refusal is recognised.
        ended: Whether this is all of the reply.

    Returns:
        "declined" when every continuation is a refusal, "answering" when none is;
        else "undecided", and never that when the reply has ended.
    """
    text = text.lstrip()
    long = len(text) > LONGEST_OPENING
    folded = fold(text[:LONGEST_OPENING])
    if not folded:
        says = long or (ended and _is_sign_or_number(text))
        return "answering" if says else "declined" if ended else "undecided"
    grammar = grammar_of(rules.folded_sentinels)
    ends = _sentence_ends(folded)
    if ended or long or len(ends) > 1:
        opening = folded[: ends[1]] if len(ends) > 1 else folded
        begins = grammar.begins(opening)
        if begins and grammar.declines(opening, ended=True):
            return "declined"
        complete = not long and opening == folded.rstrip()
        if begins and complete and rules.lenient and nothing_found(opening):
            return "declined" if ended else "undecided"
        return "answering"
    begun = grammar.begins(folded) or grammar.may_begin(folded)
    open_mark = _OPEN_FENCE.match(text) or _OPEN_LIST_NUMBER.match(folded)
    if open_mark or (begun and grammar.may_decline(folded)):
        return "undecided"
    return "answering"


def _is_sign_or_number(text: str) -> bool:
    """Whether a text of which nothing is left was an answer: "[2]" or "👍"."""
    bare = _FENCE.sub("", _TAGS.sub("", text))
    return any(c.isalnum() or unicodedata.category(c) in ("So", "Sm") for c in bare)


def _sentence_ends(folded: str) -> list[int]:
    """Return where the sentences end that have words in them and a blank behind."""
    ends = [0]
    for end in _SENTENCE_END.finditer(folded):
        if re.search(r"\w", folded[ends[-1] : end.start()]):
            ends.append(end.start())
    return ends[1:]
