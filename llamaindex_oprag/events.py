"""The event that says why a component's nodes were chosen."""

from __future__ import annotations

from typing import Any

import llama_index.core.instrumentation as instrument
from llama_index.core.instrumentation.events import BaseEvent
from llama_index.core.schema import NodeWithScore

from oprag.context import Arranged, Problems

_dispatcher = instrument.get_dispatcher(__name__)  # type: ignore[attr-defined]  # re-exported there without an __all__


class OrderedContextEvent(BaseEvent):
    """Nodes were chosen and put in order.

    Args:
        why: The ranks that were `kept` and those `dropped`, by what left them out;
            `duplicates`; with a token budget the `tokens` used and `left`.
    """

    why: dict[str, Any]

    @classmethod
    def class_name(cls) -> str:
        """Name of the event."""
        return "OrderedContextEvent"


def reported(
    ordered: Arranged[NodeWithScore], problems: Problems
) -> list[NodeWithScore]:
    """Return the nodes; warn of what is wrong, and send the event."""
    _dispatcher.event(OrderedContextEvent(why=dict(ordered.why)))
    return ordered.reported(problems)
