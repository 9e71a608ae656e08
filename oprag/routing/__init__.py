"""Self-Route: retrieved chunks first, the full documents if the model refuses."""

from oprag.routing.answers import Routed, route
from oprag.routing.decline import LONGEST_OPENING, declines, opening_of, word_in_reply
from oprag.routing.driver import Answering, ModelCall, aanswer, answer
from oprag.routing.options import (
    DEFAULT_STEPS,
    OF_RETRIEVERS,
    RouteOptions,
    Step,
    as_steps,
    check_route,
    no_text,
    no_tools,
    tokens_to_retrieve,
)
from oprag.routing.step_context import Excerpt, StepContext

__all__ = [
    "DEFAULT_STEPS",
    "LONGEST_OPENING",
    "OF_RETRIEVERS",
    "Answering",
    "Excerpt",
    "ModelCall",
    "RouteOptions",
    "Routed",
    "Step",
    "StepContext",
    "aanswer",
    "answer",
    "as_steps",
    "check_route",
    "declines",
    "no_text",
    "no_tools",
    "opening_of",
    "route",
    "tokens_to_retrieve",
    "word_in_reply",
]
