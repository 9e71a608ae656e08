"""Token counters: how many tokens a text has.

Tokens do not add up: tiktoken reads `"end."` and two line breaks as one piece, which
may take more or fewer tokens joined than apart.
"""

from __future__ import annotations

import importlib.util
import inspect
import operator
import re
import sys
import warnings
from array import array
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from threading import RLock
from typing import TYPE_CHECKING, Any, TypeAlias

from oprag.errors import (
    MissingDependencyError,
    OpragWarning,
    TokenizerError,
    describe_type,
    find_caller_stacklevel,
)

if TYPE_CHECKING:
    import tiktoken
    import tokenizers

TokenCounter: TypeAlias = Callable[[str], int]
"""Returns the number of tokens of a text, 0 or more."""

TokenizerSpec: TypeAlias = Any
"""The name of a token counter: None, a str, a callable or a tokenizer object."""

DEFAULT_COUNTER = "cl100k_base"
"""Name of the counter if no other is given."""
_APPROXIMATE = "approximate"
_BYTES_PER_TOKEN = 4
_SURROGATES = "[\ud800-\udfff]"
_SHORT = 24
"""Characters of an end whose count is kept: words like these begin many parts."""
_LONG = 10_000
_KEPT_COUNTS = (1 << 12, 1 << 13, 4)
"""How many counts of short, usual and long texts a counter keeps."""
_VERY_LONG = 2_000_000
_KEPT_COUNTERS = 32
_DECIDING = RLock()
"""Held while the default is looked for; other threads wait instead of trying too."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class NamedTokenCounter:
    """A token counter that knows its name.

    Calling it gives the number of tokens of a text, special tokens that a model
    would add around it not included. Give your own counter a name by making one:
    `NamedTokenCounter(count_words, name="words")`. One that was resolved from a
    name pickles as that name.
    """

    count: Callable[[str], int]
    """The function behind it."""
    name: str = ""
    """Stored beside stored counts, which are trusted when the names agree. Empty
    for a bare callable: it agrees with no stored name."""
    tokenizer: Any = None
    """The `tiktoken.Encoding` or `tokenizers.Tokenizer` that gives offsets, not
    to be changed; None if tokens can only be counted."""
    by_name: bool = False
    """Whether `name` alone resolves to this counter."""
    _kept: tuple[TokenCounter, TokenCounter, TokenCounter] = field(init=False)
    """Counts of short, usual and long texts that were counted lately. They go with the
    counter, and keep nothing of it alive."""

    def __post_init__(self) -> None:
        counted = partial(_count_checked, self.count, self.name)
        kept = tuple(lru_cache(size)(counted) for size in _KEPT_COUNTS)
        object.__setattr__(self, "_kept", kept)

    def __call__(self, text: str) -> int:
        """Return the number of tokens, 0 or more; recent counts are kept."""
        return self._kept[1 if len(text) < _LONG else 2](text)

    def count_end(self, text: str) -> int:
        """Count as a call does, for the end of a part: only short ones are kept."""
        return self._kept[0](text) if len(text) <= _SHORT else self.count_again(text)

    def count_again(self, text: str) -> int:
        """Count as a call does, but keep nothing."""
        return _count_checked(self.count, self.name, text)

    @property
    def counts_tokens(self) -> bool:
        """Whether it counts the tokens of its `tokenizer`, and nothing else."""
        function = getattr(self.count, "func", None)
        return (
            function in {_tiktoken_count, _huggingface_count}
            and self.count.args[0] is self.tokenizer  # type: ignore[attr-defined]  # a partial
        )

    @property
    def label(self) -> str:
        """Its name, or that of the function."""
        return _label(self.count, self.name)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name!r}>"

    def __reduce__(self) -> tuple[Any, ...]:
        if self.by_name:
            return resolve_token_counter, (self.name,)
        return type(self), (self.count, self.name, self.tokenizer)


def _count_checked(count: Callable[[str], Any], name: str, text: str) -> int:
    """Return the number that a function gives for a text."""
    counted = count(text)
    if isinstance(counted, (list, tuple)):  # as LlamaIndex's tokenizers give
        return len(counted)
    try:
        number = operator.index(counted)
    except TypeError:
        number = -1
    if number < 0:
        label = _label(count, name)
        message = (
            f"The token counter {label!r} gave {counted!r:.60}, not a number "
            "of tokens: return a whole number from 0 on, as "
            "lambda text: len(tokenize(text)) does, or a list of the tokens."
        )
        raise TokenizerError(message, tokenizer=label)
    return number


def _label(count: Callable[[str], Any], name: str) -> str:
    return name or getattr(count, "__name__", describe_type(count))


def resolve_token_counter(spec: TokenizerSpec = None) -> NamedTokenCounter:
    """Make a token counter out of whatever names one.

    Args:
        spec: One of

            - None: cl100k through tiktoken, whose file is fetched if it is not on this
              machine: once, and within seconds. If that fails `"approximate"`, with
              one warning per process;
            - an encoding of tiktoken (`"cl100k_base"`, `"o200k_base"`, …), or a
              model whose encoding it knows (`"gpt-4o"`); fetched in the same way, and
              an error if that fails;
            - `"approximate"`: a quarter of the UTF-8 bytes, rounded up: 3 to 22 %
              more than cl100k in English text, a tenth fewer in German, a third fewer
              in Chinese and Japanese;
            - the name or folder of a Hugging Face tokenizer (names of tiktoken go
              first);
            - a `tiktoken.Encoding`, a fast tokenizer of `transformers`, a
              `tokenizers.Tokenizer`. Those of Hugging Face are copied when they are
              first given, without their truncation and padding;
            - a callable from a text to a number or a list of tokens, for the same text
              the same every time. It has no name and nothing else is assumed about it;
              the `encode` of a tokenizer is that tokenizer;
            - a `NamedTokenCounter`, which is returned unchanged.

    Returns:
        The counter; for the same name or object the same one every time. Text that
        looks like a special token (`<|endoftext|>`) counts as the plain text that it
        is in tiktoken, and as whatever the tokenizer makes of it in Hugging Face's.
        An unpaired surrogate counts as U+FFFD.

    Raises:
        TokenizerError: Nothing by this name can be loaded, or the object is no
            token counter.
        MissingDependencyError: The name needs a package that is not installed.

    Warns:
        OpragWarning: The default had to be the approximation.
    """
    if isinstance(spec, NamedTokenCounter):
        return spec
    if spec is None:
        with _DECIDING:
            counter, warning = _decide_default()
            if warning:
                _warn_once(warning)
        return counter
    if isinstance(spec, str):
        return _counter_by_name(spec)
    try:
        hash(spec)
    except TypeError:
        return _counter_of_object.__wrapped__(spec)
    return _counter_of_object(spec)


def describe_counter(spec: TokenizerSpec) -> dict[str, Any]:
    """Describe a token counter, as plain data.

    Args:
        spec: As `resolve_token_counter` takes it.

    Returns:
        `token_counter`, its name; `token_counter_is_fallback`, whether it took the
        place of cl100k, because nobody named one and that could not be loaded.
    """
    counter = resolve_token_counter(spec)
    return {
        "token_counter": counter.label,
        "token_counter_is_fallback": is_fallback(spec),
    }


def is_fallback(spec: TokenizerSpec) -> bool:
    """Return whether an estimate counts, because cl100k cannot be loaded."""
    return spec is None and resolve_token_counter().name != DEFAULT_COUNTER


@lru_cache(maxsize=1)
def _decide_default() -> tuple[NamedTokenCounter, str]:
    from oprag.tokens.tiktoken_files import reason_of

    try:
        return _counter_by_name(DEFAULT_COUNTER), ""
    except MissingDependencyError as error:
        why = f"{error.package} is not installed. Install it"
    except TokenizerError as error:
        why = (
            f"{DEFAULT_COUNTER} is not on this machine and could not be fetched "
            f"({reason_of(error.__cause__)}). Install llama-index-core (it carries the "
            "file), point TIKTOKEN_CACHE_DIR at a folder with the file"
        )
    warning = (
        f"Tokens are estimated, because {why}, or name a tokenizer. Until then budgets "
        "and chunk sizes count a quarter of the UTF-8 bytes: 3 to 22 % more than "
        f"{DEFAULT_COUNTER} in English text, a third fewer in Chinese. To keep the "
        "estimate, name it: 'approximate'."
    )
    return _counter_by_name(_APPROXIMATE), warning


@lru_cache(maxsize=1)
def _warn_once(message: str) -> None:
    warnings.warn(message, OpragWarning, stacklevel=find_caller_stacklevel())


@lru_cache(_KEPT_COUNTERS)
def _counter_by_name(name: str) -> NamedTokenCounter:
    from oprag.tokens.huggingface import load_huggingface
    from oprag.tokens.tiktoken_files import encoding_name, load_tiktoken

    if name == _APPROXIMATE:
        return NamedTokenCounter(_approximate_count, name, by_name=True)
    encoding = encoding_name(name)
    if encoding is not None and encoding != name:
        return _counter_by_name(encoding)  # stored counts know it by this name
    if encoding is not None:
        counter = _make_counter(_tiktoken_count, load_tiktoken(name), name)
    else:
        counter = _make_counter(_huggingface_count, load_huggingface(name), name)
    return replace(counter, by_name=True)


# Kept: to copy a tokenizer takes longer than all else that is done for a query.
@lru_cache(_KEPT_COUNTERS)
def _counter_of_object(spec: Any) -> NamedTokenCounter:
    from oprag.tokens.huggingface import is_tokenizer, private_copy
    from oprag.tokens.tiktoken_files import is_encoding

    spec = _encoder(spec)
    if is_encoding(spec):
        return _make_counter(_tiktoken_count, spec, spec.name)
    if hasattr(spec, "is_fast"):
        name = str(getattr(spec, "name_or_path", ""))
        return _make_counter(_huggingface_count, private_copy(spec, name), name)
    if is_tokenizer(spec):
        return _make_counter(_huggingface_count, private_copy(spec, ""), "")
    if callable(spec):
        _refuse_messages(spec)
        return NamedTokenCounter(spec)
    message = (
        f"What counts tokens here is {describe_type(spec)}. It takes None, a name, a "
        "tiktoken.Encoding, a fast Hugging Face tokenizer, or a callable from a text "
        "to its number of tokens."
    )
    raise TokenizerError(message, tokenizer=type(spec).__name__)


def _encoder(spec: Any) -> Any:
    """Return the tokenizer whose `encode` was given; anything else unchanged."""
    from oprag.tokens.huggingface import is_tokenizer
    from oprag.tokens.tiktoken_files import is_encoding

    function = spec.func if isinstance(spec, partial) else spec
    owner = getattr(function, "__self__", None)
    if getattr(function, "__name__", "") != "encode" or owner is None:
        return spec
    is_fast = getattr(owner, "is_fast", False)
    return owner if is_fast or is_encoding(owner) or is_tokenizer(owner) else spec


def _refuse_messages(counter: Callable[..., Any]) -> None:
    """Refuse a counter of messages: of a text it counts each character."""
    try:
        given = [*inspect.signature(counter).parameters]
    except (TypeError, ValueError):  # some that are written in C do not tell
        return
    if given[:1] == ["messages"]:
        name = getattr(counter, "__name__", type(counter).__name__)
        message = (
            f"The token counter {name!r} counts messages, and would take each "
            "character of a text for one. Give it the text as one message: "
            f"token_counter=lambda text: {name}([text])."
        )
        raise TokenizerError(message, tokenizer=name)


def _make_counter(
    count: Callable[[Any, str], int], tokenizer: Any, name: str
) -> NamedTokenCounter:
    return NamedTokenCounter(partial(count, tokenizer), name, tokenizer)


def encodable(text: str) -> str:
    """Return the text with every surrogate replaced by U+FFFD: same length, valid."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return re.sub(_SURROGATES, "\ufffd", text)
    return text


