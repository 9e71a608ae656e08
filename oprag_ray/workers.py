"""The work in the cluster: blocks of documents, and the workers that index them."""

from __future__ import annotations

import pickle
import uuid
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from oprag.calls import carried
from oprag.errors import (
    IndexingError,
    InvalidOptionError,
    OpragError,
    OpragWarning,
    describe_type,
)
from oprag.indexing import (
    Framework,
    IndexingReport,
    IndexTarget,
    StoredBefore,
    UnsupportedMetadata,
    split_document,
    write_part,
)
from oprag.optional import require

_TEXT, _METADATA = "text", "metadata"
"""Columns of a Dataset; every other one is metadata too."""


def pack(items: Iterable[Any]) -> Any:
    """Return a block of Ray Data that holds any objects, in their order."""
    arrow = require("pyarrow", extra="ray", purpose="A run on a cluster")
    rows = [pickle.dumps(item, pickle.HIGHEST_PROTOCOL) for item in items]
    return arrow.table({"item": arrow.array(rows, arrow.large_binary())})


def unpack(table: Any) -> list[Any]:
    """Return the items of a block that `pack` made."""
    rows = table.column("item").to_pylist()
    return [pickle.loads(row) for row in rows]  # noqa: S301 -- a process of ours made it


def open_target(make_store: Callable[[], Any], splitter: Any) -> IndexTarget:
    """Open the store in this process.

    Raises:
        InvalidOptionError: It cannot be indexed into, or only by one process.
    """
    made = make_store()
    packages = {base.__module__.partition(".")[0] for base in type(made).__mro__}
    if "langchain_core" in packages:
        from langchain_oprag.indexing import make_target

        target = make_target(made, splitter)
    else:
        from llamaindex_oprag.indexing import make_target as of_llamaindex

        target = of_llamaindex(made, splitter)
    if target.store.is_embedded:
        message = (
            f"make_store opens a {type(target.writer.written).__name__} that lives "
            f"in one process or folder ({target.store.name}), and workers of a "
            "cluster cannot write to it together. Take a store on a server, such "
            "as PostgreSQL, Qdrant or Chroma by HTTP."
        )
        raise InvalidOptionError(message, option="make_store", value=target.store.name)
    return target


class Worker:
    """Splits, embeds and writes documents, one block after the other.

    The arguments are those of `index_on_ray`, and `before`, the state of the store
    before the run, and `options`, see `oprag.indexing.RunOptions`.
    """

    def __init__(
        self,
        make_store: Callable[[], Any],
        splitter: Any,
        unsupported_metadata: UnsupportedMetadata,
        before: StoredBefore,
        options: Mapping[str, Any],
    ) -> None:
        self._target = open_target(make_store, splitter)
        self._unsupported_metadata = unsupported_metadata
        self._before = before
        self._options = options

    def __call__(self, table: Any) -> Any:
        """Return the report, or the error that ends the run, and the warnings."""
        framework, scope = self._target.framework, self._options["scope"]
        documents = (
            split_document(given, framework, self._unsupported_metadata, scope)
            for given in unpack(table)
        )
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always", OpragWarning)
            try:
                done: Any = write_part(
                    documents,
                    self._target.store,
                    self._target.writer,
                    self._before,
                    **self._options,
                )
            except (OpragError, Warning) as error:  # concern all documents
                done = error
        warned = [
            (str(one.message), one.category)
            for one in seen
            if issubclass(one.category, OpragWarning)
        ]
        return pack([_sendable(done), *dict.fromkeys(warned)])


def _sendable(done: Any) -> Any:
    """Return a report or an error without the parts that cannot be pickled."""
    if isinstance(done, IndexingReport):
        failed = (one._replace(error=carried(one.error)) for one in done.failed)
        return replace(done, failed=tuple(failed))
    if isinstance(done, IndexingError) and done.report is not None:
        done.report = _sendable(done.report)
    return carried(done)


def documents_of(dataset: Any, framework: Framework[Any]) -> Iterator[Any]:
    """Yield the rows of a Ray Dataset as documents, in their order."""
    options = dataset.context.execution_options
    before, options.preserve_order = options.preserve_order, True
    try:
        for row in dataset.iter_rows():
            yield _document(row, framework)
    finally:
        options.preserve_order = before


def _document(row: Mapping[str, Any], framework: Framework[Any]) -> Any:
    metadata = {key: value for key, value in row.items() if key != _TEXT}
    if isinstance(inner := metadata.get(_METADATA), Mapping):
        metadata = {**metadata, _METADATA: None, **inner}
    text = row.get(_TEXT)
    if not isinstance(text, str):
        found = ", ".join(sorted(row))
        message = (
            f"A row of the Dataset holds {describe_type(text)} as its text "
            f"(columns: {found}). "
            "Give a column 'text' of strings."
        )
        raise InvalidOptionError(message, option="documents", value=found)
    known = {key: value for key, value in metadata.items() if value is not None}
    # Nobody gave it an id: a random one does not count.
    return framework.make(text, str(uuid.uuid4()), known, None)
