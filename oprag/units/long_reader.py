"""The long reader for one question, as a dialogue that a driver carries out."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from dataclasses import dataclass
from typing import Any

from oprag.calls import (
    CALL_DESCRIPTIONS,
    CallModel,
    Dialogue,
    Ledger,
    PromptedModel,
    ask_model,
    read_prices,
)
from oprag.context import DESCRIPTIONS, check_option
from oprag.errors import ContextWindowError, ModelCallError
from oprag.tokens import TokenCounter

READER_DESCRIPTIONS = {
    "one_call_below": "A context of fewer tokens takes one call; 0: always two.",
    **CALL_DESCRIPTIONS,
    "separator": "Put between units.",
    "token_counter": DESCRIPTIONS["token_counter"],
}
"""Descriptions of the options that the long reader has in both frameworks."""

_TOO_LONG = "Units are read whole: retrieve fewer."


def check_reader_option(option: str, value: Any) -> None:
    """Make sure that an option of the long reader has a possible value.

    Raises:
        InvalidOptionError: It is not possible.
    """
    if option == "prices":
        read_prices(value)
    else:
        check_option(option, value)


@dataclass(frozen=True, slots=True)
class LongAnswer:
    """The answers, as the model wrote them, blanks around them included."""

    answer: str | None
    """The short answer; None when there was nothing to read."""
    long_answer: str | None
    """The answer it was taken from; None when there was one call or none."""


def read_long(
    context: str,
    question: str,
    model: PromptedModel,
    *,
    ledger: Ledger,
    token_counter: TokenCounter,
    one_call_below: int = 1000,
) -> Dialogue[LongAnswer]:
    """Answer one question from long units.

    Yields:
        The calls to send next.

    Returns:
        The answers.

    Raises:
        ContextWindowError: A prompt does not fit the model's window.
        ModelCallError: The model failed, or gave an empty reply.

    Source:
        LongRAG (arXiv 2406.15319): a long answer first, then the short one from
        question and long answer; one call for texts below about 1,000 tokens.
    """
    if not context.strip():
        return LongAnswer(None, None)
    asked = {"context": context, "question": question}
    if token_counter(context) < one_call_below:
        answer = yield from _ask_reader("direct", asked, model, ledger)
        return LongAnswer(answer, None)
    long_answer = yield from _ask_reader("long", asked, model, ledger)
    values = {"question": question, "long_answer": long_answer.strip()}
    answer = yield from _ask_reader("short", values, model, ledger, long_answer)
    return LongAnswer(answer, long_answer)


def _ask_reader(
    prompt: str,
    values: Mapping[str, str],
    model: PromptedModel,
    ledger: Ledger,
    long_answer: str | None = None,
) -> Generator[CallModel, Any, str]:
    """Ask the driver for a call, and return the text of its reply."""

    def report_failure(how: str) -> ModelCallError:
        kept = "" if long_answer is None else "the long answer is in long_answer; "
        return ModelCallError(
            f"The model {how}, on the {prompt!r} call of the long reader. The "
            f"question is not answered; {kept}what was spent is in usage.",
            call=prompt,
            long_answer=long_answer,
            usage=ledger.to_dict(),
        )

    size = model.measure_prompt(prompt)
    if size.window is not None:
        tokens = size.tokens(values)
        if (needed := tokens + size.reserved) > size.window:
            message = (
                f"The prompt of the {prompt!r} call takes {tokens} tokens, and with "
                f"the {size.reserved} kept for the answer that is more than the window "
                f"of {size.window}. {_TOO_LONG}"
            )
            raise ContextWindowError(message, window=size.window, needed=needed)
    reply = yield from ask_model(
        CallModel(prompt, values, "draft" if prompt == "long" else "answer"),
        model,
        ledger,
        failed=lambda what: report_failure(f"failed: {what}"),
        too_long=_TOO_LONG,
        decision=lambda reply: "answered" if reply.text.strip() else "failed",
        note=size.note,
    )
    if not reply.text.strip():
        raise report_failure("gave an empty reply")
    return reply.text
