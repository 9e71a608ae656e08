"""English refusals: how they begin, what declines in them, and what only says why.

Everything here is for text as `refusals.fold` leaves it: lower case, without quotes,
apostrophes and Markdown marks ("doesnt").
"""

from __future__ import annotations

import bisect
import functools
import itertools
import re
from collections.abc import Mapping
from typing import NamedTuple

_LISTS = {
    "THE": "the|this|that|these|those|your|our|my",
    "GIVEN": "given|provided|supplied|retrieved|available|above|following|present|"
    "original|whole|entire|single|only|same|user/s|other|two|all|the|these|your|"
    "requested|relevant|required|needed|necessary|exact|specific|particular|such|further",
    "TEXT": "text/s|passage/s|context/s|document/s|excerpt/s|extract/s|article/s|"
    "material/s|source/s|information|info|content/s|snippet/s|section/s|paragraph/s|"
    "chapter/s|chunk/s|page/s|story|stories|book/s|report/s|paper/s|letter/s|"
    "contract/s|agreement/s|lease/s|clause/s|policy|policies|manual/s|transcript/s|"
    "evidence|data|detail/s|author/s|writer/s|narrator/s|speaker/s",
    "THEN": "provided|given|needed|requested|above|here|itself|alone|you|i|we|gave|"
    "was|were|have|has",
    "NUMBER": "and|or|to|through|" + "|".join(map(str, range(1, 100))),
    "PIECE": "text/s|passage/s|context/s|document/s|excerpt/s|extract/s|source/s|"
    "snippet/s|chunk/s",
    "ADVERB": "probably|likely|apparently|seemingly|still|sadly|honestly|simply|"
    "clearly|completely|entirely|essentially|effectively|technically|strictly|truly|really|"
    "quite|seems|appears|marked|classified|labeled|labelled|considered|deemed",
    "LABEL": "output|verdict|result|status|conclusion|label|decision|classification|"
    "outcome|explanation|reason|reasoning|analysis",
    "CLOSE": "careful|close|closer|thorough|full|further|detailed",
    "REVIEW": "review|reading|analysis|consideration|examination|inspection",
    "MENTION": "mention|say|state|tell|give|name|contain|provide|specify|include|"
    "answer|cover|discuss|address|indicate|describe|reveal",
    "ANSWER_WITH": "say|answer|reply|respond|write|mark|classify|call|go",
    "QUESTION": "question/s|query|request",
    "FACT": "date|year|name|number|figure|price|cost|amount|age|place|reason|answer|"
    "mention|indication|statement",
    "BE": "is|was|are|were|be|remain/s|seem/s|appear/s|must|should|would|will|can|"
    "could|may|has|does|did|do",
    "ALMOST": "therefore|thus|hence|so|then|also|still|just|simply|clearly|currently|"
    "indeed|probably|likely|essentially|effectively|entirely|completely|strictly|"
    "technically|unfortunately|really|very|truly|to|be|been|considered|deemed|"
    "regarded|treated|marked|labeled|labelled|classified|left|as",
    "NOT": "not|no|nothing|none|neither|never|nowhere|only|impossible|unclear|unknown|"
    "insufficient|unable|missing|absent|silent|incomplete|limited|unrelated|beyond|"
    "outside",
    "CANNOT": "cannot|cant|couldnt|dont|doesnt|didnt|isnt|arent|wasnt|werent|havent|"
    "hasnt|lack/s|fail/s|omit/s",
    "READ": "reading|read|reviewing|reviewed",
    "AGAIN": "carefully|closely|again|twice|provided|given|above",
    "TREATS": "mention/s|discuss|discusses|describe/s|cover/s|deal/s|focus|focuses|"
    "talk/s|concern/s|refer/s|address|addresses",
    "SAYS": "say/s|state/s|tell/s|give/s|name/s|contain/s|provide/s|offer/s|include/s|"
    "hold/s|show/s|reveal/s|has|have|make/s",
    "STATED": "in|mentioned|given|stated|specified|said|provided|found|available|known|"
    "enough|answerable|possible|clear|covered|contained|included|addressed|discussed",
}
"""What rows of words name in capitals; `text/s` is both *text* and *texts*."""

