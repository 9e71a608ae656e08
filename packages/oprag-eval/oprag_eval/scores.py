"""Scores of a run's answers: every measure that fits the set, one line per answer.

`score(directory, dataset)` writes `scores.jsonl`; `reports.write_reports` calls it.
"""

from __future__ import annotations

import string
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, TypeAlias

from oprag.calls import SENTINEL, TokenUsage
from oprag.errors import InvalidOptionError
from oprag_eval import metrics
from oprag_eval.data import Dataset, Question
from oprag_eval.metrics.choices import ChoiceRules
from oprag_eval.running.run_directory import AnswerKey, RunDirectory

Score: TypeAlias = float | bool | None
"""None: the measure does not fit this question, or lacks its data."""
Measure: TypeAlias = Callable[[Mapping[str, Any], Question], Score]
"""Of an answer, a line of `answers.jsonl`, and its question."""

_WRITTEN = (
    *AnswerKey._fields,
    *("answered", "context_tokens", "doc_ids", "measures", "route", "usage", "whole"),
)
"""Fields of a line of `scores.jsonl`."""

CORPUS_MEASURES = {"bleu_1": 1, "bleu_4": 4}
"""Measures of all answers of an arm together, with the longest n-gram; the sets name
them `corpus_bleu`. They have no score per question."""

_CONTEXT_DIGITS = 6
_OFFICIAL_OPTIONS = 4
"""Letters that ∞Bench's rules know."""


def scored_text(answer: Mapping[str, Any]) -> str:
    """Return the text of an answer that is scored.

    A reply that declines is scored as the word *unanswerable*: it is right where the
    set's own answer says so (Qasper), and wrong everywhere else.
    """
    return str(answer["prediction"]) if answer["answered"] else SENTINEL


def measures_of(dataset: Dataset, style: str = "letter") -> dict[str, Measure]:
    """Name the measures that fit a set, the set's own first, then those of contexts.

    Options are read as they were asked for: `choice_match` of letters,
    `bracketed_match` in the style `"brackets"`. Each gives two, by the fixed and
    by its authors' official rules.
    METEOR is among them where its data is here.
    """
    wanted: dict[str, Measure] = {}
    unread = "choice_match" if style == "brackets" else "bracketed_match"
    unavailable = {unread, "meteor" if metrics.meteor_unavailable() else ""}
    for name in dataset.metrics:
        if name in unavailable:
            continue
        if name in _OF_OPTIONS:
            wanted[name] = partial(_OF_OPTIONS[name], rules="fixed")
            wanted[f"{name}_official"] = partial(_OF_OPTIONS[name], rules="official")
        elif name in _BY_REFERENCE:
            wanted[name] = _referenced(_BY_REFERENCE[name])
    return wanted | _of_contexts(dataset)


def _of_contexts(dataset: Dataset) -> dict[str, Measure]:
    wanted: dict[str, Measure] = {
        "wrong_order": _wrong_order,
        "answerable": _answerable,
    }
    if any(question.evidence for question in dataset.questions):
        wanted["evidence_recall"] = _evidence_recall
    elif "longrag_match" in dataset.metrics:
        wanted["answer_recall"] = partial(_answer_recall, dataset=dataset)
    if any(question.supporting for question in dataset.questions):
        wanted["title_recall"] = partial(_title_recall, dataset=dataset)
    return wanted


def score_answers(
    answers: Iterable[Mapping[str, Any]], dataset: Dataset, style: str = "letter"
) -> Iterator[dict[str, Any]]:
    """Score answers one by one; `style` is the one they were asked for in.

    Yields:
        Each answer, in the same order, with its `doc_ids`, its `usage` (`asked`: the
        calls for this question; `index`: what was made of its documents beforehand),
        and its `measures`; None for one that does not fit.

    Raises:
        InvalidOptionError: An answer's question is not in the set.
    """
    questions = {question.question_id: question for question in dataset.questions}
    measures = measures_of(dataset, style)
    for answer in answers:
        question = questions.get(answer["question_id"])
        if question is None:
            message = (
                f"{dataset.name} has no question {answer['question_id']!r}: these "
                "answers are of another set."
            )
            raise InvalidOptionError(message, option="dataset", value=dataset.name)
        yield {
            **answer,
            "doc_ids": list(question.doc_ids),
            "usage": _usage(answer),
            "measures": {name: of(answer, question) for name, of in measures.items()},
        }


