"""Token counters: how many tokens a text has, and what joining texts adds to them.

Tokens do not add up: tiktoken reads `"end."` and two line breaks as one piece, which
may take more or fewer tokens joined than apart. Only what stands around each joint is
counted; `NamedTokenCounter.additive_at` tells how far that reaches.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial
from threading import RLock
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from oprag.errors import (
    ApproximateTokenCountWarning,
    MissingDependencyError,
    TokenizerError,
    from_user,
    named,
    warn_user,
)
from oprag.tokens.ends import marks_at_end, space_at_start, text_end, text_start
from oprag.tokens.kept_counts import LONG, kept_count
from oprag.tokens.own_functions import checked_count, refuse_messages

if TYPE_CHECKING:
    import tiktoken
    import tokenizers

TokenizerSpec: TypeAlias = Any
"""What names a token counter: None, a str, a callable or a tokenizer object."""

DEFAULT_COUNTER = "cl100k_base"
"""Name of the counter where no other is given."""
_APPROXIMATE = "approximate"
_BYTES_PER_TOKEN = 4
_SURROGATES = "[\ud800-\udfff]"
_KEPT_KINDS = 4096
"""Ends and beginnings of which is kept what a joint adds; prose has some dozens."""
_KEPT_COUNTERS = 32
_DECIDING = RLock()
"""Held by who finds out what the default is; others wait instead of trying too."""
_loaded: set[str | None] = set()
"""Names that were loaded by `load_counter`."""
_counters: dict[tuple[int, int | None], tuple[Any, NamedTokenCounter]] = {}
"""Counters that were made of objects, and these objects, by their `id`."""


class TokenCounter(Protocol):
    """Counts the tokens of a text."""

    def __call__(self, text: str, /) -> int:
        """Return the number of tokens, 0 or more."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class NamedTokenCounter:
    """A token counter that knows its name and what may be concluded from counts.

    Calling it gives the number of tokens of a text, special tokens that a model
    would add around it not included. Give a counter of your own a name by making
    one: `NamedTokenCounter(count_words, name="words")`. One that was resolved
    from a name pickles as that name.
    """

    count: Callable[[str], int]
    """The function behind it."""
    name: str = ""
    """Stored beside stored counts, which are trusted when the names agree. Empty
    for a bare callable: it agrees with no stored name."""
    subadditive: bool = False
    """Whether `count(a + s + b) <= count(a) + count(s) + count(b)` for every
    separator `s` that begins and ends with white space.

    True for the approximation (any separator) and for WordPiece tokenizers that
    split at white space (BERT's kind), where both sides are equal. False for all
    others, the encodings of tiktoken included: they join a punctuation run or
    white space with the line breaks after it into one piece, whose merges may
    fall out worse. Seen with `"\\n\\n"`: up to 4 tokens more than the parts.
    """
    additive_at: re.Pattern[str] | None = None
    """Two characters between which counts add up: `count(a + b) == count(a) + count(b)`
    wherever it matches the last of `a` and the first of `b`. None when no such
    place is known. A space after a printable ASCII character always is one.

    Known of the encodings that tiktoken defines and of BERT's kind of WordPiece.
    """
    tokenizer: Any = None
    """The `tiktoken.Encoding` or `tokenizers.Tokenizer` that gives offsets, not
    to be changed; None where tokens can only be counted."""
    by_name: bool = False
    """Whether `name` alone resolves to this counter."""

    @property
    def additive_at_spaces(self) -> bool:
        """Whether counts add up before every space after a printable ASCII character.

        So they do for every counter that has `additive_at`.
        """
        return self.additive_at is not None

    def __call__(self, text: str) -> int:
        """Return the number of tokens, 0 or more; of a long text it is kept."""
        if len(text) < LONG:
            return self.count(text)
        return kept_count(text, self.count, self, additive=self.additive_at_spaces)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name!r}>"

    def __reduce__(self) -> tuple[Any, ...]:
        if self.by_name:
            return resolve_token_counter, (self.name,)
        facts = (self.subadditive, self.additive_at)
        return type(self), (self.count, self.name, *facts, self.tokenizer)


def resolve_token_counter(spec: TokenizerSpec = None) -> NamedTokenCounter:
    """Make a token counter out of whatever names one.

    Args:
        spec: One of

            - None: cl100k through tiktoken, whose file is fetched where it is not on
              this machine: once, and within seconds. Else the approximation, with one
              warning per process;
            - an encoding of tiktoken (`"cl100k_base"`, `"o200k_base"`, …), or a
              model whose encoding it knows (`"gpt-4o"`); fetched in the same way, and
              an error where that fails. `"cl100k"` and `"o200k"` are short for
              those with `_base`;
            - `"approximate"`: a quarter of the UTF-8 bytes, rounded up;
            - the name or folder of a Hugging Face tokenizer (names of tiktoken go
              first);
            - a `tiktoken.Encoding`, a fast tokenizer of `transformers`, a
              `tokenizers.Tokenizer`. Those of Hugging Face are copied when they are
              first given, and again when tokens were added to them, without their
              truncation and padding;
            - a callable from a text to a number of tokens, for the same text the
              same every time. It has no name and nothing else is assumed about it;
            - a `NamedTokenCounter`, which is returned as it is.

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
        ApproximateTokenCountWarning: The default had to be the approximation.
    """
    if isinstance(spec, NamedTokenCounter):
        return spec
    if spec is None:
        return _default_counter()
    if isinstance(spec, str):
        return _counter_by_name(spec)
    return _kept_counter(spec)


