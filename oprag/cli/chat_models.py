"""Chat models by name, and what goes wrong with them in one line."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, NamedTuple

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import HumanMessage
from langchain_core.messages.ai import UsageMetadata, add_usage

from oprag.calls import (
    StreamEnd,
    TokenUsage,
    hint_of,
    is_window_overflow,
    said_by,
    text_of,
    well_formed,
    whole_characters,
)
from oprag.errors import ModelCallError
from oprag.tokens import resolve_token_counter

_REPORTS_USAGE_WHEN_ASKED = ("azure_openai", "openai")


class Answer(NamedTuple):
    """What a chat model wrote."""

    text: str
    usage: TokenUsage
    """As the provider reported it; else counted here and marked as estimated."""
    cut: bool
    """Whether it ends where the longest answer was reached."""


def load_chat_model(name: str, **options: Any) -> BaseChatModel:
    """Make the client of a chat model. Nothing is sent yet.

    Args:
        name: `provider:model`, as LangChain's `init_chat_model` takes it.
        **options: Of the client, such as `temperature`.

    Raises:
        ModelCallError: The provider is not known, its package is not installed, or
            it lacks a key.
    """
    from langchain.chat_models import init_chat_model

    provider, _, model = name.partition(":")
    if provider in _REPORTS_USAGE_WHEN_ASKED:
        options["stream_usage"] = True
    try:
        loaded = init_chat_model(model, model_provider=provider, **options)
    except Exception as error:  # the clients have no error in common
        raise _not_loaded(name, provider, error) from error
    if not isinstance(loaded, BaseChatModel):
        message = f"{name!r} is not the name of one chat model."
        raise ModelCallError(message, model=name)
    return loaded


def stream_answer(
    model: BaseChatModel, name: str, prompt: str, write: Callable[[str], None]
) -> Answer:
    """Ask a chat model and hand on what it writes as it comes.

    Raises:
        ModelCallError: It cannot be reached, refuses, or breaks off.
    """
    text = held = ""
    reported: UsageMetadata | None = None
    end = StreamEnd()
    stream = model.stream([HumanMessage(prompt)])
    while True:
        try:
            piece = next(stream, None)
            if piece is None:
                end.check()
                break
        except Exception as error:  # the clients have no error in common
            raise model_failure(name, error, begun=bool(text)) from error
        # The pieces of a stream add up to the whole call.
        if part := getattr(piece, "usage_metadata", None):
            reported = add_usage(reported, part)
        end.see(piece)
        whole, held = whole_characters(held + text_of(piece))
        if said := well_formed(whole):
            text += said
            write(said)
    if reported:
        usage = TokenUsage.reported(reported)
    else:
        usage = TokenUsage.counted(prompt, text, resolve_token_counter())
    return Answer(text, usage, end.cut == "length")


def _not_loaded(name: str, provider: str, error: Exception) -> ModelCallError:
    if provider == "openai" and not os.environ.get("OPENAI_API_KEY"):
        said = "it needs a key."
        hint = (
            "Set OPENAI_API_KEY; for a server of your own at OPENAI_BASE_URL any text "
            "will do."
        )
    else:
        said = said_by(error)
        hint = "Check the name, provider:model, and the provider's key."
        if isinstance(error, ImportError):
            hint = ""  # it names the package
    message = f"The chat model {name!r} cannot be used: {said} {hint}"
    return ModelCallError(message.strip(), model=name)


def model_failure(
    name: str,
    error: Exception,
    *,
    begun: bool,
    overflow_hint: str = "Give a smaller --token-budget.",
) -> ModelCallError:
    """Tell in one line what a client raised; raise what is returned.

    Args:
        name: The model as the user named it.
        error: What its client raised.
        begun: Whether the model had begun its answer.
        overflow_hint: What to do where the prompt was too long for the model.
    """
    what = "broke off" if begun else "did not answer"
    hint = overflow_hint if is_window_overflow(error) else hint_of(error)
    message = f"The chat model {name!r} {what}: {said_by(error)} {hint}"
    return ModelCallError(message.strip(), model=name)