def _approximate_count(text: str) -> int:
    return -(-len(text.encode("utf-8", "surrogatepass")) // _BYTES_PER_TOKEN)


def _tiktoken_count(encoding: tiktoken.Encoding, text: str) -> int:
    return len(tiktoken_tokens(encoding, encodable(text)))


def tiktoken_tokens(encoding: tiktoken.Encoding, text: str) -> Sequence[int]:
    """Return the tokens of a text; those of a long one as an array.

    An array is made sooner, and a list of millions holds up all threads. Arrays need
    numpy, which is loaded for very long texts only, and tiktoken from 0.9 on.
    """
    wants_array = len(text) > _LONG and hasattr(encoding, "encode_to_numpy")
    if wants_array and (
        "numpy" in sys.modules
        or (len(text) > _VERY_LONG and importlib.util.find_spec("numpy"))
    ):
        tokens = array("I")
        tokens.frombytes(
            encoding.encode_to_numpy(text, disallowed_special=()).tobytes()
        )
        return tokens
    return encoding.encode_ordinary(text)


def _huggingface_count(tokenizer: tokenizers.Tokenizer, text: str) -> int:
    text = encodable(text)
    if len(text) < _LONG:
        return len(tokenizer.encode(text, add_special_tokens=False))
    # This one lets other threads run meanwhile, which `encode` does not. The fast kind
    # leaves the offsets out; tokenizers has it from 0.20 on.
    encode = getattr(tokenizer, "encode_batch_fast", tokenizer.encode_batch)
    return len(encode([text], add_special_tokens=False)[0])
