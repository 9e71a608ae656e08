"""Self-Route: retrieved chunks first, the full documents if the model refuses."""

from oprag.routing.answers import FINISHES, Routed, route
from oprag.routing.decline import (
    BY_CALL,
    BY_WORD,
    DECLINE_TOOL,
    Decline,
    declines,
    qa_prompt,
    tool_tokens,
    word_in_reply,
)
from oprag.routing.driver import Answering, ModelCall, aanswer, answer
from oprag.routing.options import (
    DEFAULT_RUNGS,
    FIRST_TOKENS,
    RouteOptions,
    Rung,
    as_rungs,
    check_route,
    no_tools,
    tokens_to_retrieve,
)
from oprag.routing.rung_context import (
    Excerpt,
    FullDocument,
    RungContext,
    context_of_documents,
)

__all__ = [
    "BY_CALL",
    "BY_WORD",
    "DECLINE_TOOL",
    "DEFAULT_RUNGS",
    "FINISHES",
    "FIRST_TOKENS",
    "Answering",
    "Decline",
    "Excerpt",
    "FullDocument",
    "ModelCall",
    "RouteOptions",
    "Routed",
    "Rung",
    "RungContext",
    "aanswer",
    "answer",
    "as_rungs",
    "check_route",
    "context_of_documents",
    "declines",
    "no_tools",
    "qa_prompt",
    "route",
    "tokens_to_retrieve",
    "tool_tokens",
    "word_in_reply",
]
