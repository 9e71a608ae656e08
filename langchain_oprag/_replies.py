"""What a chat model's reply says and what it took, on every release of LangChain."""

from __future__ import annotations

from typing import Any

from langchain_core.messages.ai import UsageMetadata, add_usage

from oprag.calls import REPLY_FIELDS, TokenUsage, filled_reply, text_of
from oprag.routing import DeclineDetector, DeclineRules

REPLY_SCHEMA: dict[str, Any] = {
    "title": "Reply",
    "description": "The reply to a question about a text.",
    "type": "object",
    "properties": {
        name: {
            "type": "boolean" if name == "answerable" else "string",
            "description": description,
        }
        for name, description in REPLY_FIELDS.items()
    },
    "required": [*REPLY_FIELDS],
    "additionalProperties": False,
}
"""What the model fills in with `structured_output=True`."""


class IncomingReply:
    """A reply as it comes, whole or in pieces: what is answer, and what it took.

    Args:
        rules: How a refusal is recognised.
        final: Whether it stands whatever it says, so that nothing is held back.
    """

    streams = True
    """Whether it can be taken in pieces."""

    def __init__(self, rules: DeclineRules, *, final: bool) -> None:
        self._detector = DeclineDetector(rules=rules, final=final)
        self._usage: UsageMetadata | None = None
        self.model: str | None = None
        """The model's name as the provider reported it."""

    @property
    def text(self) -> str:
        """All of it, a refusal included."""
        return self._detector.text

    @property
    def declined(self) -> bool:
        """Whether it declines; known after `finish`."""
        return self._detector.decision == "declined"

    @property
    def usage(self) -> TokenUsage | None:
        """Tokens as the provider reported them; None when it did not."""
        return None if self._usage is None else TokenUsage.reported(self._usage)

    def take(self, message: Any) -> str:
        """Take the next piece; return what may be output."""
        self._account(message)
        return self._detector.feed(text_of(message))

    def finish(self) -> str:
        """End the reply; return what else may be output."""
        return self._detector.finish()

    def _account(self, message: Any) -> None:
        usage = getattr(message, "usage_metadata", None)
        if usage:
            # The pieces of a stream add up to the whole call.
            self._usage = add_usage(self._usage, usage)
        metadata = getattr(message, "response_metadata", None) or {}
        self.model = metadata.get("model_name") or self.model


class StructuredReply(IncomingReply):
    """A reply in which the model said by a field whether it declines."""

    streams = False

    def take(self, message: Any) -> str:
        """Take the parsed reply.

        Args:
            message: With `raw`, `parsed` and `parsing_error`, as
                `with_structured_output(include_raw=True)` gives it.

        Raises:
            ValueError: It does not have the fields that were asked for.
        """
        self._account(message["raw"])
        parsed = message["parsed"]
        if not _is_filled(parsed):
            text = text_of(message["raw"])
            fault = f"The structured reply lacks answerable or answer: {text!r:.200}"
            raise ValueError(fault) from message["parsing_error"]
        filled = {name: parsed[name] for name in REPLY_FIELDS}
        return self._detector.feed(
            filled_reply(self._detector.rules.sentinels[0], **filled)
        )


def _is_filled(parsed: Any) -> bool:
    return (
        isinstance(parsed, dict)
        and isinstance(parsed.get("answerable"), bool)
        and isinstance(parsed.get("answer"), str)
    )
