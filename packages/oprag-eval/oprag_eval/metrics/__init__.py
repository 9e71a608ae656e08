"""The papers' measures, each with its formula and source.

Answers: `token_f1`, `exact_match`, `longrag_match`, `choice_match`,
`bracketed_match`, `first_number_match`, `rouge_l`, `bleu`, `corpus_bleu`, `meteor`.
Contexts: `answer_recall`, `evidence_recall`, `evidence_coverage`,
`order_statistics`. Tokens: `token_share`.

References are always a list. Scores are from 0 to 1, or a bool. A library is
imported by the first call that needs it.
"""

from oprag_eval.metrics.choices import bracketed_match, bracketed_option, choice_match
from oprag_eval.metrics.costs import token_share
from oprag_eval.metrics.evidence import (
    evidence_coverage,
    evidence_recall,
    kept_at_budget,
)
from oprag_eval.metrics.library_scores import (
    bleu,
    corpus_bleu,
    meteor,
    meteor_unavailable,
    rouge_l,
)
from oprag_eval.metrics.longrag import answer_recall, longrag_match
from oprag_eval.metrics.order import OrderStatistics, order_statistics
from oprag_eval.metrics.short_answers import exact_match, first_number_match, token_f1

__all__ = [
    "OrderStatistics",
    "answer_recall",
    "bleu",
    "bracketed_match",
    "bracketed_option",
    "choice_match",
    "corpus_bleu",
    "evidence_coverage",
    "evidence_recall",
    "exact_match",
    "first_number_match",
    "kept_at_budget",
    "longrag_match",
    "meteor",
    "meteor_unavailable",
    "order_statistics",
    "rouge_l",
    "token_f1",
    "token_share",
]