_LEADS = (
    "SO",
    "therefore|thus|hence",
    "so yeah|yes|no|well|then",
    "THE* final|short|correct* answer|response",
    "THE* final|short|correct* answer|response is|was",
    "THE* LABEL",
    "heres|here THE* answer|response",
    "here is THE* answer|response",
    "in short|brief|sum|summary|conclusion",
    "to be honest|fair|clear|precise|exact",
    "to summarize|summarise|conclude",
    "after|upon|on CLOSE* REVIEW",
    "after|upon|on CLOSE* REVIEW of THE|GIVEN* TEXT",
    "it would* seem/s|appear/s",
    "it would* seem/s|appear/s that",
    "it looks like",
    "after|upon|having READ through* THE|GIVEN* TEXT|it|them",
    "after|upon|having READ through* THE|GIVEN* TEXT|it|them AGAIN",
    "i|we think|believe|conclude|find|fear",
    "i|we think|believe|conclude|find|fear that",
)
"""May stand before a beginning; a comma, a colon or a line break may follow."""

_WORDS_FIRST = (
    "hmm|hm|well|ok|okay|alright|understood|a",
    "yes|no|sure|certainly",
    "none|nothing|unclear|unknown",
    "NA",
)
"""May stand before a beginning, with a comma or the end of a sentence behind them.
Behind *yes* and *no*, *it* is what the user asked about: "Yes, it is unanswerable."
answers. Behind the last two, a dash or a bracket will do as well."""

_REASONS_FIRST = ("since|because|as|while|although|though", "given|seeing that")
"""Make a reason of the rows of `_NOTHING_THERE`."""

_NOTHING_SAID = (
    "CANNOT|do|does|did|can|could|never|only|just|merely|simply",
    "neither|nor|end/s|break/s|stop/s|about|on|in|from",
    "BE ALMOST* NOT|about|too",
    "SAYS ALMOST* NOT|little|few",
    "TREATS",
)
"""What is said of the text."""

_NOTHING_THERE = (
    "it|this|that one|ones* BE ALMOST* NOT",
    "it|this|that CANNOT",
    "its|thats|ones ALMOST* NOT",
    *(f"THE GIVEN* TEXT NUMBER* THEN* {said}" for said in _NOTHING_SAID),
    *(f"PIECE NUMBER* {said}" for said in _NOTHING_SAID),
    "and* do|does|did not MENTION",
    "and* dont|doesnt|didnt MENTION",
    "there BE* NOT|CANNOT",
    "theres NOT",
    "NO GIVEN|explicit|direct|clear* TEXT|FACT",
    "THE GIVEN* FACT BE ALMOST* NOT",
    "THE GIVEN* FACT CANNOT",
    "not STATED",
    "insufficient TEXT",
    "nothing in|about|here|on|said|mentioned|relevant",
    "none of GIVEN* TEXT",
    "none SAYS|TREATS",
    "neither of* GIVEN* TEXT",
    "i|we CANNOT",
    "i|we am|are|was|were|have|can|could|do|did|will ALMOST* NOT|sorry|afraid",
)
"""How a refusal may begin, or a reason that is put first."""

_BEGINNINGS = (
    "UNANSWERABLE",
    "ADVERB ALMOST* UNANSWERABLE",
    "QUESTION",
    "THE GIVEN* QUESTION",
    "THE* answer to|for|as|cannot|cant|can|could|isnt|wasnt|does|remains|lies",
    "it|this|that one|ones* BE ALMOST* UNANSWERABLE",
    "it|this|that one|ones* BE ALMOST* a|an SENTINEL QUESTION",
    "its|thats|ones ALMOST* UNANSWERABLE",
    "i|we must|would|regret|apologize|apologise|find|found",
    "i|we have looked|searched|checked|read|reviewed|to",
    "i|we see|saw|looked|searched|checked|read|reviewed",
    "im ALMOST* sorry|afraid|unable|not",
    "id have|ANSWER_WITH",
    "ill have|ANSWER_WITH",
    "i|we will have|ANSWER_WITH",
    "im going with",
    "im going to have|ANSWER_WITH",
    "ive ALMOST* NOT|looked|searched|checked|read|reviewed|found",
    "cannot|cant|unable to|be|answer|find|tell|say|determine",
    "sorry|unfortunately|regrettably|apologies",
    "my apologies",
    "as a|an ai|language|large",
    "based only|solely|purely|strictly* on",
    "according to GIVEN* TEXT",
    "given|from GIVEN* TEXT",
)
"""How a refusal may begin besides. In a row `a|b` is either of two words and `a*` any
number of them, also none. UNANSWERABLE is the sentinel where a clause ends behind it;
NO and TREATS have no comma behind them; "so yes," is one row and not two, for a text
that can be read in two ways at every word takes time without end."""

