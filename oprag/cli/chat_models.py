"""Chat models by name, and what goes wrong with them in one line."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, NamedTuple

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import HumanMessage
from langchain_core.messages.ai import UsageMetadata, add_usage

from oprag.calls import (
    ReplyFilter,
    StreamEnd,
    TokenUsage,
    hiding_secrets,
    hint_of,
    is_window_overflow,
    said_by,
    secrets_of,
    text_of,
)
from oprag.evaluation.errors import ChatModelError
from oprag.evaluation.readers.chat import is_cut, usage_of
from oprag.tokens import resolve_token_counter

_REPORTS_USAGE_WHEN_ASKED = ("azure_openai", "openai")


class Answer(NamedTuple):
    """What a chat model wrote."""

    text: str
    usage: TokenUsage
    """As the provider reported it; else counted here and marked as estimated."""
    cut: bool
    """Whether it ends where the longest answer was reached."""


class Shown:
    """Hands on what a model writes, as `oprag.calls.ReplyFilter` lets it be shown.

    Args:
        model: The client, which holds the key.
        write: Called with each piece.
    """

    def __init__(self, model: BaseChatModel, write: Callable[[str], None]) -> None:
        self._filter = ReplyFilter(secrets_of(model))
        self._write = write
        self.text = ""
        """All that was handed on."""

    def take(self, piece: str) -> None:
        """Take the next piece."""
        self._hand_on(self._filter.feed(piece))

    def end(self) -> None:
        """Hand on what was held back."""
        self._hand_on(self._filter.finish())

    def _hand_on(self, text: str) -> None:
        if text:
            self.text += text
            self._write(text)


def load_chat_model(name: str, **options: Any) -> BaseChatModel:
    """Make the client of a chat model. Nothing is sent yet.

    Args:
        name: `provider:model`, as LangChain's `init_chat_model` takes it.
        **options: Of the client, such as `temperature`.

    Raises:
        ChatModelError: The provider is not known, its package is not installed, or
            it lacks a key.
    """
    from langchain.chat_models import init_chat_model

    provider, _, model = name.partition(":")
    if provider in _REPORTS_USAGE_WHEN_ASKED:
        options["stream_usage"] = True
    with hiding_secrets():
        try:
            loaded = init_chat_model(model, model_provider=provider, **options)
        except Exception as error:  # the clients have no error in common
            raise _not_loaded(name, provider, error) from error
    if not isinstance(loaded, BaseChatModel):
        message = f"{name!r} is not the name of one chat model."
        raise ChatModelError(message, model=name)
    return loaded


def stream_answer(
    model: BaseChatModel, name: str, prompt: str, write: Callable[[str], None]
) -> Answer:
    """Ask a chat model and hand on what it writes as it comes.

    Raises:
        ChatModelError: It cannot be reached, refuses, or breaks off.
    """
    shown = Shown(model, write)
    reported: UsageMetadata | None = None
    cut = False
    end = StreamEnd()
    stream = model.stream([HumanMessage(prompt)])
    while True:
        with hiding_secrets(model):
            try:
                piece = next(stream, None)
                if piece is None:
                    end.check()
                    break
            except Exception as error:  # the clients have no error in common
                begun = bool(shown.text)
                raise model_failure(name, model, error, begun=begun) from error
        # The pieces of a stream add up to the whole call.
        if part := getattr(piece, "usage_metadata", None):
            reported = add_usage(reported, part)
        cut = cut or is_cut(piece)
        end.see(piece)
        shown.take(text_of(piece))
    shown.end()
    usage = usage_of(reported, prompt, shown.text, resolve_token_counter())
    return Answer(shown.text, usage, cut)


def _not_loaded(name: str, provider: str, error: Exception) -> ChatModelError:
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
    return ChatModelError(message.strip(), model=name)


def model_failure(
    name: str,
    model: BaseChatModel,
    error: Exception,
    *,
    begun: bool,
    overflow_hint: str = "Give a smaller --token-budget.",
) -> ChatModelError:
    """Tell in one line what a client raised; raise what is returned.

    Args:
        name: The model as the user named it.
        model: Its client, which holds the key.
        error: What its client raised.
        begun: Whether the model had begun its answer.
        overflow_hint: What to do where the prompt was too long for the model.
    """
    what = "broke off" if begun else "did not answer"
    hint = overflow_hint if is_window_overflow(error) else hint_of(error)
    message = (
        f"The chat model {name!r} {what}: {said_by(error, secrets_of(model))} {hint}"
    )
    return ChatModelError(message.strip(), model=name)
