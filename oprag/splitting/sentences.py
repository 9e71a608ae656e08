"""Sentence boundaries, by Punkt with its trained models."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from functools import lru_cache
from itertools import pairwise
from pathlib import Path

from oprag.chunk import SENTENCE_TERMINATORS
from oprag.errors import TokenizerError
from oprag.optional import find_bundled_folder
from oprag.splitting.punkt import CANDIDATES, CLOSING, PunktModel

_OTHER_END = re.compile(rf"[{SENTENCE_TERMINATORS}]+[\"'”’»」』）)\]]*\s*")
_BLANKS = " \n\t\r\v\f"
_KEPT = 1 << 14
"""Contexts whose decisions are kept: the same ones end many sentences."""


def punkt_sentence_spans(text: str, language: str = "english") -> list[tuple[int, int]]:
    """Find the sentences of a text.

    They are found by the trained model, so that an abbreviation ("Mr. Smith") ends no
    sentence. The English model comes with oprag. Those of other languages are
    looked for where nltk looks (`NLTK_DATA`, the home directory, …), then inside an
    installed llama-index-core; nothing is downloaded.

    The spans are those of `PunktTokenizer.span_tokenize` in nltk 3.10.4, whichever
    nltk is installed or none (older ones differ at typographic quotes), found sooner,
    and in texts of any length: nltk itself gives up after five seconds. Besides, the
    marks of other scripts (。！？ । ؟ ۔ ።) end a sentence with every model.

    Args:
        text: Any text.
        language: A language of nltk's `punkt_tab`: `"english"`, `"german"`, …

    Returns:
        One span of characters `(start, end)`, end exclusive, per sentence, in
        reading order; the white space between sentences is in none of them.
        Empty for a text of white space alone.

    Raises:
        TokenizerError: No model of this language is installed.

    Source:
        Kiss and Strunk 2006, "Unsupervised Multilingual Sentence Boundary
        Detection", with which DOS RAG (arXiv 2506.03989) cuts its chunks.
    """
    find = _finder(str(language)).spans
    ends = (match.end() for match in _OTHER_END.finditer(text))
    return [
        (start + first, start + last)
        for start, end in pairwise([0, *ends, len(text)])
        for first, last in find(text[start:end])
    ]


@lru_cache(maxsize=8)
def _finder(language: str) -> PunktFinder:
    for folder in _folders(language):
        try:
            return PunktFinder(PunktModel.load(folder))
        except (FileNotFoundError, NotADirectoryError):
            continue
    message = (
        f"No sentence model for {language!r} is installed. Run nltk.download("
        "'punkt_tab'), install llama-index-core (it carries the models), or pass "
        "sentence_spans= with a function that finds the sentences itself."
    )
    raise TokenizerError(message, tokenizer=language)


def _folders(language: str) -> Iterator[Path]:
    """Return the folders of a language's model, in order of preference."""
    if language == "english":
        yield Path(__file__).with_name("punkt_english")
    if not language.isidentifier():  # no path to somewhere else
        return
    model = Path("tokenizers", "punkt_tab", language)
    named = os.environ.get("NLTK_DATA", "").split(os.pathsep)
    # Folders that a program that uses nltk has added itself.
    added = map(str, getattr(sys.modules.get("nltk.data"), "path", ()))
    tops = (sys.prefix, "/usr", "/usr/local", os.environ.get("APPDATA"))
    inner = ("nltk_data", "share/nltk_data", "lib/nltk_data")
    usual = [f"{top}/{part}" for top in tops if top for part in inner]
    for folder in filter(None, (*named, *added, "~/nltk_data", *usual)):
        # Path.expanduser raises if there is no home directory.
        yield Path(os.path.expanduser(folder)) / model  # noqa: PTH111
    bundled = find_bundled_folder("llama_index.core", "_static", "nltk_cache")
    if bundled is not None:
        yield bundled / model


class PunktFinder:
    """Finds sentences as nltk does.

    Args:
        model: The trained model of the language.
    """

    def __init__(self, model: PunktModel) -> None:
        self._ends_sentence = lru_cache(_KEPT)(model.ends_sentence)

    def spans(self, text: str) -> list[tuple[int, int]]:
        """Find the sentences; quotes and brackets that close one belong to it."""
        starts = [0]
        ends = []
        for end, following in self._breaks(text):
            ends.append(end)
            starts.append(following)
        ends.append(len(text.rstrip()))
        for i, start in enumerate(starts[1:], 1):
            closing = CLOSING.match(text[start : ends[i]])
            if closing is not None:
                starts[i] = start + closing.end()
                ends[i - 1] = start + len(closing.group().rstrip())
        return [span for span in zip(starts, ends, strict=True) if span[0] < span[1]]

    def _breaks(self, text: str) -> Iterator[tuple[int, int]]:
        """Return where sentences end and the next begin.

        Of the candidates that no blank divides, the last one counts, with all the text
        before it as its word. The first one counts too, if nothing comes before it. A
        blank that begins the text divides nothing.
        """
        word = place = following = 0
        last: re.Match[str] | None = None
        for match in CANDIDATES.finditer(text):
            before, place = place, match.start()
            blank = _last_blank(text, before, place)
            passed = blank > 0 or word == before
            if last and passed and self._is_break(text, word, last):
                yield before + 1, max(following, before + 1)
            if blank > 0:
                word = blank + 1
            last, following = match, match.start("following")
        if last is not None and self._is_break(text, word, last):
            yield place + 1, max(following, place + 1)

    def _is_break(self, text: str, word: int, match: re.Match[str]) -> bool:
        return self._ends_sentence(text[word : match.end("after")])


def _last_blank(text: str, start: int, end: int) -> int:
    """Find the last blank in `text[start:end]`; -1 if there is none."""
    found = -1
    for blank in _BLANKS:
        place = text.rfind(blank, start, end)
        if place > found:
            found = start = place
    return found