_AFTER = (
    "based on|given|from|according to|because|since|as|in|with|by|using|within|without|"
    "due to|owing to|under|on|at|for|here|so|and|unless|if|through|solely|only|purely|"
    "strictly|alone|per|no|not|nothing|none|neither|sorry|the|there|it"
)
"""Words that go on after the sentinel and make a clause of their own."""

_PLAIN = (
    "after|alright|brief|careful|certainly|close|conclude|conclusion|consideration|"
    "examination|exact|fair|honest|honestly|precise|review|analysis|reading|sum|"
    "summarise|summarize|summary|sure|thorough|understood|upon|be|clear|further|full|"
    "output|verdict|result|status|label|decision|classification|outcome|explanation|"
    "detailed|inspection|closer|ill|will|reasoning|sadly|still|probably|"
    "a|alone|an|and|answer|answered|appear|appears|as|at|based|believe|by|call|can|"
    "classify|conclude|consider|correct|far|fear|final|find|from|given|go|going|"
    "guess|have|having|helps|hence|here|hm|hmm|hope|i|id|im|in|is|it|label|like|looks|"
    "making|mark|must|my|now|ok|okay|on|or|point|reason|rendering|reply|respond|response|"
    "say|seem|seems|short|so|tell|that|the|then|thereby|therefore|these|think|this|"
    "thus|to|was|well|which|with|would|write|yeah|yes|yet"
)
"""A clause of these words alone says nothing besides the refusal."""
_BECAUSE = (
    "because|after reading|after reviewing|having read|having reviewed|due|owing|"
    "unless|without|elsewhere|different|another|unspecified|unstated|unavailable|"
    "wont|wouldnt|nor|as written|as posed|as asked|as phrased|from what|"
    "question asks|query asks|based on|see|you|please|contact|sorry|afraid|regret|"
    "unfortunately|regrettably|apologize|apologise|apologies|inconvenience"
)
"""One of these, of NOT, CANNOT or TEXT makes a clause a reason, or a courtesy."""
_BUT = (
    "but|however|though|although|yet|nevertheless|nonetheless|instead|whereas|while|"
    "until|except"
)
"""A new clause begins, which has to be a reason by itself."""
_CLAIMS = (
    "says|said|state|states|stated|hold|holds|held|argues|argued|claims|claimed|"
    "calls|called|replied|tell|tells|told|writes|wrote|thinks|thought|answers|answered|"
    "suggests|implies|indicates|shows|gives|names|reveals|identifies"
)
"""A clause with one of these and no negation tells what the text says."""
_FINDS = (
    "answer|answered|find|found|say/s|said|state/s|stated|mention/s|mentioned|tell/s|"
    "know|determine|determined|specify|specified|give/s|given|provide/s|provided|"
    "contain/s|include/s|information|clear|possible"
)
"""What was looked for in vain, where nothing was found."""

_GAP = r"(?!\n\n)[\s,\u2013\u2014-]+"
_GAP_AFTER_LEAD = r"[\s,:;=\u2013\u2014-]+"
_GAP_AFTER_WORD = r"[,.:;!…]+\s*"
_GAP_AFTER_NOTHING = r"\s?(?:[,.:;!…\u2013\u2014]|-(?!\w)|\n)[\s,.:;!…\u2013\u2014-]*"


def _words(alternatives: str) -> list[str]:
    """Give the words of `a|b/s|NAME`, the longest first."""
    lists = (_LISTS.get(name, name) for name in alternatives.split("|"))
    both = (word.split("/") for word in "|".join(lists).split("|"))
    found = {stem + ending for stem, *endings in both for ending in ("", *endings)}
    return sorted(found, key=lambda word: (-len(word), word))


def _any(alternatives: str) -> str:
    return rf"\b(?:{'|'.join(_words(alternatives))})\b"


