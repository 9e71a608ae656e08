"""What runs in workers, of either framework: a store opened anew in each of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType
from typing import Any, Literal, NamedTuple, TypeAlias

from oprag.errors import InvalidOptionError, invalid_option
from oprag.indexing import IndexTarget

FrameworkName: TypeAlias = Literal["langchain", "llamaindex"]
"""Whose stores, embeddings and splitters a run is given."""


class Opened(NamedTuple):
    """A store that this process has opened."""

    target: IndexTarget
    """What a run works on."""
    ahead: Any
    """The adapter's `VectorsAhead`, which the store embeds with."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Factories:
    """How each worker makes what cannot be sent to it.

    Raises:
        InvalidOptionError: There is no such framework, or what makes is no function.
    """

    framework: FrameworkName
    """See `FrameworkName`."""
    make_store: Callable[[Any], Any]
    """Opens the store, with the embeddings that it is given."""
    make_embeddings: Callable[[], Any]
    """Makes the embeddings, where texts are embedded."""
    splitter: Any
    """The framework's, or None for oprag's of sentences."""

    def __post_init__(self) -> None:
        if self.framework not in {"langchain", "llamaindex"}:
            takes = "It takes 'langchain' or 'llamaindex'."
            raise invalid_option("framework", self.framework, takes)
        for option in ("make_store", "make_embeddings"):
            if not callable(made := getattr(self, option)):
                given = "(embeddings)" if option == "make_store" else "()"
                takes = f"It takes a function that every worker calls: {option}{given}."
                raise invalid_option(option, made, takes)

    def opened(self) -> Opened:
        """Open the store in this process.

        Raises:
            InvalidOptionError: It cannot be indexed into, or only by one process.
        """
        ahead = self.embedding().VectorsAhead(self.make_embeddings)
        target = self._target(self.make_store(ahead))
        if target.store.is_embedded:
            message = (
                f"make_store opens a {type(target.writer.written).__name__} that lives "
                f"in one process or folder ({target.store.name}), and workers of a "
                "cluster cannot write to it together. Take a store on a server, such "
                "as PostgreSQL, Qdrant or Chroma by HTTP; or index with "
                "index_documents in one process."
            )
            raise InvalidOptionError(
                message, option="make_store", value=target.store.name
            )
        return Opened(target, ahead)

    def embedding(self) -> ModuleType:
        """The adapter's module of vectors that are made ahead."""
        if self.framework == "langchain":
            from langchain_oprag import vectors_ahead

            return vectors_ahead
        from llamaindex_oprag import vectors_ahead as of_llamaindex

        return of_llamaindex

    def _target(self, store: Any) -> IndexTarget:
        if self.framework == "langchain":
            from langchain_oprag.indexing import indexing_target

            return indexing_target(store, self.splitter)
        from llamaindex_oprag.indexing import indexing_target as of_llamaindex

        return of_llamaindex(store, self.splitter)
