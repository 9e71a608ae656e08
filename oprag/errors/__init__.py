"""Every error and warning of the core and the adapters, in one tree.

::

    OpragError (Exception)
    ├── PositionError (ValueError)            a chunk's place is unknown or doubtful
    │   ├── MissingPositionError              no usable position in the metadata
    │   ├── AmbiguousPositionError            one position, several different texts
    │   ├── UnscopedPositionError             offsets that restart per section or parent
    │   ├── InvalidSpanError                  negative, reversed or past the end
    │   ├── ConflictingTextError              overlapping spans that disagree
    │   └── InconsistentChunksError           a document's chunks cannot all be of it
    ├── MissingDocumentError (ValueError)     a chunk names no document
    ├── DocumentNotFoundError (LookupError)   no full text by this name
    │   └── FilteredDocumentError             a search's filter hides chunks of it
    ├── IncompleteDocumentError (LookupError) chunks or text of a document are missing
    ├── DuplicateDocumentError (ValueError)   one name for two documents to be indexed
    ├── UnsupportedMetadataError (ValueError) metadata that not every store keeps
    ├── IndexingError (RuntimeError)          a store cannot do what indexing needs
    ├── BudgetTooSmallError (ValueError)      not even the best chunk fits
    ├── ContextWindowError (ValueError)       a prompt does not fit the model's window
    ├── RoutingError (RuntimeError)           Self-Route cannot go on
    │   └── RungFailedError                   the model failed for good at a step
    ├── LongReadingError (RuntimeError)       a long reader's model gave no answer
    ├── InvalidOptionError (ValueError)       an option has no such value
    ├── TokenizerError (ValueError)           a tokenizer cannot be used or loaded
    ├── SentenceDataError (LookupError)       no trained sentence model is installed
    ├── UnreadableFileError (ValueError)      a file or document holds no usable text
    ├── UnfitIndexError (ValueError)          questions on an index would fail
    ├── ClusterError (ConnectionError)        a Ray cluster cannot be reached or used
    └── MissingDependencyError (ImportError)  an optional package is not installed

    OpragWarning (UserWarning)
    ├── PositionWarning                       the order as retrieved was kept
    ├── UnfilledBudgetWarning                 fewer chunks were available than fit
    ├── UnlocatedChunksWarning                a repair could not prove some places
    ├── MixedVersionsWarning                  a document is there in several versions
    └── ApproximateTokenCountWarning          no exact tokenizer could be loaded

Each error also is the builtin that a caller without knowledge of this package
would catch. The facts stand on attributes, not only in the message, and errors
survive pickling, so they cross process boundaries whole.

The outer rings have branches of their own: `oprag.evaluation.errors`, and in
`oprag.cli` `EmbeddingModelError` and `ClosedError`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from oprag.errors.wording import did_you_mean, named, written

__all__ = [
    "AmbiguousPositionError",
    "ApproximateTokenCountWarning",
    "BudgetTooSmallError",
    "ClusterError",
    "ConflictingTextError",
    "ContextWindowError",
    "DocumentNotFoundError",
    "DuplicateDocumentError",
    "FilteredDocumentError",
    "IncompleteDocumentError",
    "InconsistentChunksError",
    "IndexingError",
    "InvalidOptionError",
    "InvalidSpanError",
    "LongReadingError",
    "MissingDependencyError",
    "MissingDocumentError",
    "MissingPositionError",
    "MixedVersionsWarning",
    "OpragError",
    "OpragWarning",
    "PositionError",
    "PositionWarning",
    "RoutingError",
    "RungFailedError",
    "SentenceDataError",
    "TokenizerError",
    "UnfilledBudgetWarning",
    "UnfitIndexError",
    "UnlocatedChunksWarning",
    "UnreadableFileError",
    "UnscopedPositionError",
    "UnsupportedMetadataError",
    "did_you_mean",
    "invalid_option",
    "kind_of",
    "named",
    "refuse_unknown",
    "written",
]


class OpragError(Exception):
    """Base of all errors raised by oprag.

    Args:
        message: What was found and what to do about it.
        **facts: Set as attributes of the error, by the names the subclass
            declares.
    """

    def __init__(self, message: str, **facts: Any) -> None:
        super().__init__(message)
        self.message = message
        self._facts = facts
        for name, value in facts.items():
            setattr(self, name, value)

    def __reduce__(self) -> tuple[Any, ...]:
        """Rebuild from message and facts (the default would drop the facts)."""
        return _rebuild, (type(self), self.message, self._facts)


def _rebuild(cls: type[OpragError], message: str, facts: dict[str, Any]) -> OpragError:
    return cls(message, **facts)


class PositionError(OpragError, ValueError):
    """Where a chunk stands in its document is unknown or doubtful."""

    document: str
    """The document's key, as the chunks name it."""