ABBREVIATED = r"(?<!\b\w\.)(?<!\b[md]r\.)(?<!\bst\.)(?<!\bmrs\.)"
"""Behind a full stop: it is one that ends a sentence."""
_STATEMENTS = re.compile(
    rf"[;。！？]|[!?…](?!\Z)|\.(?=\W){ABBREVIATED}|\n\n|{_any(_BUT)}(?=\W)"
)
_CLAUSES = re.compile(rf"{_STATEMENTS.pattern}|[,:]|\band\b")
_PLAIN_CLAUSE = re.compile(rf"(?:\W|{_any(_PLAIN)})*")
_NEGATION = re.compile(_any("NOT|CANNOT|nor|without"))
_NA = r"\bn/a\b"
_REASON = re.compile(_any(f"NOT|CANNOT|TEXT|{_BECAUSE}") + f"|{_NA}")
_COURTESY = re.compile(_any(_BECAUSE))
_CLAIM = re.compile(_any(_CLAIMS))
_FIND = re.compile(_any(_FINDS))

_END = (
    r"(?:\s*(?:\Z|[.,:;!…。，：；！/=\u2013\u2014\n]|-(?!\w)|\?(?=\W*(?:yes\b|(?:ye?)?\Z)))"
    rf"|\s{_any(_AFTER)})"
)
"""The end of a clause; after a question mark only *yes* leaves it a refusal."""
_YES = re.compile(_any(_WORDS_FIRST[1]) + _GAP_AFTER_WORD)
_NO_IT = rf"(?!(?:its?|thats|ones)\b|(?:this|that)\b(?:\Z|{_GAP}{_any('BE')}))"
_ALMOST = rf"(?:{_GAP}{_any('ALMOST')})*"
_SUBJECT = re.compile(
    rf"(?:(?:\A|[.,:;=!?…。，：；！\u2013\u2014\n-])\s*(?:{_any('ADVERB')}{_ALMOST}{_GAP})?"
    rf"|{_any('so|therefore|thus|hence|as|say|write|reply|respond|with')}\s"
    rf"|(?:{_any('THE|GIVEN')}\s)*{_any('QUESTION|answer|response')}"
    rf"(?:(?:(?!{_any(_BUT)}|{_any(_CLAIMS)})[^.:;!?…。！？\n])*?{_any('BE')})?{_ALMOST}{_GAP}"
    rf"|{_any('it|this|that|its|thats|ones|which')}"
    rf"(?:{_GAP}{_any('BE')})?{_ALMOST}(?:{_GAP}an?)?{_GAP})\Z"
)
"""What the sentinel is said of, directly before it; or the beginning of a clause."""


class Grammar(NamedTuple):
    """The rules with the sentinels in them. Texts are as `refusals.fold` gives them."""

    beginning: re.Pattern[str]
    begun: re.Pattern[str]
    """Matches what is a beginning or, up to its end, the first words of one."""
    words: tuple[str, ...]
    """All that occur in beginnings, sorted."""
    sentinel: re.Pattern[str]

    def begins(self, text: str) -> bool:
        """Whether a text begins like a refusal."""
        return bool(self.beginning.match(text))

    def may_begin(self, text: str) -> bool:
        """Whether a text would begin like a refusal with some text behind it."""
        longest = max(map(len, self.words))
        for start in range(max(0, len(text) - longest), len(text) + 1):
            if start and text[start - 1].isalnum():
                continue
            rest = text[start:].replace("\n", " ")
            first = bisect.bisect_left(self.words, rest)
            for word in itertools.islice(self.words, first, None) if rest else ("",):
                if not word.startswith(rest):
                    break
                if self.begun.match(text[:start] + word):
                    return True
        return False

    def declines(self, text: str, *, ended: bool) -> bool:
        """Whether a text says that there is no answer, and besides only why.

        If it has not ended, its last statement may become anything.
        """
        return any(
            (subject := _SUBJECT.search(text[: found.start()]))
            and _only_reasons(text[: subject.start()])
            and _only_reasons(text[found.end("word") :], ended=ended)
            for found in self.sentinel.finditer(text)
        )

    def may_decline(self, text: str) -> bool:
        """Whether a text that has not ended may decline with more text behind it."""
        return _only_reasons(text, ended=False) or self.declines(text, ended=False)


def _only_reasons(text: str, *, ended: bool = True) -> bool:
    statements = _STATEMENTS.split(text)
    return all(map(_is_reason, statements if ended else statements[:-1]))


def nothing_found(text: str) -> bool:
    """Whether a text says that nothing was found, and nothing else.

    Behind *yes* and *no* that is what was asked: "No, the text does not mention it."
    """
    if _YES.match(text):
        return False
    denied = all(
        _PLAIN_CLAUSE.fullmatch(each)
        or _NEGATION.search(each)
        or _COURTESY.search(each)
        for each in _STATEMENTS.split(text)
    )
    found = denied and _NEGATION.search(text) and _FIND.search(text)
    return bool(found) and all(map(_is_reason, _CLAUSES.split(text)))


