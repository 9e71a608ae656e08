"""Scores of a run's answers: every measure that fits the set, one line per answer.

`score(directory, dataset)` writes `scores.jsonl`; `reports.write_reports` calls it.
"""

from __future__ import annotations

import string
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, TypeAlias

from oprag.calls import SENTINEL, TokenUsage
from oprag_eval import metrics
from oprag_eval.data import Dataset, Question
from oprag_eval.metrics.choices import ChoiceRules
from oprag_eval.running.run_directory import AnswerKey, RunDirectory, key_of

Score: TypeAlias = float | bool | None
"""None: the measure does not fit this question, or lacks its data."""

_WRITTEN = (
    *AnswerKey._fields,
    *("context_tokens", "doc_ids", "measures", "prediction", "route", "usage", "whole"),
)
"""Fields of a line of `scores.jsonl`."""

CORPUS_MEASURES = {"bleu_1": 1, "bleu_4": 4}
"""Measures of all answers of an arm together, with the longest n-gram; the sets name
them `corpus_bleu`. They have no score per question."""

JUDGED = "judged.jsonl"
"""A judge's scores of answers, one line each; absent without a judge."""
JUDGE = "judge"

_CONTEXT_DIGITS = 6
_OFFICIAL_OPTIONS = 4
"""Letters that ∞Bench's rules know."""


def scored_text(answer: Any) -> str:
    """Return the text of an answer that is scored.

    A reply that declines is scored as the word *unanswerable*: it is right if the
    set's own answer says so (Qasper), and wrong everywhere else.
    """
    return answer["prediction"] or SENTINEL


def measures_of(dataset: Dataset, style: str = "letter") -> list[str]:
    """Name the measures that fit a set, the set's own first, then those of contexts.

    The style of the questions decides how options are read: `choice_match` for letters,
    `bracketed_match` for the style `"brackets"`. Each gives two measures, by the fixed
    and by its authors' official rules. METEOR is among them if its data is here.
    """
    names: list[str] = []
    for name in dataset.metrics:
        if name == ("bracketed_match" if style == "brackets" else "choice_match"):
            names += [name, f"{name}_official"]
        elif name in _BY_REFERENCE:
            names.append(name)
    if "meteor" in names and metrics.meteor_unavailable():
        names.remove("meteor")
    names += ["wrong_order", "answerable"]
    if any(question.evidence for question in dataset.questions):
        names.append("evidence_recall")
    elif "longrag_match" in dataset.metrics:
        names.append("answer_recall")
    if any(question.supporting for question in dataset.questions):
        names.append("title_recall")
    return names


def score_answers(
    answers: Iterable[Mapping[str, Any]], dataset: Dataset, style: str = "letter"
) -> Iterator[dict[str, Any]]:
    """Score answers one by one; `style` is the one they were asked for in.

    Yields:
        Each answer, in the same order, with its `doc_ids`, its `usage` (`asked`: the
        calls for this question; `index`: those made for its documents beforehand),
        and its `measures`; None for one that does not fit.
    """
    questions = {question.question_id: question for question in dataset.questions}
    names = measures_of(dataset, style)
    for answer in answers:
        question = questions[answer["question_id"]]
        usage = {stage: TokenUsage(**used) for stage, used in answer["usage"].items()}
        index = usage.pop("index", TokenUsage())
        asked = sum(usage.values(), TokenUsage())
        yield {
            **answer,
            "doc_ids": list(question.doc_ids),
            "usage": {"asked": asked.to_dict(), "index": index.to_dict()},
            "measures": {n: _MEASURES[n](answer, question, dataset) for n in names},
        }


def score(directory: RunDirectory, dataset: Dataset) -> list[dict[str, Any]]:
    """Score a run and write `scores.jsonl` beside its answers.

    Returns:
        The answers, scored. The same answers give the same bytes.
    """
    style = directory.settings().get("answer_style", "letter")
    scored = list(score_answers(directory.answers(), dataset, style))
    judged = {key_of(line): line[JUDGE] for line in directory.lines(JUDGED)}
    for line in scored if judged else ():
        line["measures"] |= {JUDGE: judged.get(key_of(line))}
    lines = ({name: line[name] for name in _WRITTEN} for line in scored)
    directory.write_lines("scores.jsonl", lines)
    return scored


