"""A question and a context as one call of a model, and the reply as a prediction."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from oprag.calls import CHOICE_PROMPT, QA_PROMPT, fill_prompt, format_options
from oprag.evaluation.answer_styles import (
    BRIEF_PROMPT,
    EXPLAINED_PROMPT,
    AnswerStyle,
    decline_rules,
    number_options,
)
from oprag.evaluation.data import Question
from oprag.evaluation.models import Call, CallKind
from oprag.routing import DeclineDetector


class Reading(NamedTuple):
    """What a reply says."""

    prediction: str
    """The reply without blanks around it; empty when it declines."""
    answered: bool
    """False when it declines."""


def answer_call(
    question: Question, context: str, style: AnswerStyle = "letter"
) -> Call:
    """Ask a question of a context. All systems of a run ask with the same words.

    Args:
        question: With options it is asked as a multiple-choice question.
        context: What the model may read.
        style: How the answer is to be written.
    """
    facts = {"question": question.question, "context": context}
    if not question.options:
        template = BRIEF_PROMPT if style == "brackets" else QA_PROMPT
        return Call("answer", fill_prompt(template, **facts), facts)
    options = _written(question.options, style)
    template = EXPLAINED_PROMPT if style == "brackets" else CHOICE_PROMPT
    kind: CallKind = "explained_choice" if style == "brackets" else "choice"
    prompt = fill_prompt(template, options=options, **facts)
    return Call(kind, prompt, {**facts, "options": question.options})


def choice_question(question: Question, style: AnswerStyle = "letter") -> str:
    """Return a question as one text, its options below it, as the style writes them."""
    if not question.options:
        return question.question
    return f"{question.question}\n{_written(question.options, style)}"


def read_reply(
    reply: str, question: Question | None = None, style: AnswerStyle = "letter"
) -> Reading:
    """Say whether a reply answers, by the rules of Self-Route, and what.

    Args:
        reply: As the model wrote it; the prediction keeps its explanation.
        question: What was asked; None: an open question.
        style: How the answer was asked for. A choice in the style `"brackets"` is
            read by `decline_rules`.
    """
    explained = style == "brackets" and question is not None and question.options
    rules = decline_rules(reply) if explained else None
    detector = DeclineDetector(rules=rules)
    released = detector.feed(reply) + detector.finish()
    answered = detector.decision != "declined"
    return Reading(released.strip() if answered else "", answered)


def _written(options: Sequence[str], style: AnswerStyle) -> str:
    return (number_options if style == "brackets" else format_options)(options)
