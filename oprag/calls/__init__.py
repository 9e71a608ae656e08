"""What one model call needs: prompt, window, account of tokens, kinds of failure."""

from oprag.calls.client_errors import (
    hint_of,
    is_transient,
    is_window_overflow,
    retry_after,
    said_by,
)
from oprag.calls.ledger import Ledger, RungDecision, RungEntry
from oprag.calls.prompts import (
    CHOICE_PROMPT,
    CHOICE_VARIABLES,
    CONTEXT_PART,
    QA_PROMPT,
    QA_VARIABLES,
    SENTINEL,
    check_prompt,
    choice_prompt,
    fill_prompt,
    format_options,
    qa_prompt,
)
from oprag.calls.reasoning import ReasoningFilter, without_reasoning
from oprag.calls.usage import Price, Reply, TokenUsage, as_prices
from oprag.calls.window import (
    WINDOW_UNKNOWN,
    WindowFit,
    WindowOverflow,
    fit_window,
    truncate_middle,
)

__all__ = [
    "CHOICE_PROMPT",
    "CHOICE_VARIABLES",
    "CONTEXT_PART",
    "QA_PROMPT",
    "QA_VARIABLES",
    "SENTINEL",
    "WINDOW_UNKNOWN",
    "Ledger",
    "Price",
    "ReasoningFilter",
    "Reply",
    "RungDecision",
    "RungEntry",
    "TokenUsage",
    "WindowFit",
    "WindowOverflow",
    "as_prices",
    "check_prompt",
    "choice_prompt",
    "fill_prompt",
    "fit_window",
    "format_options",
    "hint_of",
    "is_transient",
    "is_window_overflow",
    "qa_prompt",
    "retry_after",
    "said_by",
    "truncate_middle",
    "without_reasoning",
]
