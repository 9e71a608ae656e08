"""Self-Route: retrieved chunks first, the full documents if the model declines."""

from oprag.routing.declining import DeclineDetector
from oprag.routing.driving import advance, route
from oprag.routing.excerpts import Excerpt, FullDocument
from oprag.routing.ladder import DEFAULT_RUNGS, Rung, as_rungs
from oprag.routing.refusals import DeclineRules, is_refusal
from oprag.routing.route_requests import Ask, Desk, Fetch, Routed, RouteOptions, Steps
from oprag.routing.routing_cost import RoutingCostMonitor
from oprag.routing.rung_context import (
    PromptSize,
    RungContext,
    chunks_of_documents,
    context_of_documents,
)

__all__ = [
    "DEFAULT_RUNGS",
    "Ask",
    "DeclineDetector",
    "DeclineRules",
    "Desk",
    "Excerpt",
    "Fetch",
    "FullDocument",
    "PromptSize",
    "RouteOptions",
    "Routed",
    "RoutingCostMonitor",
    "Rung",
    "RungContext",
    "Steps",
    "advance",
    "as_rungs",
    "chunks_of_documents",
    "context_of_documents",
    "is_refusal",
    "route",
]
