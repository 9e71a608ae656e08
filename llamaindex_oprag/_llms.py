"""Reliable facts that an LLM reports about itself and its replies."""

from __future__ import annotations

from typing import Any

from llama_index.core.llms import LLM, LLMMetadata

from oprag.calls import TokenUsage, field_of
from oprag.errors import wrong_object


def check_llm(name: str, llm: Any) -> LLM:
    """Return the value of an option if it is an LLM.

    Raises:
        InvalidOptionError: It is not an LLM.
    """
    if isinstance(llm, LLM):
        return llm
    raise wrong_object(name, llm, "an LLM of LlamaIndex, such as Settings.llm")


def window_of(llm: LLM) -> int | None:
    """Return the tokens of prompt and answer together that a model takes.

    The default of an LLM class tells nothing about one model (`OpenAILike` gives 3,900
    for all models), so a default counts only if the user set it.

    Returns:
        The window, or None if it is not known.
    """
    window = llm.metadata.context_window
    if window <= 0:
        return None
    field = type(llm).model_fields.get("context_window")
    default = (
        (LLMMetadata if field is None else type(llm))
        .model_fields["context_window"]
        .default
    )
    written = "context_window" in llm.model_fields_set
    return window if written or window != default else None


def answer_tokens_of(llm: LLM) -> int | None:
    """Return the model's own limit of an answer; LlamaIndex's default is no limit."""
    limit = llm.metadata.num_output
    default = LLMMetadata.model_fields["num_output"].default
    return limit if limit > 0 and limit != default else None


def name_of(llm: LLM) -> str | None:
    """Name the model as the prices name it; None if it does not name itself."""
    name = llm.metadata.model_name
    unknown = LLMMetadata.model_fields["model_name"].default
    return None if name in ("", unknown) else name


def list_called_tools(response: Any) -> list[str]:
    """Name the tools that a response calls, in whichever form its client keeps them.

    A call is a block of the message, or the provider's object in `additional_kwargs`:
    OpenAI's has a `function`, Anthropic's and Google's have their own `name`.
    """
    message = getattr(response, "message", None)
    calls = [*(getattr(message, "blocks", None) or ())]
    calls += (getattr(message, "additional_kwargs", None) or {}).get("tool_calls") or ()
    names = (
        field_of(call, "tool_name")
        or field_of(call, "name")
        or field_of(field_of(call, "function"), "name")
        for call in calls
    )
    return [name for name in names if name]


def read_usage(response: Any) -> TokenUsage | None:
    """Return the tokens of one call, including cached ones.

    Args:
        response: A `ChatResponse` or `CompletionResponse`; for a stream, one of its
            parts. `raw` is the provider's own object or mapping: `usage` of OpenAI
            and servers like it, of Anthropic, or `usage_metadata` of Google. Else
            `additional_kwargs`, where LlamaIndex repeats the totals.

    Returns:
        The tokens; None if this response reports none.
    """
    raw = getattr(response, "raw", None)
    for usage in (field_of(raw, "usage"), field_of(raw, "usage_metadata")):
        if usage is not None and (read := _read_usage(usage)) is not None:
            return read
    return _read_usage(getattr(response, "additional_kwargs", None) or {})


def _read_usage(usage: Any) -> TokenUsage | None:
    sent = _number(usage, "prompt_tokens", "input_tokens", "prompt_token_count")
    cached = _number(usage, "cache_read_input_tokens")
    written = _number(usage, "cache_creation_input_tokens")
    if not sent + cached + written:  # LlamaIndex writes 0 if nothing was reported
        return None
    received = _number(
        usage, "completion_tokens", "output_tokens", "candidates_token_count"
    )
    if cached or written:  # Anthropic counts these apart from the rest of the prompt
        return TokenUsage(sent + cached + written, received, cached)
    # Google bills its reasoning tokens beside those of the reply.
    received += _number(usage, "thoughts_token_count")
    names = "prompt_tokens_details", "input_tokens_details"
    details = next(filter(None, (field_of(usage, name) for name in names)), None)
    cached = _number(details, "cached_tokens")
    return TokenUsage(
        sent, received, cached or _number(usage, "cached_content_token_count")
    )


def _number(usage: Any, *keys: str) -> int:
    """Return the first value under these keys that is a number; 0 if none is."""
    values = (field_of(usage, key) for key in keys)
    return next((value for value in values if type(value) is int), 0)
