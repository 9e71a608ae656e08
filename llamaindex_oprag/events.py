"""The event that says why a component's nodes were chosen."""

from __future__ import annotations

from typing import Any

from llama_index.core.instrumentation.events import BaseEvent


class OrderedContextEvent(BaseEvent):
    """Nodes were chosen and put in order.

    Args:
        why: The ranks that were `kept`, and the ranks `dropped`, by the reason;
            `doubts` about names; the ranks `chained` by other nodes of their document,
            through `overlaps`, `links` (PREVIOUS and NEXT) or `numbers`; the `ids` of
            the chunks in merged nodes, by their ranks; with a token budget the `tokens`
            used and `left`, and the counter's name.
    """

    why: dict[str, Any]

    @classmethod
    def class_name(cls) -> str:
        """Return the name of the event."""
        return "OrderedContextEvent"
