"""Where sentences begin and end, by the trained Punkt model of nltk."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

from oprag.errors import SentenceDataError
from oprag.optional import bundled_folder, require

_BLANKS = " \n\t\r\v\f"
_PLAIN_WORD = re.compile(r"(?:[^\W\d_]\w+)?")

_KEPT = 1 << 14
"""Words and contexts whose decisions are kept: the same ones end most sentences."""
_LONGEST_KEPT = 100  # characters; what is longer hardly comes twice

_SPACE_TO_RE_ALONE = "\x1c\x1d\x1e\x1f"
"""White space in the expressions of `re`, and none in those of `regex`."""


def punkt_sentence_spans(text: str, language: str = "english") -> list[tuple[int, int]]:
    """Find the sentences of a text.

    With the trained model, so that an abbreviation ("Mr. Smith") ends no
    sentence. Its data are looked for where nltk looks (`nltk.data.path`), then
    inside an installed llama-index-core; nothing is downloaded.

    The spans are those of `span_tokenize` in the nltk that is installed (versions
    differ at typographic quotes), found several times as fast, and in texts of any
    length: from version 3.10 on, nltk itself gives up after five seconds.

    Args:
        text: Any text.
        language: A language of nltk's `punkt_tab`: `"english"`, `"german"`, …

    Returns:
        One span of characters `(start, end)`, end exclusive, per sentence, in
        reading order; the white space between sentences is in none of them.
        Empty for a text of white space alone.

    Raises:
        SentenceDataError: No model of this language is installed.
        MissingDependencyError: nltk is not installed.

    Source:
        Kiss and Strunk 2006, "Unsupervised Multilingual Sentence Boundary
        Detection"; what DOS RAG (arXiv 2506.03989) cuts its chunks with.
    """
    return _finder(language).spans(text)


@lru_cache(maxsize=8)
def _finder(language: str) -> PunktFinder:
    return PunktFinder(_load(language))


def _load(language: str) -> Any:
    punkt = require(
        "nltk.tokenize.punkt", extra="langchain", purpose="Splitting into sentences"
    )
    try:
        return punkt.PunktTokenizer(language)
    except (LookupError, ValueError) as error:  # not found; no name of a language
        folder = bundled_folder(
            "llama_index.core", "_static", "nltk_cache", "tokenizers", "punkt_tab"
        )
        if folder is None or not language.isidentifier():
            raise _no_data(language) from error
        # nltk refuses to read outside its own folders, hence by hand.
        try:
            parameters = _read_parameters(punkt.PunktParameters(), folder / language)
        except FileNotFoundError:
            raise _no_data(language) from error
    return punkt.PunktSentenceTokenizer(parameters)


def _read_parameters(parameters: Any, folder: Path) -> Any:
    """Fill in the model from the four files of a `punkt_tab` folder."""
    parameters.abbrev_types = set(_lines(folder / "abbrev_types.txt"))
    parameters.sent_starters = set(_lines(folder / "sent_starters.txt"))
    parameters.collocations = {
        tuple(line.split("\t")) for line in _lines(folder / "collocations.tab")
    }
    for line in _lines(folder / "ortho_context.tab"):
        word, context = line.split("\t")
        parameters.ortho_context[word] = int(context)
    return parameters


def _lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").removesuffix("\n").split("\n")


def _no_data(language: str) -> SentenceDataError:
    message = (
        f"No sentence model for {language!r} is installed. Run nltk.download("
        "'punkt_tab'), install llama-index-core (it carries the models), or pass "
        "sentence_spans= with a function that finds the sentences itself."
    )
    return SentenceDataError(message, language=language)


class PunktFinder:
    """Finds sentences as nltk does, and asks nltk only where its rules are needed.

    Args:
        tokenizer: A `PunktSentenceTokenizer`.
    """

    def __init__(self, tokenizer: Any) -> None:
        # The two that nltk gives no other access to.
        language: Any = tokenizer._lang_vars  # noqa: SLF001
        parameters: Any = tokenizer._params  # noqa: SLF001
        self._candidates = language.period_context_re()
        self._by_re = _compiled(self._candidates)
        self._closing = language.re_boundary_realignment
        # Words that can do something else before a full stop than end a sentence.
        firsts = {first for first, _ in parameters.collocations}
        self._special = firsts.union(parameters.abbrev_types)
        self._ends_sentence = tokenizer.text_contains_sentbreak
        self._kept_ends_sentence = lru_cache(_KEPT)(self._ends_sentence)
        self._is_plain = lru_cache(_KEPT)(self._decide_plain)
        self._may_close = lru_cache(_KEPT)(self._decide_closing)

    def spans(self, text: str) -> list[tuple[int, int]]:
        """Find the sentences; quotes and brackets that close one belong to it."""
        starts = [0]
        ends = []
        for end, following in self._breaks(text):
            ends.append(end)
            starts.append(following)
        ends.append(len(text.rstrip()))
        for i, start in enumerate(starts):
            if i and self._may_close(text[start : start + 2]):
                closing = self._closing.match(text[start : ends[i]])
                if closing is not None:
                    starts[i] = start + closing.end()
                    ends[i - 1] = start + len(closing.group().rstrip())
        return [span for span in zip(starts, ends, strict=True) if span[0] < span[1]]

    def _breaks(self, text: str) -> Iterator[tuple[int, int]]:
        """Return where sentences end and the next begin.

        Of the candidates that no blank divides, the last one counts, with all that
        stands before it as its word; the first too, where nothing stands before it.
        A blank that begins the text divides nothing.
        """
        word = place = following = 0
        last: Any = None
        for match in self._matches(text):
            before, place = place, match.start()
            blank = text.rfind(" ", before, place)
            # Only in a word that is not all letters another blank can follow.
            if blank < 0 or not text[blank + 1 : place].isalnum():
                blank = _last_blank(text, max(blank, before), place)
            passed = last is not None and (blank > 0 or word == before)
            if passed and self._is_break(text, word, last, following):
                yield before + 1, max(following, before + 1)
            if blank > 0:
                word = blank + 1
            last, following = match, match.start("next_tok")
        if last is not None and self._is_break(text, word, last, following):
            yield place + 1, max(following, place + 1)

    def _matches(self, text: str) -> Iterator[Any]:
        same = self._by_re is self._candidates or not any(
            mark in text for mark in _SPACE_TO_RE_ALONE
        )
        if self._by_re and same:
            return self._by_re.finditer(text)
        # `regex` gives up after five seconds unless told not to.
        matches: Iterator[Any] = self._candidates.finditer(text, timeout=None)
        return matches

    def _is_break(self, text: str, word: int, match: Any, following: int) -> bool:
        start = match.start()
        # After a usual word a mark, or blanks and no other kind of white space.
        if (
            start - word <= _LONGEST_KEPT
            and self._is_plain(text[word:start])
            and (following < 0 or _are_blanks(text[start + 1 : following + 1]))
        ):
            return True
        context = text[word : match.end("after_tok")]
        if len(context) > _LONGEST_KEPT:
            return bool(self._ends_sentence(context))
        return bool(self._kept_ends_sentence(context))

    def _decide_plain(self, word: str) -> bool:
        """Whether before a full stop there is nothing to weigh."""
        return bool(_PLAIN_WORD.fullmatch(word)) and word.lower() not in self._special

    def _decide_closing(self, head: str) -> bool:
        """Whether what closes a sentence may begin with two characters."""
        return self._closing.match(head[:1]) is not None and not head[1:].isalnum()


def _compiled(candidates: Any) -> re.Pattern[str] | None:
    """The expression for `re`, which is faster than `regex`, nltk's from 3.10 on."""
    if isinstance(candidates, re.Pattern):
        return candidates
    try:
        return re.compile(candidates.pattern, re.VERBOSE)
    except re.error:
        return None


def _are_blanks(gap: str) -> bool:
    """Whether all before the last character are blanks, and that one is none."""
    return gap[-1] > " " and (gap[:-1] == " " or not gap[:-1].strip(_BLANKS))


def _last_blank(text: str, start: int, end: int) -> int:
    """Find the last blank in `text[start:end]`; -1 when there is none."""
    found = -1
    for blank in _BLANKS:
        place = text.rfind(blank, start, end)
        if place > found:
            found = start = place
    return found
