"""Self-Route: retrieved chunks first, the full documents if the model refuses."""

from oprag.routing.answering import Routed, route
from oprag.routing.declining import DeclineDetector
from oprag.routing.excerpts import Excerpt, FullDocument
from oprag.routing.options import (
    DEFAULT_RUNGS,
    FIRST_TOKENS,
    ROUTE_DESCRIPTIONS,
    ROUTE_OPTIONS,
    RouteOptions,
    Rung,
    as_rungs,
    check_route,
    check_route_option,
    only_document,
    tokens_to_retrieve,
)
from oprag.routing.refusals import DeclineRules, as_decline_rules, is_refusal
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
    "ROUTE_OPTIONS",
    "DeclineDetector",
    "DeclineRules",
    "Excerpt",
    "FullDocument",
    "RouteOptions",
    "Routed",
    "Rung",
    "RungContext",
    "as_decline_rules",
    "as_rungs",
    "check_route",
    "check_route_option",
    "chunks_of_documents",
    "context_of_documents",
    "is_enough",
    "is_refusal",
    "only_document",
    "route",
    "tokens_to_retrieve",
]
