"""Self-Route: retrieved chunks first, the full documents if the model refuses."""

from oprag.calls import word_in_reply
from oprag.routing.answers import Routed, route
from oprag.routing.options import (
    DEFAULT_STEPS,
    OF_RETRIEVERS,
    RouteOptions,
    Step,
    check_route,
    no_text,
    no_tools,
    read_steps,
    tokens_to_retrieve,
)
from oprag.routing.step_context import Excerpt, StepContext

__all__ = [
    "DEFAULT_STEPS",
    "OF_RETRIEVERS",
    "Excerpt",
    "RouteOptions",
    "Routed",
    "Step",
    "StepContext",
    "check_route",
    "no_text",
    "no_tools",
    "read_steps",
    "route",
    "tokens_to_retrieve",
    "word_in_reply",
]
