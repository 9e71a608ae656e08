"""The stages that every document passes: split and compared, embedded, written.

Each is an actor, and gets one block after the other. What concerns all documents ends
the run: it goes through all stages in the place of a block.
"""

from __future__ import annotations

import itertools
import warnings
from abc import ABC, abstractmethod
from array import array
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from oprag.calls import carried
from oprag.errors import IndexingError, InvalidOptionError, OpragError, OpragWarning
from oprag.indexing import (
    REFUSALS,
    FailedDocument,
    Named,
    Readable,
    RunOptions,
    UnsupportedMetadata,
    WantedDocument,
    WrittenPart,
    lacking,
    wanted_document,
    write_part,
)
from oprag.scale.blocks import packed, unpacked
from oprag.scale.frameworks import Factories


class Work(NamedTuple):
    """A document on its way into the store."""

    given: Readable
    """The document, or what was wrong with it."""
    texts: Sequence[str] = ()
    """What is to be embedded of it, each once."""
    vectors: Sequence[array[float]] = ()
    """Those of the texts; empty until they are made."""


class Told(NamedTuple):
    """A warning that a worker gave, on its way to whoever started the run."""

    message: str
    category: type[OpragWarning]


class _Stage(ABC):
    """An actor that changes blocks."""

    def __call__(self, table: Any) -> Any:
        """Do the stage's part with the items of a block."""
        items = unpacked(table)
        if any(isinstance(item, Exception) for item in items):
            return table
        told = [item for item in items if isinstance(item, Told)]
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always", OpragWarning)
            try:
                done = self.done([item for item in items if not isinstance(item, Told)])
            except (OpragError, Warning) as error:  # concern all documents
                return packed([carried(error)])
        told += [
            Told(str(one.message), one.category)
            for one in seen
            if issubclass(one.category, OpragWarning)
        ]
        return packed([*dict.fromkeys(told), *done])

    @abstractmethod
    def done(self, items: list[Any]) -> list[Any]:
        """Return what the next stage gets."""


class Preparer(_Stage):
    """Splits documents, and looks which of their chunks the store lacks.

    Args:
        factories: How the store is opened.
        unsupported_metadata: See `index_documents`.
        options: Those of the run.
    """

    def __init__(
        self,
        factories: Factories,
        unsupported_metadata: UnsupportedMetadata,
        options: RunOptions,
    ) -> None:
        self._texts = factories.embedding().texts_to_embed
        self._target = factories.opened().target
        self._unsupported_metadata = unsupported_metadata
        self._options = options

    def done(self, items: list[Named[Any]]) -> list[Work]:
        """Return the documents with the texts that are to be embedded."""
        return [*map(self._prepared, items)]

    def _prepared(self, given: Named[Any]) -> Work:
        scope, framework = self._options.scope, self._target.framework
        document = wanted_document(given, framework, self._unsupported_metadata, scope)
        if isinstance(document, FailedDocument):
            return Work(document._replace(error=carried(document.error)))
        if not isinstance(document, WantedDocument):
            return Work(document)
        try:
            chunks = lacking(document, self._target.store, self._options)
        except REFUSALS as error:
            return Work(FailedDocument(document.name, error))
        except (OpragError, Warning):  # concern all documents
            raise
        except Exception:  # noqa: BLE001 -- any store's; whoever writes asks it again
            return Work(document)
        return Work(document, [*dict.fromkeys(self._texts(chunks))])


class Embedder(_Stage):
    """Embeds what the store lacks.

    Args:
        factories: How the embeddings are made.
        batch_size: Texts that are embedded at once.
    """

    def __init__(self, factories: Factories, batch_size: int) -> None:
        self._vectors_of = factories.embedding().vectors_of
        self._model = factories.make_embeddings()
        self._batch_size = batch_size

    def done(self, items: list[Work]) -> list[Work]:
        """Return the documents with their vectors; one by one if that fails."""
        try:
            vectors = self._embedded([text for work in items for text in work.texts])
        except (IndexingError, InvalidOptionError, Warning):  # concern all documents
            raise
        except Exception:  # noqa: BLE001 -- any model's; each is tried again
            return [*map(self._alone, items)]
        return [
            work._replace(vectors=[*itertools.islice(vectors, len(work.texts))])
            for work in items
        ]

    def _alone(self, work: Work) -> Work:
        try:
            return work._replace(vectors=[*self._embedded(work.texts)])
        except (IndexingError, InvalidOptionError, Warning):  # concern all documents
            raise
        except Exception as error:  # noqa: BLE001 -- any model's, and is reported
            shown = carried(error)
            return Work(FailedDocument(work.given.name, shown))

    def _embedded(self, texts: Sequence[str]) -> Iterator[array[float]]:
        rest, made = iter(texts), []
        while batch := [*itertools.islice(rest, self._batch_size)]:
            # Of the floats that Python has, so that nothing is rounded.
            made += [
                array("d", vector) for vector in self._vectors_of(self._model, batch)
            ]
        return iter(made)


class Writer(_Stage):
    """Writes documents as `index_documents` does, with the vectors that are there.

    Args:
        factories: How the store is opened.
        options: Those of the run.
    """

    def __init__(self, factories: Factories, options: RunOptions) -> None:
        self._target, self._ahead = factories.opened()
        self._options = options

    def done(self, items: list[Work]) -> list[WrittenPart]:
        """Return what was done, as one part of the run."""
        vectors = self._ahead.vectors
        vectors.clear()
        for work in items:
            made = (vector.tolist() for vector in work.vectors)
            vectors.update(zip(work.texts, made, strict=True))
        part = write_part(
            [work.given for work in items],
            self._target.store,
            self._target.writer,
            scope=self._options.scope,
            replace=self._options.replace,
            batch_size=self._options.batch_size,
        )
        return [part]
