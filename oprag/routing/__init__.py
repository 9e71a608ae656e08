"""Self-Route: retrieved chunks first, the full documents if the model refuses."""

from oprag.routing.answering import Routed, route
from oprag.routing.decline_detector import DeclineDetector
from oprag.routing.declining import Decline, declines, word_in_reply
from oprag.routing.full_documents import (
    Excerpt,
    FullContext,
    FullDocument,
    Layout,
    full_context,
    joined,
)
from oprag.routing.options import (
    DEFAULT_RUNGS,
    FIRST_TOKENS,
    ROUTE_DESCRIPTIONS,
    RouteOptions,
    Rung,
    as_rungs,
    check_route,
    only_document,
    tokens_to_retrieve,
)
from oprag.routing.rung_context import (
    RungContext,
    chunks_of_documents,
    context_of_documents,
    is_enough,
)

__all__ = [
    "DEFAULT_RUNGS",
    "FIRST_TOKENS",
    "ROUTE_DESCRIPTIONS",
    "Decline",
    "DeclineDetector",
    "Excerpt",
    "FullContext",
    "FullDocument",
    "Layout",
    "RouteOptions",
    "Routed",
    "Rung",
    "RungContext",
    "as_rungs",
    "check_route",
    "chunks_of_documents",
    "context_of_documents",
    "declines",
    "full_context",
    "is_enough",
    "joined",
    "only_document",
    "route",
    "tokens_to_retrieve",
    "word_in_reply",
]
