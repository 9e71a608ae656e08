"""Token counters: how many tokens a text has, and where they begin."""

from oprag.tokens.counters import (
    NamedTokenCounter,
    TokenCounter,
    TokenizerSpec,
    encodable,
    resolve_token_counter,
)
from oprag.tokens.joining import (
    SPACE_JOINT,
    added_by_joining,
    joint_counter,
    last_joint,
)
from oprag.tokens.offsets import TokenizedText, TokenStart, tokenize, tokens_before

__all__ = [
    "SPACE_JOINT",
    "NamedTokenCounter",
    "TokenCounter",
    "TokenStart",
    "TokenizedText",
    "TokenizerSpec",
    "added_by_joining",
    "encodable",
    "joint_counter",
    "last_joint",
    "resolve_token_counter",
    "tokenize",
    "tokens_before",
]