def score(directory: RunDirectory, dataset: Dataset) -> list[dict[str, Any]]:
    """Score a run and write `scores.jsonl` beside its answers.

    Args:
        directory: Holds `answers.jsonl`.
        dataset: The set that they answer.

    Returns:
        The answers, scored. The same answers give the same bytes.

    Raises:
        InvalidOptionError: There is no answer, or they are of another set.
        UnreadableFileError: A line of the answers is damaged.
    """
    answers = directory.answers()
    if not answers:
        message = f"{directory.path} holds no answers to score."
        raise InvalidOptionError(message, option="directory", value=str(directory.path))
    style = directory.settings().get("answer_style", "letter")
    scored = list(score_answers(answers, dataset, style))
    lines = ({name: line[name] for name in _WRITTEN} for line in scored)
    directory.write_lines("scores.jsonl", lines)
    return scored


def _usage(answer: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Tokens of this question's calls, and of what was made of its documents."""
    usage = {stage: TokenUsage(**used) for stage, used in answer["usage"].items()}
    index = usage.pop("index", TokenUsage())
    asked = sum(usage.values(), TokenUsage())
    return {"asked": asked.to_dict(), "index": index.to_dict()}


_BY_REFERENCE: dict[str, Callable[[str, Sequence[str]], float | bool]] = {
    name: getattr(metrics, name)
    for name in (
        *("exact_match", "first_number_match", "longrag_match", "meteor"),
        *("rouge_l", "token_f1"),
    )
}


def _referenced(score: Callable[[str, Sequence[str]], float | bool]) -> Measure:
    def measure(answer: Mapping[str, Any], question: Question) -> Score:
        text = scored_text(answer)
        return score(text, question.answers) if question.answers else None

    return measure


def _choice(answer: Mapping[str, Any], question: Question, rules: ChoiceRules) -> Score:
    gold, options = question.gold_option, question.options
    if gold is None or (rules == "official" and gold >= _OFFICIAL_OPTIONS):
        return None
    letter = string.ascii_uppercase[gold]
    return metrics.choice_match(
        scored_text(answer), gold_letter=letter, gold_text=options[gold], rules=rules
    )


def _bracketed(
    answer: Mapping[str, Any], question: Question, rules: ChoiceRules
) -> Score:
    if question.gold_option is None:
        return None
    text, gold = scored_text(answer), question.gold_option
    return metrics.bracketed_match(text, gold_option=gold, rules=rules)


_OF_OPTIONS = {"choice_match": _choice, "bracketed_match": _bracketed}


def _answerable(answer: Mapping[str, Any], _question: Question) -> Score:
    """Whether a system that routes did without the full documents.

    Source:
        Self-Route (arXiv:2407.16833): "answerable %".
    """
    route = answer["route"]
    return bool(answer["answered"]) and route != "full" if route else None


def _evidence_recall(answer: Mapping[str, Any], question: Question) -> Score:
    if not question.evidence:
        return None
    kept = [
        (start, end)
        for name, start, end, _ in answer["pieces"]
        if name in question.doc_ids and start is not None
    ]
    kind = question.evidence_kind
    return metrics.evidence_recall(question.evidence, kept, kind=kind)


def _answer_recall(
    answer: Mapping[str, Any], question: Question, dataset: Dataset
) -> Score:
    """None for a context that holds text of its own, such as summaries."""
    pieces = answer["pieces"]
    if not question.answers or any(start is None for _, start, _, _ in pieces):
        return None
    texts = [dataset.documents[name].text[start:end] for name, start, end, _ in pieces]
    return metrics.answer_recall("\n\n".join(texts), question.answers)


def _title_recall(
    answer: Mapping[str, Any], question: Question, dataset: Dataset
) -> Score:
    """Whether something was read of a unit with each article that the answer needs.

    Source:
        LongRAG (arXiv:2406.15319), recall of HotpotQA.
    """
    if not question.supporting:
        return None
    names = {name for name, start, _, _ in answer["pieces"] if start is not None}
    return set(question.supporting).issubset(
        title for name in names for title in dataset.documents[name].titles
    )


def _wrong_order(answer: Mapping[str, Any], _question: Question) -> Score:
    places = [
        (name, start) for name, start, _, _ in answer["pieces"] if start is not None
    ]
    share = metrics.wrong_order(places)
    return None if share is None else round(share, _CONTEXT_DIGITS)
