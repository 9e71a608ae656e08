"""BLEU, ROUGE-L and METEOR, each counted by the library that the papers use."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from functools import cache
from types import SimpleNamespace
from typing import Any

from oprag.errors import UnreadableFileError
from oprag_eval.metrics.short_answers import check_answers


def corpus_bleu(
    predictions: Sequence[str],
    references: Sequence[Sequence[str]],
    *,
    max_order: int = 4,
) -> float:
    """Return the BLEU of a set of answers, n-grams counted over the whole set.

    BLEU = penalty · (p_1 · … · p_n)^(1/n), where p_i is the share of the
    predictions' i-grams that occur in their references (each as often as in the
    reference that has it most often). penalty = 1 if the predictions hold more
    tokens, c, than the references, r, else exp(1 − r / c); r adds up the shortest
    reference of each question. Some p_i = 0, or no token: 0. Case counts; tokens
    are those of WMT's `13a` tokenizer. Not smoothed: one answer of fewer than
    `max_order` tokens alone scores 0.

    Args:
        predictions: The reader's answers, one per question, at least one.
        references: For each question, the answers that are right.
        max_order: 1 for BLEU-1, up to 4 for BLEU-4.

    Returns:
        From 0 to 1.

    Raises:
        ValueError: The two lists differ in length, or are empty.

    Source:
        Papineni et al. 2002; counted by the package `sacrebleu`. The penalty takes
        the shortest reference, as the `evaluate` library of the DOS RAG paper
        (arXiv:2506.03989, appendix A.4) does; sacrebleu itself takes the closest.
    """
    for answers in references:
        check_answers(answers)
    most = max(len(answers) for answers in references)
    streams = [
        [answers[n] if n < len(answers) else None for answers in references]
        for n in range(most)
    ]
    score = _bleu_scorer(max_order).corpus_score(list(predictions), streams)
    words = _bleu_scorer(1).tokenizer
    wanted = sum(min(len(words(a).split()) for a in answers) for answers in references)
    if not score.sys_len or not all(score.counts):
        return 0.0
    logs = [
        math.log(count / total)
        for count, total in zip(score.counts, score.totals, strict=True)
    ]
    penalty = 1.0 if score.sys_len > wanted else math.exp(1 - wanted / score.sys_len)
    return penalty * math.exp(sum(logs) / max_order)


@cache
def _bleu_scorer(max_order: int) -> Any:
    from sacrebleu.metrics.bleu import BLEU

    return BLEU(
        max_ngram_order=max_order, tokenize="13a", smooth_method="none", force=True
    )


_ROUGE_WORD = re.compile(r"[^\W_]+")


def rouge_l(prediction: str, references: Sequence[str]) -> float:
    """Return ROUGE-L's F1, the best over the references.

    With l the length of the longest common subsequence of words: precision = l / words
    of the prediction, recall = l / words of the reference, F1 = 2 · precision · recall
    / (precision + recall); 0 without a common word. Words are runs of letters and
    digits in lower case, not stemmed. The library's own words are ASCII only and would
    give every answer in another script 0; on ASCII texts the two are the same.

    Args:
        prediction: The reader's answer.
        references: Answers that are right, at least one; never a bare string.

    Returns:
        From 0 to 1.

    Source:
        Lin 2004, through the package `rouge-score`, as the `evaluate` library of
        the DOS RAG paper (arXiv:2506.03989, appendix A.4) calls it.
    """
    check_answers(references)
    score = _rouge_scorer().score_multi(list(references), prediction)["rougeL"].fmeasure
    return float(score)


@cache
def _rouge_scorer() -> Any:
    from rouge_score.rouge_scorer import RougeScorer

    words = SimpleNamespace(tokenize=lambda text: _ROUGE_WORD.findall(text.lower()))
    return RougeScorer(["rougeL"], tokenizer=words)


def meteor(prediction: str, references: Sequence[str], *, wordnet: Any = None) -> float:
    """Return METEOR, the best over the references.

    Words are matched by form, then by stem (Porter), then by WordNet synonym (which
    NLTK looks up by the stem, so that it misses those of words like *large*). With m
    matches: P = m / words of the prediction, R = m / words of the reference, F = P · R
    / (0.9 · P + 0.1 · R). The matches form c runs that stand together on both sides:
    METEOR = F · (1 − 0.5 · (c / m)³); 0 without a match. Lower case; words and
    punctuation by NLTK's Treebank tokenizer, the text taken as one sentence.

    Args:
        prediction: The reader's answer.
        references: Answers that are right, at least one; never a bare string.
        wordnet: A corpus reader with a method `synsets`. None: NLTK's WordNet, whose
            data must be installed.

    Returns:
        From 0 to 1.

    Raises:
        UnreadableFileError: WordNet's data is not installed or damaged. Never a
            score without synonyms instead: it would be lower without a word.

    Source:
        Banerjee and Lavie 2005; NLTK's `meteor_score` at its defaults, as the
        `evaluate` library of the DOS RAG paper (arXiv:2506.03989, appendix A.4)
        calls it. That one splits into sentences first, which differs if a full
        stop is inside an answer.
    """
    from nltk.tokenize import word_tokenize
    from nltk.translate.meteor_score import meteor_score

    check_answers(references)
    if wordnet is None:
        wordnet = _wordnet()
    score = meteor_score(
        [word_tokenize(reference, preserve_line=True) for reference in references],
        word_tokenize(prediction, preserve_line=True),
        wordnet=wordnet,
    )
    return float(score)


def meteor_unavailable() -> str | None:
    """Return why METEOR cannot be computed here, for reports; None when it can."""
    try:
        _wordnet()
    except UnreadableFileError as error:
        return error.reason
    return None


def _wordnet() -> Any:
    from nltk.corpus import wordnet as corpus

    try:
        corpus.ensure_loaded()
    except (LookupError, OSError) as error:
        reason = "NLTK's WordNet data is not installed, or is damaged"
        message = (
            f"METEOR is not available: {reason}. With a network: "
            "python -m nltk.downloader wordnet; without one, unpack wordnet.zip into "
            "the folder corpora of a folder that the variable NLTK_DATA names."
        )
        raise UnreadableFileError(message, path="wordnet", reason=reason) from error
    return corpus
