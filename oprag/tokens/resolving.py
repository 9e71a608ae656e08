"""A token counter out of whatever names one: a name, a tokenizer, a function."""

from __future__ import annotations

import warnings
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

from oprag.errors import ApproximateTokenCountWarning, TokenizerError
from oprag.tokens.counters import (
    NamedTokenCounter,
    TokenizerSpec,
    approximate_count,
    checked_count,
    huggingface_count,
    tiktoken_count,
)

if TYPE_CHECKING:
    import tiktoken
    import tokenizers

_APPROXIMATE = "approximate"
_DEFAULT = "cl100k_base"


def resolved(spec: TokenizerSpec) -> NamedTokenCounter:
    """Make the counter; see `resolve_token_counter`."""
    if spec is None:
        return _default_counter()
    if isinstance(spec, str):
        return _counter_by_name(spec)
    return _counter_of_object(spec)


def _default_counter() -> NamedTokenCounter:
    from oprag.tokens.tiktoken_files import loads_offline

    if loads_offline(_DEFAULT):
        return _counter_by_name(_DEFAULT)
    message = (
        "Tokens are estimated as a quarter of the UTF-8 bytes, because cl100k_base "
        "cannot be loaded without the network. Install tiktoken and llama-index-core "
        "(it carries the file), point TIKTOKEN_CACHE_DIR at a folder with the file, "
        'or name a tokenizer; token_counter="approximate" says that this is meant.'
    )
    warnings.warn(message, ApproximateTokenCountWarning, stacklevel=3)
    return _counter_by_name(_APPROXIMATE)


@lru_cache(maxsize=32)
def _counter_by_name(name: str) -> NamedTokenCounter:
    from oprag.tokens.huggingface import load_huggingface
    from oprag.tokens.tiktoken_files import encoding_name, load_tiktoken

    if name == _APPROXIMATE:
        return NamedTokenCounter(
            approximate_count, name, subadditive=True, by_name=True
        )
    encoding = encoding_name(name)
    if encoding is not None and encoding != name:
        return _counter_by_name(encoding)  # stored counts know it by this name
    if encoding is not None:
        return _tiktoken_counter(load_tiktoken(encoding), by_name=True)
    return _huggingface_counter(load_huggingface(name), name, by_name=True)


def _counter_of_object(spec: Any) -> NamedTokenCounter:
    from oprag.tokens.huggingface import is_tokenizer, private_copy
    from oprag.tokens.tiktoken_files import is_encoding

    if is_encoding(spec):
        return _tiktoken_counter(spec)
    if hasattr(spec, "is_fast"):
        name = str(getattr(spec, "name_or_path", ""))
        return _huggingface_counter(private_copy(spec, name), name)
    if is_tokenizer(spec):
        return _huggingface_counter(private_copy(spec, ""), "")
    if callable(spec):
        return NamedTokenCounter(partial(checked_count, spec))
    message = (
        f"A {type(spec).__name__} is no token counter. Pass None, a name, a "
        "tiktoken.Encoding, a fast Hugging Face tokenizer, or a callable from a text "
        "to its number of tokens."
    )
    raise TokenizerError(message, tokenizer=type(spec).__name__)


def _tiktoken_counter(
    encoding: tiktoken.Encoding, *, by_name: bool = False
) -> NamedTokenCounter:
    from oprag.tokens.tiktoken_files import joints_of

    return NamedTokenCounter(
        partial(tiktoken_count, encoding),
        encoding.name,
        additive_at=joints_of(encoding),
        tokenizer=encoding,
        by_name=by_name,
    )


def _huggingface_counter(
    tokenizer: tokenizers.Tokenizer, name: str, *, by_name: bool = False
) -> NamedTokenCounter:
    from oprag.tokens.huggingface import joints_at_white_space

    joints = joints_at_white_space(tokenizer)
    return NamedTokenCounter(
        partial(huggingface_count, tokenizer),
        name,
        subadditive=joints is not None,
        additive_at=joints,
        tokenizer=tokenizer,
        by_name=by_name,
    )