def _is_reason(clause: str) -> bool:
    if _PLAIN_CLAUSE.fullmatch(clause):
        return True
    claim = _CLAIM.search(clause) and not _NEGATION.search(clause)
    return bool(_REASON.search(clause)) and not claim


@functools.lru_cache(maxsize=64)
def grammar_of(sentinels: tuple[str, ...]) -> Grammar:
    """Put sentinels into the rules.

    Args:
        sentinels: Folded; at least one.
    """
    longest_first = sorted(sentinels, key=lambda word: (-len(word), word))
    escaped = (re.escape(word).replace(r"\ ", r"\s") for word in longest_first)
    sentinel = rf"(?<!\w)(?:{'|'.join(escaped)})(?!\w)"
    # Not over a question mark: what follows may be any answer until it is all there.
    sentinel = rf"{sentinel}(?:[^\w?]{{1,3}}{sentinel})*"
    own = {
        "NA": _NA,
        "UNANSWERABLE": sentinel + _END,
        "SENTINEL": sentinel,
        "NO": r"\bno\b(?!,)",
        "TREATS": _any("TREATS") + "(?!,)",
        "SO": r"\bso\b(?!" + _GAP_AFTER_LEAD + r"(?:yes|no|well)[,:;])",
    }
    lead, lead_begun = _any_row(_LEADS, own, end=r"\Z")
    reason, reason_begun = _any_row(_REASONS_FIRST, own, end=r"\Z")
    _, word_begun = _any_row(_WORDS_FIRST[:2], own, end=r"\Z")
    _, none_begun = _any_row(_WORDS_FIRST[2:], own, end=r"\s?\Z")
    nothing, nothing_begun = _any_row(_NOTHING_THERE, own)
    other, other_begun = _any_row(_BEGINNINGS, own)
    word, yes, none = map(_any, _WORDS_FIRST[:3])
    before = (
        rf"(?:(?:{lead}){_GAP_AFTER_LEAD}|{word}{_GAP_AFTER_WORD}"
        rf"|{yes}{_GAP_AFTER_WORD}{_NO_IT}|(?:{none}|{_NA}){_GAP_AFTER_NOTHING})*"
    )
    because = rf"(?:(?:{reason}){_GAP})?"
    first = f"{lead_begun}|{reason_begun}|{word_begun}|{none_begun}"
    rows = (*_LEADS, *_REASONS_FIRST, *_WORDS_FIRST, *_NOTHING_THERE, *_BEGINNINGS)
    parts = {part.strip("*") for row in rows for part in row.split()} - own.keys()
    vocabulary = [*parts, "TREATS", _AFTER]
    words = {"n/a", *sentinels, *itertools.chain(*map(_words, vocabulary))}
    return Grammar(
        beginning=re.compile(f"{before}(?:{other}|{because}(?:{nothing}))"),
        begun=re.compile(
            f"{before}(?:{first}|{other_begun}|{because}(?:{nothing_begun}))"
        ),
        words=tuple(sorted(words)),
        sentinel=re.compile(
            rf"(?P<word>{sentinel}(?:{_GAP}{_any('QUESTION')})?){_END}"
        ),
    )


def _any_row(
    rows: tuple[str, ...], own: Mapping[str, str], end: str = ""
) -> tuple[str, str]:
    """Return the patterns of `_row` for any one of the rows."""
    patterns = [_row(row, own, end) for row in rows]
    return "|".join(whole for whole, _ in patterns), "|".join(b for _, b in patterns)


def _row(row: str, own: Mapping[str, str], end: str = "") -> tuple[str, str]:
    """Return the pattern of a row, and that of its first words up to the text's end."""
    whole = begun = ""
    for part in reversed(row.split()):
        word = own.get(part) or _any(part.strip("*"))
        if part.endswith("*"):
            whole = rf"(?:{word}{_GAP})*{whole}"
            begun = rf"(?:{word}{_GAP})*(?:{word}\Z|{begun})"
        elif whole:
            whole = rf"{word}{_GAP}{whole}"
            begun = rf"(?:\Z|{word}(?:\Z|{_GAP}{begun}))"
        else:
            whole, begun = word, rf"(?:\Z|{word}{end})"
    return whole, begun
