"""The papers' measures, each with its formula and source.

Answers: `token_f1`, `exact_match`, `longrag_match`, `choice_match`,
`bracketed_match`, `first_number_match`, `rouge_l`, `corpus_bleu`, `meteor`.
Contexts: `answer_recall`, `evidence_recall`, `wrong_order`.

References are always a list. Scores are from 0 to 1, or a bool. A library is
imported by the first call that needs it.
"""

from oprag_eval.metrics.choices import bracketed_match, bracketed_option, choice_match
from oprag_eval.metrics.contexts import evidence_recall, wrong_order
from oprag_eval.metrics.library_scores import (
    corpus_bleu,
    meteor,
    meteor_unavailable,
    rouge_l,
)
from oprag_eval.metrics.longrag import answer_recall, longrag_match
from oprag_eval.metrics.short_answers import exact_match, first_number_match, token_f1

__all__ = [
    "answer_recall",
    "bracketed_match",
    "bracketed_option",
    "choice_match",
    "corpus_bleu",
    "evidence_recall",
    "exact_match",
    "first_number_match",
    "longrag_match",
    "meteor",
    "meteor_unavailable",
    "rouge_l",
    "token_f1",
    "wrong_order",
]
