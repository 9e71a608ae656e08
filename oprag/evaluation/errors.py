"""The errors and warnings of evaluations, branches of the tree in `oprag.errors`.

::

    OpragError
    ├── MalformedDataError (ValueError)       a line of a data file cannot be used
    ├── DatasetUnavailableError (LookupError) a set is not here and cannot be fetched
    ├── ChatModelError (RuntimeError)         a chat model cannot be reached or used
    ├── SpendingCapError (RuntimeError)       the next model call could pass a cap
    ├── RunInUseError (RuntimeError)          another process writes to a run's folder
    ├── ChunkSetError (ValueError)            orders are compared of different chunks
    └── MetricUnavailableError (LookupError)  a measure lacks the data it needs

    OpragWarning
    ├── DatasetCountWarning                   a set is not of the size the papers give
    └── SmallBudgetWarning                    a budget of a run holds no chunk
"""

from __future__ import annotations

from collections.abc import Collection

from oprag.errors import OpragError, OpragWarning, invalid_option


class MalformedDataError(OpragError, ValueError):
    """A line or row of a data file is not of the form that it should have."""

    path: str
    """The file, or the set it was fetched from."""
    line: int | None
    """The line, or the row of a table, from 1; None where it is the whole file."""
    reason: str
    """What is wrong with it."""


class DatasetUnavailableError(OpragError, LookupError):
    """A data set is not on this machine and cannot be fetched."""

    dataset: str
    """The set as it is named here or on the hub."""


class DatasetCountWarning(OpragWarning):
    """A data set does not hold as many questions or documents as the papers say."""


class SmallBudgetWarning(OpragWarning):
    """A budget of a run does not hold a single chunk for some question."""


class ChatModelError(OpragError, RuntimeError):
    """A chat model cannot be loaded, reached, or used.

    What its client raised is the `__cause__`.
    """

    model: str
    """The model as it was named."""


class SpendingCapError(OpragError, RuntimeError):
    """The next model call of an evaluation could pass its cap on tokens or cost."""

    cap: float
    """The cap that was given: tokens, or money."""
    spent: float
    """What was spent before, in the same unit."""


class RunInUseError(OpragError, RuntimeError):
    """Another process is writing to the folder of a run."""

    folder: str
    """The folder."""
    process: int | None
    """The id of that process; None where it did not say."""


class ChunkSetError(OpragError, ValueError):
    """Answers that should differ in the order of their chunks differ in the chunks."""

    question: str
    """Id of the question."""
    budget: int | None
    """Tokens; None for systems without a budget."""
    systems: tuple[str, str]
    """Two systems that did not read the same."""


class MetricUnavailableError(OpragError, LookupError):
    """A measure cannot be computed because data that it needs is not installed."""

    metric: str
    """The measure's name."""
    reason: str
    """What is missing, for a table's footnote."""


def check_one_of(option: str, value: object, known: Collection[str]) -> None:
    """Make sure that an option has one of the values that there are.

    Raises:
        InvalidOptionError: It has not.
    """
    if value not in known:
        raise invalid_option(option, value, f"It takes one of {', '.join(known)}.")
