"""How a run asks for its answers: by letter, or as DOS RAG's reader does."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias, get_args

from oprag.calls import CONTEXT_PART, SENTINEL, without_reasoning
from oprag.errors import InvalidOptionError
from oprag.evaluation.metrics import bracketed_option
from oprag.routing import DeclineRules

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

BRIEF_PROMPT = (
    CONTEXT_PART
    + f"""
If the text does not hold the answer to the question, write the following and \
nothing more: {SENTINEL}
Otherwise write the answer in 1 to 20 words, and nothing beyond it."""
    + """

Question: {question}
Answer:"""
)
"""Of open questions in the style `"brackets"`; `{context}` and `{question}`."""

EXPLAINED_PROMPT = (
    CONTEXT_PART
    + f"""
If the text does not show which option is right, write the following and nothing \
more: {SENTINEL}
Otherwise say in a sentence or two what the text shows, and after that write the \
number of the right option in double square brackets, [[1]] for the first."""
    + """

Question: {question}
{options}
Answer:"""
)
"""Of multiple choice in that style; `{options}` as `number_options` writes them."""

_STANDING_FIRST = DeclineRules(subjects=(), contractions=())
"""Without the refusals that are sentences: see `decline_rules`."""


def check_answer_style(style: str) -> AnswerStyle:
    """Return the style of that name.

    Raises:
        InvalidOptionError: There is none.
    """
    for known in ANSWER_STYLES:
        if style == known:
            return known
    message = f"answer_style={style!r}: it takes {' or '.join(ANSWER_STYLES)}."
    raise InvalidOptionError(message, option="answer_style", value=style)


def number_options(options: Sequence[str]) -> str:
    """Write options one to a line, numbered from 1: `1. first`, `2. second`."""
    return "\n".join(f"{number}. {text}" for number, text in enumerate(options, 1))


def decline_rules(reply: str) -> DeclineRules | None:
    """Choose the rules by which a choice in the style `"brackets"` is read.

    A reply that explains itself may say in one sentence that the question is
    unanswerable from one part of the text, and go on to the option. So where an option
    is named, only a refusal that stands first counts.

    Returns:
        None for the rules as they are.
    """
    said = without_reasoning(reply, _STANDING_FIRST.reasoning_tags)
    return None if bracketed_option(said) is None else _STANDING_FIRST