Answer: TypeAlias = Mapping[str, Any]
"""A line of `answers.jsonl`."""
Measure: TypeAlias = Callable[[Answer, Question, Dataset], Score]


def _referenced(name: str) -> Measure:
    of: Callable[..., float | bool] = getattr(metrics, name)
    return lambda answer, question, _: (
        of(scored_text(answer), question.answers) if question.answers else None
    )


def _choice(rules: ChoiceRules) -> Measure:
    def measure(answer: Answer, question: Question, _: Dataset) -> Score:
        gold, options = question.gold_option, question.options
        if gold is None or (rules == "official" and gold >= _OFFICIAL_OPTIONS):
            return None
        text, letter = scored_text(answer), string.ascii_uppercase[gold]
        return metrics.choice_match(
            text,
            gold_letter=letter,
            gold_text=options[gold],
            options=len(options),
            rules=rules,
        )

    return measure


def _bracketed(rules: ChoiceRules) -> Measure:
    def measure(answer: Answer, question: Question, _: Dataset) -> Score:
        gold, text = question.gold_option, scored_text(answer)
        if gold is None:
            return None
        return metrics.bracketed_match(text, gold_option=gold, rules=rules)

    return measure


def _answerable(answer: Answer, _: Question, __: Dataset) -> Score:
    """Return whether a system that routes did without the full documents.

    Source:
        Self-Route (arXiv:2407.16833): "answerable %".
    """
    route = answer["route"]
    return bool(answer["prediction"]) and route != "full" if route else None


def _evidence_recall(answer: Answer, question: Question, dataset: Dataset) -> Score:
    """Measure the recall of evidence; in texts of no document, look for its words."""
    if not question.evidence:
        return None
    kept = [
        (start, end)
        for name, start, end, _ in answer["pieces"]
        if name in question.doc_ids and start is not None
    ]
    source = dataset.documents[question.doc_ids[0]].text
    texts = [_words(text) for text in answer.get("texts", ())]
    for start, end in question.evidence:
        if any(_words(source[start:end]) in text for text in texts):
            kept.append((start, end))
    kind = question.evidence_kind
    return metrics.evidence_recall(question.evidence, kept, kind=kind)


def _words(text: str) -> str:
    return " ".join(text.split())


def _answer_recall(answer: Answer, question: Question, dataset: Dataset) -> Score:
    """Measure the recall of answers; None if a text of no document was not kept."""
    pieces = answer["pieces"]
    texts = [*answer.get("texts", ())]
    unplaced = sum(start is None for _, start, _, _ in pieces)
    if not question.answers or unplaced != len(texts):
        return None
    texts += [
        dataset.documents[name].text[start:end]
        for name, start, end, _ in pieces
        if start is not None
    ]
    return metrics.answer_recall("\n\n".join(texts), question.answers)


def _title_recall(answer: Answer, question: Question, dataset: Dataset) -> Score:
    """Return whether a part was read of a unit with each article the answer needs.

    Source:
        LongRAG (arXiv:2406.15319), recall of HotpotQA.
    """
    if not question.supporting:
        return None
    names = {name for name, start, _, _ in answer["pieces"] if start is not None}
    return set(question.supporting).issubset(
        title for name in names for title in dataset.documents[name].titles
    )


def _wrong_order(answer: Answer, _: Question, __: Dataset) -> Score:
    places = [
        (name, start) for name, start, _, _ in answer["pieces"] if start is not None
    ]
    share = metrics.wrong_order(places)
    return None if share is None else round(share, _CONTEXT_DIGITS)


_BY_REFERENCE = (
    *("exact_match", "first_number_match", "longrag_match", "meteor"),
    *("rouge_l", "token_f1"),
)
_MEASURES: Mapping[str, Measure] = {
    **{name: _referenced(name) for name in _BY_REFERENCE},
    "choice_match": _choice("fixed"),
    "choice_match_official": _choice("official"),
    "bracketed_match": _bracketed("fixed"),
    "bracketed_match_official": _bracketed("official"),
    "wrong_order": _wrong_order,
    "answerable": _answerable,
    "evidence_recall": _evidence_recall,
    "answer_recall": _answer_recall,
    "title_recall": _title_recall,
}
