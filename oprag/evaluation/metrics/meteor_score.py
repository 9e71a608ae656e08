"""METEOR: words matched by form, stem and synonym, and how scattered they lie."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from oprag.errors import MetricUnavailableError
from oprag.evaluation.metrics.answers import check_answers
from oprag.optional import require

_PURPOSE = "METEOR"


def meteor(prediction: str, references: Sequence[str], *, wordnet: Any = None) -> float:
    """Return METEOR, the best over the references.

    Words are matched by form, then by stem (Porter), then by WordNet synonym (which
    NLTK looks up by the stem, so that it misses those of words like *large*). With
    m matches: P = m / words of the prediction, R = m / words of the reference,
    F = P · R / (0.9 · P + 0.1 · R). The matches form c runs that stand together on
    both sides: METEOR = F · (1 − 0.5 · (c / m)³); 0 without a match. Lower case;
    words and punctuation by NLTK's Treebank tokenizer, the text taken as one
    sentence.

    Args:
        prediction: What the reader answered.
        references: Answers that are right, at least one; never a bare string.
        wordnet: A corpus reader with a method `synsets`. None: NLTK's WordNet, whose
            data must be installed.

    Returns:
        From 0 to 1.

    Raises:
        InvalidOptionError: See `check_answers`.
        MetricUnavailableError: WordNet's data is not installed or damaged. Never a
            score without synonyms instead: it would be lower without a word.
        MissingDependencyError: NLTK is not installed.

    Source:
        Banerjee and Lavie 2005; NLTK's `meteor_score` at its defaults, as the
        `evaluate` library of the DOS RAG paper (arXiv:2506.03989, appendix A.4)
        calls it. That one splits into sentences first, which differs where a full
        stop stands inside an answer.
    """
    check_answers(prediction, references)
    if wordnet is None:
        wordnet = _wordnet()
    scorer = require("nltk.translate.meteor_score", extra="eval", purpose=_PURPOSE)
    tokenize = require("nltk.tokenize", extra="eval", purpose=_PURPOSE).word_tokenize
    score = scorer.meteor_score(
        [tokenize(reference, preserve_line=True) for reference in references],
        tokenize(prediction, preserve_line=True),
        wordnet=wordnet,
    )
    return float(score)


def meteor_unavailable() -> str | None:
    """Say why METEOR cannot be computed here; None when it can.

    For reports: the column stays and says this.

    Raises:
        MissingDependencyError: NLTK is not installed.
    """
    try:
        _wordnet()
    except MetricUnavailableError as error:
        return error.reason
    return None


def _wordnet() -> Any:
    corpus = require("nltk.corpus", extra="eval", purpose=_PURPOSE).wordnet
    try:
        corpus.ensure_loaded()
    except (LookupError, OSError) as error:
        missing = isinstance(error, LookupError)
        what = "is not installed" if missing else "is damaged"
        reason = f"NLTK's WordNet data {what}"
        message = (
            f"METEOR is not available: {reason}. With a network: "
            "python -m nltk.downloader wordnet; without one, unpack wordnet.zip into "
            "the folder corpora of a folder that the variable NLTK_DATA names."
        )
        raise MetricUnavailableError(message, metric="meteor", reason=reason) from error
    return corpus
