"""Model calls: dialogues, prompts, windows, usage, kinds of failure."""

from oprag.calls.client_errors import carried, hint_of, is_window_overflow, said_by
from oprag.calls.decline import LONGEST_OPENING, declines, opening_of, word_in_reply
from oprag.calls.dialogue import (
    CALL_DESCRIPTIONS,
    CallModel,
    Dialogue,
    PromptedModel,
    PromptSize,
    ReadDocuments,
    Reply,
    ask,
    frame_tokens,
)
from oprag.calls.driver import Answering, ModelCall, aanswer, answer
from oprag.calls.ledger import Ledger, Price, TokenUsage, as_prices
from oprag.calls.prompts import (
    CONTEXT_PART,
    DECLINE_TOOL,
    QA_VARIABLES,
    SENTINEL,
    Decline,
    by_call,
    check_prompt,
    qa_prompt,
)
from oprag.calls.replies import (
    Finish,
    StreamEnd,
    field_of,
    text_of,
    well_formed,
    without_reasoning,
)
from oprag.calls.secrets import keep_secret, without_secrets

__all__ = [
    "CALL_DESCRIPTIONS",
    "CONTEXT_PART",
    "DECLINE_TOOL",
    "LONGEST_OPENING",
    "QA_VARIABLES",
    "SENTINEL",
    "Answering",
    "CallModel",
    "Decline",
    "Dialogue",
    "Finish",
    "Ledger",
    "ModelCall",
    "Price",
    "PromptSize",
    "PromptedModel",
    "ReadDocuments",
    "Reply",
    "StreamEnd",
    "TokenUsage",
    "aanswer",
    "answer",
    "as_prices",
    "ask",
    "by_call",
    "carried",
    "check_prompt",
    "declines",
    "field_of",
    "frame_tokens",
    "hint_of",
    "is_window_overflow",
    "keep_secret",
    "opening_of",
    "qa_prompt",
    "said_by",
    "text_of",
    "well_formed",
    "without_reasoning",
    "without_secrets",
    "word_in_reply",
]
