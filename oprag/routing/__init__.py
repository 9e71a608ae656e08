"""Self-Route: retrieved chunks first, the full documents if the model refuses."""

from oprag.routing.answers import Routed, route
from oprag.routing.decline import declines, word_in_reply
from oprag.routing.driver import Answering, ModelCall, aanswer, answer
from oprag.routing.options import (
    DEFAULT_RUNGS,
    RouteOptions,
    Rung,
    as_rungs,
    check_route,
    no_tools,
    tokens_to_retrieve,
)
from oprag.routing.rung_context import Excerpt, RungContext

__all__ = [
    "DEFAULT_RUNGS",
    "Answering",
    "Excerpt",
    "ModelCall",
    "RouteOptions",
    "Routed",
    "Rung",
    "RungContext",
    "aanswer",
    "answer",
    "as_rungs",
    "check_route",
    "declines",
    "no_tools",
    "route",
    "tokens_to_retrieve",
    "word_in_reply",
]
