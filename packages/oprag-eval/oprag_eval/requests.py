"""A question and a context as one call of a model, and the reply as an attempt."""

from __future__ import annotations

import re
import string
from collections.abc import Sequence

from oprag.calls import (
    SENTINEL,
    Decline,
    TokenUsage,
    by_call,
    declines,
    strip_reasoning,
)
from oprag_eval.bench import Bench
from oprag_eval.data import Question
from oprag_eval.metrics import bracketed_option
from oprag_eval.models import Call, CallKind
from oprag_eval.question_words import AnswerStyle, Wording
from oprag_eval.refusals import is_refusal
from oprag_eval.system import Attempt, Context, Step

_STANDING_FIRST = re.compile(rf"\W*(?:answer\W+)?{SENTINEL}\b", re.IGNORECASE)


def list_options(options: Sequence[str], style: AnswerStyle) -> str:
    """Write options one to a line: `1. first` for brackets, at most 26 `A. first`."""
    names = (
        range(1, len(options) + 1) if style == "brackets" else string.ascii_uppercase
    )
    return "\n".join(f"{n}. {text}" for n, text in zip(names, options, strict=False))


_OWN = Wording()


def answer_call(
    question: Question,
    context: str,
    style: AnswerStyle = "letter",
    wording: Wording = _OWN,
    *,
    routing: bool = False,
    decline: Decline = "word",
) -> Call:
    """Ask a question of a context. All systems of a run ask with the same words.

    Args:
        question: With options it is asked as a multiple-choice question.
        context: The text that the model may read.
        style: How the answer is to be written.
        wording: The words in which it is asked.
        routing: Whether a refusal leads on to another step: it may always be refused.
        decline: `"tool"` for a refusal by a call instead of by the word.
    """
    facts = {"question": question.question, "context": context}
    given = bool(question.options)
    template = wording.template(style, options=given, routing=routing)
    tool = decline == "tool" and SENTINEL in template
    if tool:
        template = by_call(template)
    if not given:
        return Call("answer", template.format(**facts), facts, tool)
    options = list_options(question.options, style)
    kind: CallKind = "explained_choice" if style == "brackets" else "choice"
    prompt = template.format(options=options, **facts)
    return Call(kind, prompt, {**facts, "options": question.options}, tool)


def choice_question(question: Question, style: AnswerStyle = "letter") -> str:
    """Return a question as one text, its options below it, as the style writes them."""
    if not question.options:
        return question.question
    return f"{question.question}\n{list_options(question.options, style)}"


def read_reply(
    reply: str,
    question: Question | None = None,
    style: AnswerStyle = "letter",
    *,
    routing: bool = False,
) -> str:
    """Return a reply without reasoning and blanks around it; empty if it declines.

    Args:
        reply: As the model wrote it; the prediction keeps its explanation.
        question: The question. None: an open question.
        style: How the answer was asked for. A reply in the style `"brackets"` may say
            of one part of the text that the question is unanswerable from it, and go
            on to an option. So if a choice names one, only a refusal that comes
            first counts.
        routing: Whether a refusal leads on to another step: then it declines by the
            rule of Self-Route.
    """
    said = strip_reasoning(reply)
    explained = style == "brackets" and question is not None and question.options
    chosen = bool(explained) and bracketed_option(said) is not None
    declined = declines(said) if routing else is_refusal(said)
    answered = not declined or (chosen and not _STANDING_FIRST.match(said))
    return said.strip() if answered else ""


async def read(
    question: Question,
    context: Context,
    bench: Bench,
    *before: Step,
    **usage: TokenUsage,
) -> Attempt:
    """Have a context read, and the question answered from it.

    The calls before this one are its steps, too, and their tokens come by stage.
    """
    style = bench.answer_style
    call = answer_call(question, context.text, style, bench.wording)
    completion = await bench.model.complete(call)
    prediction = read_reply(completion.text, question, style)
    last = Step("answer", completion.text, not prediction, completion.usage)
    return Attempt(
        prediction=prediction,
        reply=completion.text,
        pieces=context.pieces,
        context_tokens=bench.counter(context.text),
        steps=(*before, last) if before else (),
        usage={**usage, "answer": completion.usage},
    )
