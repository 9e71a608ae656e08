"""What Self-Route tells LlamaIndex's instrumentation."""

from __future__ import annotations

from llama_index.core.instrumentation.events import BaseEvent

from oprag.calls import RungDecision


class SelfRouteEvent(BaseEvent):
    """What happened at one step of a question, sent as soon as it is known."""

    query: str
    """The question."""
    rung: str
    """The step's name."""
    decision: RungDecision
    """`"answered"`, `"declined"`, `"skipped"` or `"failed"`."""
    model: str | None = None
    """The model that read it; None when unknown or when none did."""
    input_tokens: int = 0
    """Tokens of the prompt."""
    output_tokens: int = 0
    """Tokens of the reply."""
    note: str | None = None
    """Why it was skipped, how it was cut, or that the window is unknown."""

    @classmethod
    def class_name(cls) -> str:
        """Name in event logs."""
        return "SelfRouteEvent"
