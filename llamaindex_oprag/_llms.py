"""What an LLM says of itself, where it can be believed."""

from __future__ import annotations

from typing import Any

from llama_index.core.llms import LLM, LLMMetadata
from llama_index.core.settings import Settings

from oprag.errors import InvalidOptionError, named


def default_llm(component: str) -> LLM:
    """Return `Settings.llm`, for a component that was given none.

    Raises:
        InvalidOptionError: There is none: LlamaIndex makes one of OpenAI then, and
            speaks of its key.
    """
    try:
        return Settings.llm
    except (ImportError, ValueError) as error:
        message = (
            f"{component} was given no llm=, and Settings.llm is not set. Give llm= an "
            "LLM of LlamaIndex."
        )
        raise InvalidOptionError(message, option="llm", value=None) from error


def check_llm(name: str, llm: Any) -> LLM:
    """Return the value of an option if it is an LLM.

    Raises:
        InvalidOptionError: It is none.
    """
    if isinstance(llm, LLM):
        return llm
    message = (
        f"{name}= is {named(llm)}. It takes an LLM of LlamaIndex, such as Settings.llm."
    )
    raise InvalidOptionError(message, option="llm", value=llm)


def window_of(llm: LLM) -> int | None:
    """Tokens of prompt and answer together that a model takes.

    What an LLM class says of every model says nothing of this one (`OpenAILike`
    says 3,900 whatever it talks to), so its default counts only where the user
    wrote it.

    Returns:
        The window, or None when it is not known.
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
    """The model's own limit of an answer; LlamaIndex's default is none."""
    limit = llm.metadata.num_output
    default = LLMMetadata.model_fields["num_output"].default
    return limit if limit > 0 and limit != default else None


def name_of(llm: LLM) -> str | None:
    """Name of the model, as the prices name it; None when it does not say."""
    name = llm.metadata.model_name
    unknown = LLMMetadata.model_fields["model_name"].default
    return None if name in ("", unknown) else name
