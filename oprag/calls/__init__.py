"""Model calls: dialogues, prompts, windows, usage, kinds of failure."""

from oprag.calls.client_errors import (
    carried,
    hint_of,
    is_window_overflow,
    read_error_message,
)
from oprag.calls.decline import cut_opening, declines, word_in_reply
from oprag.calls.dialogue import (
    CALL_DESCRIPTIONS,
    CallModel,
    Dialogue,
    PromptedModel,
    PromptSize,
    ReadDocuments,
    Reply,
    ask_model,
    frame_tokens,
)
from oprag.calls.driver import (
    Answering,
    ClientCalls,
    ModelCall,
    arun_dialogue,
    run_dialogue,
)
from oprag.calls.ledger import Ledger, Price, TokenUsage, read_prices
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
    read_message_text,
    strip_reasoning,
    well_formed,
)
from oprag.calls.secrets import hide_secrets, keep_secret

__all__ = [
    "CALL_DESCRIPTIONS",
    "CONTEXT_PART",
    "DECLINE_TOOL",
    "QA_VARIABLES",
    "SENTINEL",
    "Answering",
    "CallModel",
    "ClientCalls",
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
    "arun_dialogue",
    "ask_model",
    "by_call",
    "carried",
    "check_prompt",
    "cut_opening",
    "declines",
    "field_of",
    "frame_tokens",
    "hide_secrets",
    "hint_of",
    "is_window_overflow",
    "keep_secret",
    "qa_prompt",
    "read_error_message",
    "read_message_text",
    "read_prices",
    "run_dialogue",
    "strip_reasoning",
    "well_formed",
    "word_in_reply",
]