def splitting_counter(spec: TokenizerSpec = None) -> NamedTokenCounter:
    """As `resolve_token_counter`, but None is cl100k or an error.

    What is stored is not cut one way today and another way tomorrow, because a network
    was away.
    """
    return resolve_token_counter(DEFAULT_COUNTER if spec is None else spec)


async def load_counter(spec: TokenizerSpec, *, splitting: bool = False) -> None:
    """Have a counter loaded, so that no event loop waits for its files.

    Args:
        spec: As for `resolve_token_counter`, which raises what this raises.
        splitting: Whether it is for `splitting_counter`.
    """
    if splitting and spec is None:
        spec = DEFAULT_COUNTER
    if spec is not None and not isinstance(spec, str):
        return
    if spec not in _loaded:
        from asyncio import to_thread  # here, because its import takes long

        await to_thread(from_user(resolve_token_counter), spec)
        _loaded.add(spec)


def _default_counter() -> NamedTokenCounter:
    with _DECIDING:
        counter, warning = _decided_default()
        if warning:
            _warn_once(warning)
    return counter


@lru_cache(maxsize=1)
def _decided_default() -> tuple[NamedTokenCounter, str]:
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
        f"Tokens are estimated as a quarter of the UTF-8 bytes, because {why}, or name "
        'a tokenizer; token_counter="approximate" says that this is meant.'
    )
    return _counter_by_name(_APPROXIMATE), warning


@lru_cache(maxsize=1)
def _warn_once(message: str) -> None:
    warn_user(message, ApproximateTokenCountWarning)


@lru_cache(maxsize=32)
def _counter_by_name(name: str) -> NamedTokenCounter:
    from oprag.tokens.huggingface import load_huggingface
    from oprag.tokens.tiktoken_files import encoding_name, load_tiktoken

    if name == _APPROXIMATE:
        return NamedTokenCounter(
            _approximate_count, name, subadditive=True, by_name=True
        )
    encoding = encoding_name(name)
    if encoding is not None and encoding != name:
        return _counter_by_name(encoding)  # stored counts know it by this name
    if encoding is not None:
        return _tiktoken_counter(load_tiktoken(encoding), by_name=True)
    return _huggingface_counter(load_huggingface(name), name, by_name=True)


def _kept_counter(spec: Any) -> NamedTokenCounter:
    """The counter of an object, made once.

    Copying a tokenizer takes longer than all else that is done for a query, and what
    was counted is kept for each counter.
    """
    from oprag.tokens.huggingface import vocabulary_size

    key = id(spec), vocabulary_size(spec)
    kept = _counters.get(key)
    if kept is None or kept[0] is not spec:
        if len(_counters) >= _KEPT_COUNTERS:
            _counters.clear()
        kept = _counters[key] = spec, _counter_of_object(spec)
    return kept[1]


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
        refuse_messages(spec)
        return NamedTokenCounter(partial(checked_count, spec))
    message = (
        f"What counts tokens here is {named(spec)}. It takes None, a name, a "
        "tiktoken.Encoding, a fast Hugging Face tokenizer, or a callable from a text "
        "to its number of tokens."
    )
    raise TokenizerError(message, tokenizer=type(spec).__name__)


def _tiktoken_counter(
    encoding: tiktoken.Encoding, *, by_name: bool = False
) -> NamedTokenCounter:
    from oprag.tokens.tiktoken_files import joints_of

    return NamedTokenCounter(
        partial(_tiktoken_count, encoding),
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
        partial(_huggingface_count, tokenizer),
        name,
        subadditive=joints is not None,
        additive_at=joints,
        tokenizer=tokenizer,
        by_name=by_name,
    )


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
    return len(encoding.encode_ordinary(encodable(text)))


def _huggingface_count(tokenizer: tokenizers.Tokenizer, text: str) -> int:
    text = encodable(text)
    if len(text) < LONG:
        return len(tokenizer.encode(text, add_special_tokens=False))
    # This one lets other threads run meanwhile, which `encode` does not. The fast kind
    # leaves the offsets out; tokenizers has it from 0.20 on.
    encode = getattr(tokenizer, "encode_batch_fast", tokenizer.encode_batch)
    return len(encode([text], add_special_tokens=False)[0])


