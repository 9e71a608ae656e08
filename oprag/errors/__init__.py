"""Every error and warning of oprag, in one tree.

::

    OpragError (Exception)
    ├── PositionError (ValueError)            a chunk's place is wrong or unknown
    │   ├── MissingPositionError              no usable position in the metadata
    │   └── ConflictingPositionsError         places that cannot all be true
    ├── MissingDocumentError (ValueError)     a chunk names no document
    ├── DocumentNotFoundError (LookupError)   no full text by this name
    ├── IncompleteDocumentError (LookupError) chunks or text of a document are missing
    ├── IndexingError (RuntimeError)          a store cannot do the work
    ├── BudgetTooSmallError (ValueError)      not even the best chunk fits
    ├── ContextWindowError (ValueError)       a prompt does not fit the model's window
    ├── ModelCallError (RuntimeError)         a model cannot be used, or failed
    ├── InvalidOptionError (ValueError)       an option or argument cannot be this
    ├── TokenizerError (ValueError)           a tokenizer cannot be used or loaded
    ├── UnreadableFileError (ValueError)      a file or document cannot be read or used
    ├── UnfitIndexError (ValueError)          questions on an index would fail
    ├── ClusterError (ConnectionError)        a Ray cluster cannot be reached or used
    └── MissingDependencyError (ImportError)  an optional package is not installed

    OpragWarning (UserWarning)
    ├── PositionWarning                       the order as retrieved was kept
    └── UnfilledBudgetWarning                 fewer chunks were available than fit

Each error is also the builtin that a caller who does not know this package would catch.
The facts that its message states are attributes, too, and `kind` names the problem.
Errors survive pickling. Evaluations add `oprag_eval.errors.SpendingCapError`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import partial
from typing import Any, Self

from oprag.errors.words import (
    COUNTS,
    count_nouns,
    describe_type,
    did_you_mean,
    find_caller_stacklevel,
    safe_repr,
    suggest_option,
)

__all__ = [
    "COUNTS",
    "BudgetTooSmallError",
    "ClusterError",
    "ConflictingPositionsError",
    "ContextWindowError",
    "DocumentNotFoundError",
    "IncompleteDocumentError",
    "IndexingError",
    "InvalidOptionError",
    "MissingDependencyError",
    "MissingDocumentError",
    "MissingPositionError",
    "ModelCallError",
    "OpragError",
    "OpragWarning",
    "PositionError",
    "PositionWarning",
    "TokenizerError",
    "UnfilledBudgetWarning",
    "UnfitIndexError",
    "UnreadableFileError",
    "count_nouns",
    "describe_type",
    "did_you_mean",
    "find_caller_stacklevel",
    "first_unnamed",
    "invalid_option",
    "refuse_in_call",
    "refuse_unknown",
    "refuse_unnamed",
    "safe_repr",
    "suggest_option",
    "wrong_object",
]


class OpragError(Exception):
    """Base of all errors raised by oprag.

    Args:
        message: The problem that was found, and the way to mend it.
        **facts: Set as attributes of the error, by the names the subclass
            declares.
    """

    kind = "error"
    """The problem in one word; `oprag.place_of` gives it for a result."""

    def __init__(self, message: str, **facts: Any) -> None:
        super().__init__(message)
        self.message = message
        self._facts = facts
        for name, value in facts.items():
            setattr(self, name, value)

    def prepend(self, sentence: str) -> Self:
        """Return the same error with a sentence before its message."""
        return self.reword(f"{sentence} {self.message}")

    def reword(self, message: str) -> Self:
        """Return the same error with another message."""
        return type(self)(message, **self._facts)

    def __reduce__(self) -> tuple[Any, ...]:
        """Rebuild from message and facts (the default would drop the facts)."""
        return partial(type(self), self.message, **self._facts), ()


class PositionError(OpragError, ValueError):
    """A chunk's position in its document is wrong or unknown.

    `kind` is that of a subclass, or one of these: `"invalid_span"` (negative, reversed,
    or past the end of the document), `"unscoped_position"` (offsets count from the
    start of a section or parent whose own order is unknown), `"not_comparable"` (values
    of the user's keys that have no order), `"shared_name"` (several files under one
    name; only as a warning).
    """

    document: str
    """The document's key, as the chunks name it; for `"shared_name"` the name that the
    files share."""
    start: int
    """First character of an invalid span."""
    end: int
    """One past its last character."""
    keys: tuple[str, ...] = ()
    """The metadata keys that were found on the chunk, or that show several sections."""


class MissingPositionError(PositionError):
    """A chunk carries no position that can be used."""

    kind = "missing_position"

    rank: int
    """Rank of the first such chunk (0 = best)."""


class ConflictingPositionsError(PositionError):
    """Places of a document's chunks cannot all be true.

    `kind` is `"ambiguous_position"` (different texts at one position),
    `"conflicting_text"` (overlapping spans whose texts differ there), or
    `"inconsistent_chunks"` (chunks that are not all of one text).
    """

    position: tuple[Any, ...] = ()
    """The position that is claimed more than once; empty if none is recorded."""
    ranks: tuple[int, ...] = ()
    """Ranks of the chunks that claim it, or their numbers in the list given."""
    spans: tuple[tuple[int, int], ...] = ()
    """The two spans that overlap, in characters, end exclusive."""
    chunks: tuple[int, ...] = ()
    """Numbers of inconsistent chunks, at most ten."""


class MissingDocumentError(OpragError, ValueError):
    """A chunk does not say which document it belongs to."""

    kind = "missing_document"

    rank: int
    """Rank of the first such chunk (0 = best)."""
    keys: tuple[str, ...]
    """The metadata keys that were found on it, sorted."""


class DocumentNotFoundError(OpragError, LookupError):
    """A source of full texts does not have a document of this name, or hides it."""

    kind = "document_not_found"

    document: str
    """The name that was asked for."""
    filtered: bool = False
    """Whether a search's filter hides chunks of it, so that none of it is given."""


