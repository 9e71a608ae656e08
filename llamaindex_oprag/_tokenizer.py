"""The counter of tokens where none was given: what LlamaIndex was told to use."""

from __future__ import annotations

from dataclasses import replace

import llama_index.core

from oprag.context import ContextOptions
from oprag.tokens import TokenizerSpec


def default_tokenizer(token_counter: TokenizerSpec) -> TokenizerSpec:
    """Return a counter as it was given; without one, what LlamaIndex was told to use.

    That is `Settings.tokenizer`, if somebody set it: asking for it would set it.
    """
    if token_counter is None:
        return llama_index.core.global_tokenizer
    return token_counter


def with_tokenizer(options: ContextOptions) -> ContextOptions:
    """Return options whose counter is LlamaIndex's, where none was given."""
    counter = default_tokenizer(options.token_counter)
    if counter is options.token_counter:
        return options
    return replace(options, token_counter=counter)
