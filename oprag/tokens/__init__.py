"""Token counters, and the offsets at which the tokens of a text begin."""

from oprag.tokens.counters import (
    DEFAULT_COUNTER,
    NamedTokenCounter,
    TokenCounter,
    TokenizerSpec,
    describe_counter,
    encodable,
    is_fallback,
    resolve_token_counter,
)
from oprag.tokens.offsets import Ends, TokenizedText, TokenStart, tokenize

__all__ = [
    "DEFAULT_COUNTER",
    "Ends",
    "NamedTokenCounter",
    "TokenCounter",
    "TokenStart",
    "TokenizedText",
    "TokenizerSpec",
    "describe_counter",
    "encodable",
    "is_fallback",
    "resolve_token_counter",
    "tokenize",
]