class MissingPositionError(PositionError):
    """A chunk carries no position that can be used."""

    rank: int
    """Rank of the first such chunk (0 = best)."""
    keys: tuple[str, ...]
    """The metadata keys that were found on it, sorted."""


class AmbiguousPositionError(PositionError):
    """Different texts claim or fit the same position, so their order is unknown."""

    position: tuple[float, ...]
    """The position that is claimed more than once; empty where none is recorded."""
    ranks: tuple[int, ...]
    """Ranks of the chunks that claim it, or their numbers in the list given."""


class UnscopedPositionError(PositionError):
    """Offsets count from the start of a section or parent that is not ordered."""

    keys: tuple[str, ...]
    """The metadata keys that show that there are several sections."""


class InvalidSpanError(PositionError):
    """A span is negative, reversed, or reaches past the end of its source."""

    start: int
    """First character, as found."""
    end: int
    """One past the last character, as found."""


class ConflictingTextError(PositionError):
    """Two spans overlap but their texts disagree where they do."""

    spans: tuple[tuple[int, int], tuple[int, int]]
    """The two spans, in characters, end exclusive."""


class InconsistentChunksError(PositionError):
    """A document's stored chunks contradict each other: not all can be of one text."""

    chunks: tuple[int, ...]
    """`chunk_index` of the chunks concerned, at most ten; where chunks are to be
    numbered, their numbers in the list that was given."""


class MissingDocumentError(OpragError, ValueError):
    """A chunk does not say which document it belongs to."""

    rank: int
    """Rank of the first such chunk (0 = best)."""
    keys: tuple[str, ...]
    """The metadata keys that were found on it, sorted."""


class DocumentNotFoundError(OpragError, LookupError):
    """A source of full texts does not have a document of this name."""

    document: str
    """The name that was asked for."""


class FilteredDocumentError(DocumentNotFoundError):
    """A search's filter hides chunks of a document, so that none of it is given."""


class IncompleteDocumentError(OpragError, LookupError):
    """Not all of a document could be had, and a part is never given for the whole."""

    document: str
    """The name that was asked for."""
    expected: int
    """Chunks that the document has, by its `n_chunks`."""
    found: int
    """Different chunks of it that were found."""
    missing: tuple[range, ...]
    """`chunk_index` of those that were not, as ranges in order, at most ten."""
    gap: tuple[int, int] | None
    """Characters that no chunk holds, where all chunks are there; else None."""


class DuplicateDocumentError(OpragError, ValueError):
    """Two documents to be indexed have one name, or one comes twice."""

    document: str
    """The name."""


class UnsupportedMetadataError(OpragError, ValueError):
    """A document's metadata has an entry that not every vector store keeps."""

    document: str
    """The document's own name."""
    key: str
    """The entry's key."""
    found: str
    """The type of its value."""


class IndexingError(OpragError, RuntimeError):
    """A store cannot do, or did not do, what indexing needs."""

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
    """The window in tokens; None when it is not known and the provider said so."""
    needed: int | None
    """Tokens that the prompt takes, with the room for the answer; None: not counted."""


class RoutingError(OpragError, RuntimeError):
    """Self-Route cannot go on: its steps were taken out of turn, or one failed."""


