"""Token counters: how many tokens a text has, and where they begin."""

from typing import TYPE_CHECKING, Any

from oprag.tokens.counters import (
    NamedTokenCounter,
    TokenCounter,
    TokenizerSpec,
    encodable,
    resolve_token_counter,
    splitting_counter,
)
from oprag.tokens.kept import Kept
from oprag.tokens.threads import Do, Steps, acarry_out, carry_out, in_thread

if TYPE_CHECKING:
    from oprag.tokens.offsets import TokenizedText, TokenStart, tokenize

__all__ = [
    "Do",
    "Kept",
    "NamedTokenCounter",
    "Steps",
    "TokenCounter",
    "TokenStart",
    "TokenizedText",
    "TokenizerSpec",
    "acarry_out",
    "carry_out",
    "encodable",
    "in_thread",
    "resolve_token_counter",
    "splitting_counter",
    "tokenize",
]


def __getattr__(name: str) -> Any:
    """Load what only splitting needs when it is asked for."""
    if name not in __all__:
        message = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(message)
    from oprag.tokens import offsets

    return getattr(offsets, name)
