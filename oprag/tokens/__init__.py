"""Token counters: how many tokens a text has, and where they begin."""

from typing import TYPE_CHECKING, Any

from oprag.tokens.counters import (
    NamedTokenCounter,
    TokenCounter,
    TokenizerSpec,
    added_by_joining,
    encodable,
    joint_counter,
    load_counter,
    resolve_token_counter,
    splitting_counter,
)
from oprag.tokens.ends import SPACE_JOINT, last_joint
from oprag.tokens.kept_counts import Kept
from oprag.tokens.long_work import in_thread_if_long

if TYPE_CHECKING:
    from oprag.tokens.offsets import TokenizedText, TokenStart, tokenize, tokens_before

__all__ = [
    "SPACE_JOINT",
    "Kept",
    "NamedTokenCounter",
    "TokenCounter",
    "TokenStart",
    "TokenizedText",
    "TokenizerSpec",
    "added_by_joining",
    "encodable",
    "in_thread_if_long",
    "joint_counter",
    "last_joint",
    "load_counter",
    "resolve_token_counter",
    "splitting_counter",
    "tokenize",
    "tokens_before",
]


def __getattr__(name: str) -> Any:
    """Load what only splitting needs when it is asked for."""
    if name not in __all__:
        message = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(message)
    from oprag.tokens import offsets

    return getattr(offsets, name)
