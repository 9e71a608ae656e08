"""Hugging Face tokenizers: loading them by name, and using them undisturbed."""

from __future__ import annotations

import copy
import os
import sys
from typing import TYPE_CHECKING, Any, TypeGuard

from oprag.errors import TokenizerError, did_you_mean
from oprag.optional import require
from oprag.tokens.fetch import SECONDS, wait_at_most
from oprag.tokens.tiktoken_files import TIKTOKEN_NAMES

if TYPE_CHECKING:
    import tokenizers

_HUB = "https://huggingface.co"


def is_tokenizer(value: object) -> TypeGuard[tokenizers.Tokenizer]:
    """Tell whether a value is a `tokenizers.Tokenizer`; imports nothing to find out."""
    package = sys.modules.get("tokenizers")
    return package is not None and isinstance(value, package.Tokenizer)


def load_huggingface(name: str) -> tokenizers.Tokenizer:
    """Load a fast Hugging Face tokenizer by its name or folder.

    Files that are already on this machine are used unchanged. The hub is asked only if
    there are none.

    Returns:
        The tokenizer with truncation and padding switched off.
    """
    transformers = require(
        "transformers", extra="embeddings", purpose=f"The tokenizer {name!r}"
    )
    try:
        try:
            loaded = transformers.AutoTokenizer.from_pretrained(
                name, local_files_only=True
            )
        except (OSError, ValueError):  # not here, or not all of it
            if "HF_HUB_OFFLINE" not in os.environ:
                _check_reachable(os.environ.get("HF_ENDPOINT", _HUB))
            loaded = transformers.AutoTokenizer.from_pretrained(name)
    except (ImportError, OSError, RuntimeError, ValueError) as error:
        meant = did_you_mean(name, [*TIKTOKEN_NAMES, "approximate"])
        reason = f" ({type(error).__name__}: {str(error).partition(chr(10))[0]})"
        message = (
            f"No tokenizer could be loaded by the name {name!r}"
            f"{'' if meant else reason}. "
            f"{meant}It takes an encoding or a model that tiktoken knows, a Hugging "
            "Face tokenizer (a folder, or a name that is cached or that the hub has), "
            'or, if none is available, "approximate".'
        )
        raise TokenizerError(message, tokenizer=name) from error
    return private_copy(loaded, name)


def _check_reachable(hub: str) -> None:
    """Make sure that the hub answers: it is asked again and again, for a minute."""
    # Here, because it takes long and is hardly ever needed.
    from urllib.error import HTTPError
    from urllib.request import Request, urlopen

    def ask() -> None:
        try:
            urlopen(Request(hub, method="HEAD"), timeout=SECONDS).close()  # noqa: S310 -- the user's own hub
        except HTTPError:  # it answers
            return

    wait_at_most(SECONDS, hub, ask)


def private_copy(tokenizer: Any, name: str) -> tokenizers.Tokenizer:
    """Copy a Hugging Face tokenizer, truncation and padding switched off.

    A copy, because the original belongs to the caller, and a model that uses it
    sets truncation and padding anew with every call.
    """
    backend = tokenizer
    if hasattr(tokenizer, "is_fast"):
        if not tokenizer.is_fast:
            message = (
                f"The tokenizer {name!r} is a slow one ({type(tokenizer).__name__}): "
                "it gives no offsets. Load its fast version, or pass a callable such "
                "as lambda text: len(tokenizer.tokenize(text))."
            )
            raise TokenizerError(message, tokenizer=name)
        backend = tokenizer.backend_tokenizer
    if backend.get_vocab_size() == 0:  # transformers makes these when files are missing
        message = (
            f"The tokenizer {name!r} has no vocabulary and would count 0 tokens in "
            "every text; its files were probably not found. Load it from a complete "
            "folder."
        )
        raise TokenizerError(message, tokenizer=name)
    copied: tokenizers.Tokenizer = copy.deepcopy(backend)
    copied.no_truncation()
    copied.no_padding()
    return copied