class RungFailedError(RoutingError):
    """The model failed for good at a step; it had refused at those before.

    The failure itself is the `__cause__`.
    """

    rung: str
    """Name of the step at which it failed."""
    usage: dict[str, Any]
    """The usage up to the failure, as `Ledger.to_dict` returns it."""


class LongReadingError(OpragError, RuntimeError):
    """The model of a long reader failed for good, or its reply was empty.

    A failure itself is the `__cause__`.
    """

    call: str
    """Which call it was: `"long"`, `"short"` or `"direct"`."""
    long_answer: str | None
    """What the call before it gave; None without one."""
    usage: dict[str, Any]
    """The usage up to here, as `Ledger.to_dict` returns it."""


class InvalidOptionError(OpragError, ValueError):
    """An option has a value that it cannot have."""

    option: str
    """The option's name."""
    value: Any
    """The value that was given."""


class TokenizerError(OpragError, ValueError):
    """A tokenizer cannot be used for what was asked of it, or not be loaded."""

    tokenizer: str
    """The tokenizer as it was named."""


class SentenceDataError(OpragError, LookupError):
    """No trained sentence model could be found."""

    language: str
    """The language that was asked for."""


class UnreadableFileError(OpragError, ValueError):
    """A file is not there, or holds no text that can be read."""

    path: str
    """The file as it was named."""
    reason: str
    """What is wrong with it, without its name."""


class UnfitIndexError(OpragError, ValueError):
    """Questions on an index would fail, as `verify()` found before the first one."""

    diagnosis: Any
    """All that was found: an `oprag.diagnosing.Diagnosis`."""


class ClusterError(OpragError, ConnectionError):
    """A Ray cluster cannot be reached or used, or a worker there is gone."""

    address: str
    """Its address as it was given."""


class MissingDependencyError(OpragError, ImportError):
    """An optional package is needed and not installed, or is too old."""

    package: str
    """The import name of the package."""
    extra: str
    """The extra of oprag that installs it."""
    installed: str | None = None
    """The version that is too old; None where none can be imported."""
    needed: str | None = None
    """The lowest version that will do; None where any does."""


class OpragWarning(UserWarning):
    """Base of all warnings given by oprag."""


class PositionWarning(OpragWarning):
    """Document or position of chunks cannot be read, or not be true.

    The chunks stand as they were retrieved (`on_problem="warn"`); or would, as
    `verify()` found. Or nothing was read beside them (`widen=`). The error in whose
    place it is given is its `__cause__`.
    """


class UnfilledBudgetWarning(OpragWarning):
    """The retriever gave fewer chunks than the token budget has room for."""


class UnlocatedChunksWarning(OpragWarning):
    """Where some chunks stand in their source could not be proved."""


class MixedVersionsWarning(OpragWarning):
    """There are chunks of several versions of a document, with different texts."""


class ApproximateTokenCountWarning(OpragWarning):
    """Tokens are estimated because no exact tokenizer could be loaded."""


def kind_of(error: OpragError | type[OpragError]) -> str:
    """Return the name of a kind of problem: `missing_position`, for example."""
    kind = error if isinstance(error, type) else type(error)
    name = kind.__name__.removesuffix("Error")
    return "".join(f"_{c.lower()}" if c.isupper() else c for c in name).lstrip("_")


def invalid_option(option: str, value: Any, takes: str) -> InvalidOptionError:
    """Return the error for an option that has no such value.

    Args:
        option: Its name.
        value: What was given.
        takes: What it takes instead, as whole sentences.
    """
    message = f"{option}={written(value)} is not possible. {takes}"
    return InvalidOptionError(message, option=option, value=value)


def refuse_unknown(given: Mapping[str, Any], known: Collection[str]) -> None:
    """Reject what is not an option of a component.

    Args:
        given: Options by name.
        known: The names of all that the component has.

    Raises:
        InvalidOptionError: For the first one.
    """
    for option, value in given.items():
        if option not in known:
            meant = did_you_mean(option, known) or f"Options: {', '.join(known)}."
            message = f"There is no option {option!r}. {meant}".rstrip()
            raise InvalidOptionError(message, option=option, value=value)