class IncompleteDocumentError(OpragError, LookupError):
    """A document could not be read whole, and a part is never given for the whole."""

    kind = "incomplete_document"

    document: str
    """The name that was asked for."""
    expected: int
    """Chunks that the document has, by its `n_chunks`."""
    found: int
    """Different chunks of it that were found."""
    missing: tuple[range, ...]
    """`chunk_index` of those that were not, as ranges in order, at most ten."""
    gap: tuple[int, int] | None
    """Characters that no chunk holds, if all chunks are there; else None."""


class IndexingError(OpragError, RuntimeError):
    """A store cannot do, or did not do, the work that is needed of it."""

    store: str
    """The class of the store, or its name."""
    report: Any = None
    """The `IndexingReport` of a run in which documents failed; else None."""


class BudgetTooSmallError(OpragError, ValueError):
    """Not even the best chunk fits the token budget."""

    token_budget: int
    """The budget that was given, in tokens."""
    needed: int
    """Tokens that the best chunk takes."""


class ContextWindowError(OpragError, ValueError):
    """A prompt does not fit the context window of the model."""

    window: int | None
    """The window in tokens; None if unknown, when the provider refused the prompt."""
    needed: int | None
    """Tokens that the prompt and the room for the answer take; None if not counted."""


class ModelCallError(OpragError, RuntimeError):
    """A model cannot be loaded or used, failed for good, or gave an empty reply.

    Its `__cause__` is the exception that the client raised.
    """

    model: str = ""
    """The model's name, in the form that was given."""
    call: str = ""
    """The call: the step of a Self-Route, or `"long"`, `"short"` or `"direct"`."""
    long_answer: str | None = None
    """The answer of the call before, in a long reader; None without one."""
    usage: Mapping[str, Any] = {}
    """The usage up to here, as `Ledger.to_dict` returns it."""


class InvalidOptionError(OpragError, ValueError):
    """An option or argument has a value that it cannot have."""

    option: str
    """The option's name."""
    value: Any
    """The value that was given."""


class TokenizerError(OpragError, ValueError):
    """A tokenizer or sentence model cannot be loaded, or cannot do this task."""

    tokenizer: str
    """The tokenizer's name, in the form that was given, or the language."""


class UnreadableFileError(OpragError, ValueError):
    """A file, document or data set is not there, or cannot be read or used."""

    path: str
    """The name of the file, document or set, in the form that was given."""
    line: int | None = None
    """The line of a data file, or the row of a table, from 1; None: the whole file."""
    reason: str
    """The problem, without the file's name."""

    @property
    def was_opened(self) -> bool:
        """Whether the file is known to hold no text; False if nobody could look."""
        return self.__cause__ is None


class UnfitIndexError(OpragError, ValueError):
    """Questions on an index would fail, as `verify()` found before the first one."""

    diagnosis: Any
    """The diagnosis with all findings: an `oprag.diagnosing.Diagnosis`."""


