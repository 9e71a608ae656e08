"""Sweeps: which budgets to ask, and by which measure."""

from __future__ import annotations

import dataclasses

from oprag.tokens import TokenCounter
from oprag_eval.data import Dataset

_LADDER = (250, 500, 1000, 2000, 4000, 8000, 16000, 32000, 64000)


def budgets_for(dataset: Dataset, token_counter: TokenCounter) -> list[int]:
    """Choose budgets that make a difference: those that the documents exceed.

    Returns:
        250, 500, 1,000 and so on, doubling up to 64,000, as far as they are less than
        the tokens that some question is asked of; at least the first.
    """
    tokens: dict[str, int] = {}
    largest = 0
    for doc_ids in dict.fromkeys(question.doc_ids for question in dataset.questions):
        total = 0
        for name in doc_ids or tuple(dataset.documents):
            if name not in tokens:
                tokens[name] = token_counter(dataset.documents[name].text)
            total += tokens[name]
        largest = max(largest, total)
    return [budget for budget in _LADDER if budget < largest] or [_LADDER[0]]


def with_answer_recall(dataset: Dataset) -> Dataset:
    """Add the measure of whether contexts hold an answer, where no evidence is known.

    It comes with LongRAG's match, whose rule it is. Only for open questions: the text
    of an option need not stand in the document.
    """
    questions = dataset.questions
    wanted = all(q.answers and not q.options and not q.evidence for q in questions)
    if not wanted or "longrag_match" in dataset.metrics:
        return dataset
    return dataclasses.replace(dataset, metrics=(*dataset.metrics, "longrag_match"))


def sweep_measure(dataset: Dataset, *, offline: bool) -> str:
    """Name the measure that systems and budgets are compared by.

    Offline answers say little, so what contexts hold is measured: the evidence, else
    the answer's text.

    Returns:
        Empty for the set's own, by which a model's answers are measured.
    """
    if not offline:
        return ""
    if any(question.evidence for question in dataset.questions):
        return "evidence_recall"
    return "answer_recall" if "longrag_match" in dataset.metrics else ""
