"""Token counters: how many tokens a text has, and where they begin."""

from oprag.tokens.counters import (
    NamedTokenCounter,
    TokenCounter,
    TokenizerSpec,
    describe_counter,
    encodable,
    resolve_token_counter,
    splitting_counter,
)
from oprag.tokens.offsets import Ends, TokenizedText, TokenStart, tokenize

__all__ = [
    "Ends",
    "NamedTokenCounter",
    "TokenCounter",
    "TokenStart",
    "TokenizedText",
    "TokenizerSpec",
    "describe_counter",
    "encodable",
    "resolve_token_counter",
    "splitting_counter",
    "tokenize",
]
