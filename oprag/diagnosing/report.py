"""What an examination of an index found."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

__all__ = [
    "Diagnosis",
    "DocumentProof",
    "Example",
    "KeyUse",
    "Options",
    "Problem",
    "Proofs",
    "Verdict",
]

Verdict = Literal["ordered", "ordered with options", "not ordered"]

Framework = Literal["langchain", "llamaindex", "plain"]


@dataclass(frozen=True, slots=True)
class KeyUse:
    """One metadata key that says something about document or position."""

    key: str
    role: Literal["document", "position", "end", "part", "section"]
    chunks: int
    """Chunks that carry it with a value."""
    usable: int
    """Chunks whose value is a name or, for positions, a number from 0 on."""
    example: str
    """The first value, as Python writes it, at most 60 characters of it."""


@dataclass(frozen=True, slots=True)
class Example:
    """A chunk that has a problem."""

    chunk: str
    """The store's id of it, or its number in the order of the store."""
    document: str
    detail: str


@dataclass(frozen=True, slots=True)
class Problem:
    """One kind of problem."""

    kind: str
    """A word for programs, such as `missing_position`."""
    message: str
    """What was found, in one sentence."""
    chunks: int
    """Chunks concerned."""
    documents: int
    """Documents concerned; 0 where the chunks name none."""
    examples: tuple[Example, ...]
    """At most five, in the order of the store."""
    serious: bool = True
    """Whether it stands in the way of order or of a whole document. A span that is
    not as long as its text does not, as white space may differ; nor does one that the
    source neither proves nor disproves."""


@dataclass(frozen=True, slots=True)
class Options:
    """Options with which the index is ordered; both None where none are needed."""

    position_keys: tuple[str, ...] | None = None
    document_key: str | None = None

    def code(self, framework: Framework = "langchain") -> str:
        """One line of Python that passes them."""
        given = {
            "langchain": ["vectorstore=vectorstore"],
            "llamaindex": [],
            "plain": ["texts", "metadatas"],
        }[framework]
        if self.position_keys is not None:
            first, *more = self.position_keys
            given.append(f"position_keys={[first, *more] if more else first!r}")
        if self.document_key is not None:
            given.append(f"document_key={self.document_key!r}")
        name = {
            "langchain": "OrderPreservingRetriever",
            "llamaindex": "OrderPreservingPostprocessor",
            "plain": "order_context",
        }[framework]
        return f"{name}({', '.join(given)})"


@dataclass(frozen=True, slots=True)
class DocumentProof:
    """What the source of one document proves of its chunks."""

    document: str
    """Its name."""
    chunks: int
    placed: int
    """Chunks whose place is proved."""
    complete: bool
    """Whether the chunks cover the source without a gap, so that all are there."""


@dataclass(frozen=True, slots=True)
class Proofs:
    """What the sources prove of the recorded positions, in chunks."""

    proved: int
    """The recorded span is the true one."""
    moved: int
    """The true place is proved and another one is recorded."""
    placed: int
    """The true place is proved and none is recorded."""
    ambiguous: int
    """The text stands in the source, and more than one place is possible."""
    not_found: int
    """The text does not stand in its source."""
    blank: int
    """White space alone, so it stands anywhere."""
    no_source: int
    """No source is known by any name that the chunk carries."""
    documents: tuple[DocumentProof, ...]


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """Whether an index can be put in document order, and what stands in the way."""

    verdict: Verdict
    """- `ordered`: as it is, without options.
    - `ordered with options`: with `options`, those that were given or others.
    - `not ordered`: positions are missing, wrong, or contradict each other."""
    options: Options
    chunks: int
    """Chunks examined."""
    sampled: bool
    """Whether there are more, which were not looked at."""
    documents: int
    """Documents that the chunks name."""
    keys: tuple[KeyUse, ...]
    problems: tuple[Problem, ...]
    """What was found with the options, in the order of the examination."""
    proofs: Proofs | None
    """None where no sources were given."""

    @property
    def healthy(self) -> bool:
        """Whether it is ordered with the options given, without a serious problem."""
        serious = any(problem.serious for problem in self.problems)
        return self.verdict != "not ordered" and not serious

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain JSON values, with the options as Python code."""
        values = asdict(self)
        frameworks: tuple[Framework, ...] = ("langchain", "llamaindex", "plain")
        values["code"] = {name: self.options.code(name) for name in frameworks}
        values["healthy"] = self.healthy
        return values
