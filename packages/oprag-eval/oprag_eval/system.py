"""The interface of all systems: a question and a token budget give an attempt."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, TypeAlias

from pydantic import Field

from oprag.calls import TokenUsage
from oprag_eval.data import Question

if TYPE_CHECKING:
    from oprag_eval.bench import Bench

Count: TypeAlias = Annotated[int, Field(ge=1)]
"""A setting that is a number from 1 on; checked when systems are made from specs."""


@dataclass(frozen=True)
class Piece:
    """One part of the text that the model was given, in the order it was given."""

    document: str
    """Id of the document."""
    start: int | None = None
    """First character; None for text that is in no document, such as a summary."""
    end: int | None = None
    """One past the last character; None as above."""
    note: str = ""
    """The kind of such a text: `summary`, `gist`."""


class Context(NamedTuple):
    """The context of one call."""

    text: str
    pieces: tuple[Piece, ...]
    """Its pieces, in that order."""


@dataclass(frozen=True)
class Step:
    """One of several model calls that a question took, and its reply."""

    name: str
    """The kind of call: a step of Self-Route, `long`, `short`, `look_up`."""
    reply: str
    """The reply, unchanged."""
    declined: bool
    """Whether it declined."""
    usage: TokenUsage


@dataclass(frozen=True)
class Attempt:
    """One system's answer to one question."""

    prediction: str
    """The answer that is scored; empty when it declined."""
    reply: str
    """The model's last reply, unchanged."""
    pieces: tuple[Piece, ...]
    """The pieces that the model read for it, in that order."""
    context_tokens: int
    """Tokens of the context of the last call, separators included."""
    route: str = ""
    """The step whose reply is final; empty if the system does not route."""
    steps: tuple[Step, ...] = ()
    """Every call of this question, for a system that makes several."""
    whole: bool | None = None
    """Whether the full documents that it read were whole; None if it read none."""
    texts: tuple[str, ...] = ()
    """Of its pieces, the texts that stand in no document, in their order; empty if
    they are not kept, as with summaries."""
    self_answered: bool = False
    """Whether the system gave its own answer, and the run's model gave none."""
    usage: Mapping[str, TokenUsage] = field(default_factory=dict)
    """Tokens of the model calls by stage. `retrieve` and `answer` are those of this
    question. `index` are those of the summaries and gists that were made of its
    documents beforehand. Each question on them has the same figure, even if another
    came first."""


class System(ABC):
    """One way from a question to an answer.

    Systems hold settings and nothing else. The bench holds their material: documents,
    vectors, the model, the cache.
    """

    name: str
    """Short and unique, such as `dos-rag`; names its rows and files."""

    @property
    def budgeted(self) -> bool:
        """Whether it takes a token budget; one without runs once, not per budget."""
        return True

    def settings(self) -> dict[str, Any]:
        """Return all its settings except its name, as plain JSON values."""
        made = {key: value for key, value in vars(self).items() if key != "name"}
        plain: dict[str, Any] = json.loads(json.dumps(made, default=asdict))
        return plain

    @abstractmethod
    async def attempt(
        self, question: Question, budget: int | None, bench: Bench
    ) -> Attempt:
        """Answer a question.

        Args:
            question: The question, its options included.
            budget: Tokens of the context that the answering call reads, at most;
                None for a system without a budget.
            bench: Documents, chunks, vectors, the model, the cache.

        Raises:
            OpragError: It cannot be answered; never an empty prediction instead.
        """
