"""Replies about a document, which every question on it shares: asked for once."""

from __future__ import annotations

from oprag.calls import TokenUsage
from oprag.errors import ChatModelError
from oprag.evaluation.artifacts import Facts
from oprag.evaluation.bench import Bench
from oprag.evaluation.models import Call, Completion

_NEEDED = ("gist", "summary")
"""What is read later; of other replies an unusable one is provided for."""


async def kept_reply(bench: Bench, call: Call) -> Completion:
    """Reply to a call, from the cache where the model was asked the same before.

    A tree or a set of gists that was interrupted goes on where it was.

    Args:
        bench: Its model replies, its artifacts keep the reply.
        call: A reply is kept for the model's name, the prompt and the longest reply.

    Raises:
        ChatModelError: The model failed, or wrote an empty summary or gist.
        SpendingCapError: The run may not spend more.
    """

    async def make() -> Facts:
        completion = await bench.model.complete(call)
        if call.kind in _NEEDED and not completion.text.strip():
            message = (
                f"The chat model {bench.model.name!r} wrote an empty {call.kind}. Run "
                "it again, or use another model."
            )
            raise ChatModelError(message, model=bench.model.name)
        return {"text": completion.text, "usage": completion.usage.to_dict()}

    asked = {
        "model": bench.model.name,
        "prompt": call.prompt,
        "max_output_tokens": call.max_output_tokens,
    }
    made = await bench.artifacts.made(call.kind, asked, make)
    return Completion(made["text"], TokenUsage(**made["usage"]))
