"""Where sentences begin and end, by the trained Punkt model of nltk."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any

from oprag.errors import SentenceDataError
from oprag.optional import bundled_folder, require
from oprag.splitting.punkt import PunktFinder


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
