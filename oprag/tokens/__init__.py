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
from oprag.tokens.threads import (
    Do,
    Finished,
    Steps,
    acarry_out,
    advance,
    carry_out,
    in_thread,
)

__all__ = [
    "Do",
    "Ends",
    "Finished",
    "NamedTokenCounter",
    "Steps",
    "TokenCounter",
    "TokenStart",
    "TokenizedText",
    "TokenizerSpec",
    "acarry_out",
    "advance",
    "carry_out",
    "describe_counter",
    "encodable",
    "in_thread",
    "resolve_token_counter",
    "splitting_counter",
    "tokenize",
]
