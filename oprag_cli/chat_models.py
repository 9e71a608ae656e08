"""Chat models by name, and their errors in one line."""

from __future__ import annotations

import os
from typing import Any

from langchain_core.language_models import BaseChatModel

from oprag.calls import hint_of, is_window_overflow, read_error_message
from oprag.errors import ModelCallError

_REPORTS_USAGE_WHEN_ASKED = ("azure_openai", "openai")


def load_chat_model(name: str, **options: Any) -> BaseChatModel:
    """Make the client of a chat model. Nothing is sent yet.

    Args:
        name: `provider:model`, as LangChain's `init_chat_model` takes it.
        **options: Options of the client, such as `temperature`.

    Raises:
        ModelCallError: The provider is not known, its package is not installed, or
            it lacks a key.
    """
    from langchain.chat_models import init_chat_model

    provider, _, model = name.partition(":")
    if provider in _REPORTS_USAGE_WHEN_ASKED:
        options["stream_usage"] = True
    if provider == "openai" and (address := os.environ.get("OPENAI_BASE_URL")):
        # Otherwise the client would prefer the address in OPENAI_API_BASE.
        options.setdefault("base_url", address)
    try:
        loaded = init_chat_model(model, model_provider=provider, **options)
    except Exception as error:  # the clients have no error in common
        raise _not_loaded(name, provider, error) from error
    if not isinstance(loaded, BaseChatModel):
        message = (
            f"{name!r} is not the name of one chat model. Write provider:model, such "
            "as openai:gpt-4o-mini."
        )
        raise ModelCallError(message, model=name)
    return loaded


def _not_loaded(name: str, provider: str, error: Exception) -> ModelCallError:
    if provider == "openai" and not os.environ.get("OPENAI_API_KEY"):
        said = "it needs a key."
        hint = (
            "Set OPENAI_API_KEY; for a server of your own at OPENAI_BASE_URL any text "
            "will do."
        )
    else:
        said = read_error_message(error)
        hint = "Check the name, provider:model, and the provider's key."
        if isinstance(error, ImportError):
            hint = ""  # it names the package
    message = f"The chat model {name!r} cannot be used: {said} {hint}"
    return ModelCallError(message.strip(), model=name)


def model_failure(
    name: str, error: Exception, *, begun: bool, overflow_hint: str
) -> ModelCallError:
    """Return an error to raise, which tells a client's error in one line.

    Args:
        name: The model as the user named it.
        error: The error that its client raised.
        begun: Whether the model had begun its answer.
        overflow_hint: Advice for a prompt that was too long for the model.
    """
    what = "broke off" if begun else "did not answer"
    hint = overflow_hint if is_window_overflow(error) else hint_of(error)
    message = f"The chat model {name!r} {what}: {read_error_message(error)} {hint}"
    return ModelCallError(message.strip(), model=name)
