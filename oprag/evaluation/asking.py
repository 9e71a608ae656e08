"""A question and a context as one call of a model, and the reply as a prediction."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal, NamedTuple, TypeAlias, get_args

from oprag.calls import (
    CHOICE_PROMPT,
    CONTEXT_PART,
    SENTINEL,
    fill_prompt,
    format_options,
    without_reasoning,
)
from oprag.evaluation.data import Question
from oprag.evaluation.metrics import bracketed_option
from oprag.evaluation.models import Call, CallKind
from oprag.routing import DeclineRules, is_refusal

AnswerStyle: TypeAlias = Literal["letter", "brackets"]
"""`"letter"`: multiple choice is answered with the option's letter alone, and an open
question in as few words as it takes. `"brackets"`: multiple choice with a short
explanation and then the option's number as `[[n]]`, and an open question in 1 to 20
words. Either may be declined. LongRAG's calls for open questions are its own in both.

Source:
    `"brackets"`: DOS RAG (arXiv:2506.03989), appendix A.8. The words are our own. The
    paper's reader may decline open questions only, with a sentence; ours declines
    both, with the one word that all our prompts have.
"""

ANSWER_STYLES: tuple[AnswerStyle, ...] = get_args(AnswerStyle)
"""The default first."""

_OPEN = (
    CONTEXT_PART
    + f"""
If the text does not hold the answer to the question, write the following and \
nothing more: {SENTINEL}
Otherwise write the answer """
)
_ASKED = "\n\nQuestion: {question}\n"

TERSE_PROMPT = f"{_OPEN}alone, in as few words as it takes.{_ASKED}Answer:"
"""Of open questions in the style `"letter"`; `{context}` and `{question}`. Measures
compare words, so that each word beyond the answer would count against it."""

BRIEF_PROMPT = f"{_OPEN}in 1 to 20 words, and nothing beyond it.{_ASKED}Answer:"
"""Of open questions in the style `"brackets"`."""

EXPLAINED_PROMPT = (
    CONTEXT_PART
    + f"""
If the text does not show which option is right, write the following and nothing \
more: {SENTINEL}
Otherwise say in a sentence or two what the text shows, and after that write the \
number of the right option in double square brackets, [[1]] for the first."""
    + _ASKED
    + "{options}\nAnswer:"
)
"""Of multiple choice in that style; `{options}` as `number_options` writes them."""

_STANDING_FIRST = re.compile(rf"\W*(?:answer\W+)?{SENTINEL}\b", re.IGNORECASE)


def number_options(options: Sequence[str]) -> str:
    """Write options one to a line, numbered from 1: `1. first`, `2. second`."""
    return "\n".join(f"{number}. {text}" for number, text in enumerate(options, 1))


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
        template = BRIEF_PROMPT if style == "brackets" else TERSE_PROMPT
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
    """Return whether a reply answers, by the rules of Self-Route, and what.

    Args:
        reply: As the model wrote it; the prediction keeps its explanation.
        question: What was asked; None: an open question.
        style: How the answer was asked for. A reply in the style `"brackets"` may say
            of one part of the text that the question is unanswerable from it, and go
            on to an option. So where a choice names one, only a refusal that stands
            first counts.
    """
    said = without_reasoning(reply, DeclineRules().reasoning_tags)
    explained = style == "brackets" and question is not None and question.options
    chosen = bool(explained) and bracketed_option(said) is not None
    answered = not is_refusal(reply) or (chosen and not _STANDING_FIRST.match(said))
    return Reading(said.strip() if answered else "", answered)


def _written(options: Sequence[str], style: AnswerStyle) -> str:
    return (number_options if style == "brackets" else format_options)(options)