class ClusterError(OpragError, ConnectionError):
    """A Ray cluster cannot be reached or used, or a worker there is gone."""

    address: str
    """The cluster's address, in the form that was given."""


class MissingDependencyError(OpragError, ImportError):
    """An optional package is needed and not installed, or is too old."""

    package: str
    """The import name of the package."""
    extra: str
    """The extra of oprag that installs it."""
    installed: str | None = None
    """The version that is too old; None if none can be imported."""
    needed: str | None = None
    """The lowest version that will do; None if any does."""


class OpragWarning(UserWarning):
    """Base of all warnings given by oprag."""


class PositionWarning(OpragWarning):
    """A document or position of chunks cannot be read, or cannot be true.

    The chunks are in the order as retrieved (`on_problem="warn"`), or keep an unproved
    place, or their neighbours were not read (`widen=`). The error that is not raised is
    the `__cause__`.
    """


class UnfilledBudgetWarning(OpragWarning):
    """The retriever gave fewer chunks than the token budget has room for."""


def invalid_option(option: str, value: Any, takes: str) -> InvalidOptionError:
    """Return the error for an option that has no such value.

    Args:
        option: Its name.
        value: The value that was given.
        takes: The values that the option takes, as whole sentences.
    """
    message = f"{option}={safe_repr(value)} is not possible. {takes}"
    return InvalidOptionError(message, option=option, value=value)


def wrong_object(option: str, value: Any, takes: str) -> InvalidOptionError:
    """Return the error for an option that takes an object of another kind.

    Args:
        option: Its name.
        value: The object that was given.
        takes: The kind of object that the option takes, after "It takes".
    """
    message = f"{option}= is {describe_type(value)}. It takes {takes}."
    return InvalidOptionError(message, option=option, value=value)


def refuse_unknown(
    given: Mapping[str, Any],
    known: Collection[str],
    advice: Mapping[str, str] | None = None,
) -> None:
    """Reject keyword arguments that are no options of a component.

    Args:
        given: Keyword arguments.
        known: The component's options.
        advice: Whole sentences on the right way, by words that users write for
            something that is no option here.

    Raises:
        InvalidOptionError: For the first one. The message has the advice for it. If
            there is none, it asks whether a similar option is meant, or lists all.
    """
    for option, value in given.items():
        if option not in known:
            listed = f"Options: {', '.join(known)}." if known else "It takes none."
            meant = (
                (advice or {}).get(option) or suggest_option(option, known) or listed
            )
            message = f"There is no option {option!r}. {meant}".rstrip()
            raise InvalidOptionError(message, option=option, value=value)


def refuse_in_call(
    component: str,
    call: Mapping[str, Any],
    known: Collection[str],
    options: Collection[str],
    advice: Mapping[str, str],
) -> None:
    """Reject keyword arguments that are no options of one call.

    Args:
        component: Its public name.
        call: The keyword arguments of the call.
        known: The options that may be given for one call.
        options: All options of the component. If one of them is given to the call, the
            message says to set it on the component.
        advice: See `refuse_unknown`.

    Raises:
        InvalidOptionError: For the first one.
    """
    for option, value in call.items():
        if option in options and option not in (*known, *COUNTS, *advice):
            message = f"{option}= is not for one call. Set it on {component}."
            raise InvalidOptionError(message, option=option, value=value)
    refuse_unknown(call, known, advice)


def refuse_unnamed(
    component: str, values: Sequence[Any], known: Collection[str]
) -> None:
    """Reject options that are given by position, without a name.

    Args:
        component: Its public name.
        values: The values that were given without a name.
        known: The component's options.

    Raises:
        InvalidOptionError: There is one. The message has the option names that a number
            may be meant for, or lists all.
    """
    if not values:
        return
    value = values[0]
    names = [name for name in (*COUNTS, "token_budget", "chunk_size") if name in known]
    such = f"Options: {', '.join(known)}."
    if type(value) is int and names:
        such = f"Write {' or '.join(f'{name}={value}' for name in names)}."
    found = describe_type(value)
    message = f"{component} takes options by name, and was given {found}. {such}"
    raise InvalidOptionError(message, option=next(iter(known), ""), value=value)


def first_unnamed(function: str, option: str) -> InvalidOptionError:
    """Return the error for a function that is called without its results.

    Args:
        function: Its public name.
        option: The name of its results, which may be the name of an option, too.
    """
    message = (
        f"Give {function} what it is to put in order first, without a name: "
        f"{function}({option}). documents= are full texts."
    )
    return InvalidOptionError(message, option=option, value=None)