def joint_counter(counter: NamedTokenCounter, joint: str) -> JointCounter:
    """Return a `JointCounter`, kept where the counter is known by name."""
    return _kept(counter, joint) if counter.by_name else JointCounter(counter, joint)


class JointCounter:
    """What one and the same joint adds to the tokens of the texts around it.

    Args:
        counter: One that is `subadditive` or `additive_at_spaces`.
        joint: What is put between the texts.
    """

    def __init__(self, counter: NamedTokenCounter, joint: str) -> None:
        spaced = joint[:1].isspace() and joint[-1:].isspace()
        bounded = counter.subadditive and (spaced or counter.additive_at is None)
        self.counter = counter
        self.joint = joint
        self._always = counter(joint) if bounded else None
        self._additive = None if joint else counter.additive_at
        # How the patterns of tiktoken read line breaks; others may look further.
        breaks = joint.startswith("\n") and joint.endswith("\n")
        self._plain = breaks and counter.tokenizer is not None
        self._seen: dict[tuple[str | None, str | None], int] = {}

    @cached_property
    def tokens(self) -> int:
        """Tokens of the joint by itself."""
        return self.counter(self.joint)

    def __call__(self, left: str, right: str) -> int:
        """Return the tokens of `left + joint + right` less those of each text.

        For a `subadditive` counter at least that. It may be negative.
        """
        return self.between([left, right])

    def between(self, texts: Sequence[str]) -> int:
        """Return the tokens of all texts joined less those of each; likewise."""
        known = self.known(texts, texts[1:])
        if None not in known:
            return sum(known)  # type: ignore[arg-type]
        return added_by_joining(texts, [self] * len(known), known)

    def known(self, lefts: Sequence[str], rights: Sequence[str]) -> list[int | None]:
        """Return what joining adds where a text's end and the next one's start show it.

        Args:
            lefts: What stands on the left of each joint.
            rights: What stands on the right of it; as many, or one less.

        Returns:
            One number per text of `rights`; None where the texts have to be counted.
        """
        if self._always is not None:
            return [self._always] * len(rights)
        if self._additive:
            match = self._additive.match
            pairs = zip(lefts, rights, strict=False)
            return [0 if match(a[-1:] + b[:1]) else None for a, b in pairs]
        if not self._plain:
            return [None] * len(rights)
        # Between a letter or digit, perhaps with marks and blanks after it, and what
        # follows the next blanks, a joint that begins and ends with a line break takes
        # the same tokens whatever is there: no pattern goes on behind line breaks but
        # with more of them, and those of o200k with "/".
        ends = list(map(marks_at_end, [left[-2:] for left in lefts]))
        starts = list(map(space_at_start, [right[:2] for right in rights]))
        # Two characters mostly are enough, and there are fewer different ones.
        if None in ends:
            ends = [
                marks_at_end(left[-6:]) if end is None else end
                for left, end in zip(lefts, ends, strict=True)
            ]
        if None in starts:
            starts = [
                space_at_start(right[:4]) if start is None else start
                for right, start in zip(rights, starts, strict=True)
            ]
        kinds = list(zip(ends, starts, strict=False))
        if len(self._seen) > _KEPT_KINDS:
            self._seen.clear()
        for kind in set(kinds).difference(self._seen):
            self._learn(*kind)
        return list(map(self._seen.get, kinds))

    def _learn(self, marks: str | None, space: str | None) -> None:
        if marks is not None and space is not None:
            left, right = f"a{marks}", f"{space}b"
            joined = self.counter(left + self.joint + right)
            added = joined - self.counter(left) - self.counter(right)
            self._seen[marks, space] = added


_kept = lru_cache(maxsize=64)(JointCounter)


def added_by_joining(
    texts: Sequence[str], joints: Sequence[JointCounter], known: Sequence[int | None]
) -> int:
    """Return the tokens of all texts joined less those of each.

    Args:
        texts: In order.
        joints: What stands between them: one less, with the same counter.
        known: What `JointCounter.known` says of each of them.
    """
    total = sum([added for added in known if added is not None])
    # What is counted together: the end of a text, the beginning of one after it, and
    # whole texts between them, where these are too short to tell their ends apart.
    group: list[str] = []
    joined, last = "", -1
    for place, added in enumerate(known):
        if added is not None:
            continue
        count, right = joints[place].counter, texts[place + 1]
        if group and place != last + 1:
            total += _more(group, joined, count)
            group = []
        if not group:
            joined = text_end(texts[place])
            group = [joined]
        head = text_start(right)
        group.append(head)
        joined += joints[place].joint + head
        last = place
        if head is not right:
            total += _more(group, joined, count)
            group = []
    return total + _more(group, joined, joints[last].counter) if group else total


def _more(group: Sequence[str], joined: str, count: NamedTokenCounter) -> int:
    return count(joined) - sum(map(count, group))
