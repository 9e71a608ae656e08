"""A question and a context as one call of a model, and the reply as a prediction."""

from __future__ import annotations

from typing import NamedTuple

from oprag.declining import DeclineDetector
from oprag.evaluation.data import Question
from oprag.evaluation.models import Call
from oprag.prompts import CHOICE_PROMPT, QA_PROMPT, fill_prompt, format_options

__all__ = ["Reading", "answer_call", "choice_question", "read_reply"]


class Reading(NamedTuple):
    """What a reply says."""

    prediction: str
    """The reply without blanks around it; empty when it declines."""
    answered: bool
    """False when it declines."""


def answer_call(question: Question, context: str) -> Call:
    """Ask a question of a context. All systems ask with the same words.

    Args:
        question: With options it is asked as a multiple-choice question.
        context: What the model may read.
    """
    facts = {"question": question.question, "context": context}
    if not question.options:
        prompt = fill_prompt(QA_PROMPT, **facts)
        return Call("answer", prompt, facts)
    options = format_options(question.options)
    prompt = fill_prompt(CHOICE_PROMPT, options=options, **facts)
    return Call("choice", prompt, {**facts, "options": question.options})


def choice_question(question: Question) -> str:
    """Give a question as one text, its options, lettered, below it."""
    if not question.options:
        return question.question
    return f"{question.question}\n{format_options(question.options)}"


def read_reply(reply: str) -> Reading:
    """Say whether a reply answers, by the rules of Self-Route, and what."""
    detector = DeclineDetector()
    released = detector.feed(reply) + detector.finish()
    answered = detector.decision != "declined"
    return Reading(released.strip() if answered else "", answered)
