"""Documents into the cluster: those of a run, each with all its parts in one block."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from oprag.errors import InvalidOptionError, named
from oprag.indexing import Framework, GivenNames, Named, SkippedFile, named_documents
from oprag.scale.blocks import packed

_TEXT, _METADATA = "text", "metadata"
"""Columns of a Dataset; every other one is metadata too."""
_CHUNK = 300
"""Characters of a chunk: somewhat few, so that a block is embedded by one call."""


class Fed(NamedTuple):
    """Documents that are in the cluster's object store."""

    blocks: list[Any]
    """References to blocks of documents, in the order in which they were given."""
    skipped: tuple[SkippedFile, ...]
    """Files that are no text: what is behind their errors would be lost on the way."""
    total: int
    """How many documents and files there are."""


def feed(
    ray: Any,
    documents: Any,
    framework: Framework[Any],
    scope: str | None,
    batch_size: int,
) -> Fed:
    """Put documents into the cluster's object store, one block after the other.

    Args:
        ray: The module, connected.
        documents: See `index_on_ray`.
        framework: Whose documents they are.
        scope: The name that the user gave to where they come from.
        batch_size: Chunks that are embedded at once: about so many come of a block.

    Raises:
        InvalidOptionError: A name comes twice.
        InvalidOptionError: A row of a Dataset has no text.
    """
    if isinstance(documents, ray.data.Dataset):
        documents = _of_rows(documents, framework)
    blocks: list[Any] = []
    block: list[Named[Any]] = []
    skipped: list[SkippedFile] = []
    names, characters = GivenNames(), 0
    for given in named_documents(documents, framework, scope):
        if isinstance(given, SkippedFile):
            names.note(given.name)
            skipped.append(given)
            continue
        name, parts = given
        names.note(name)
        block.append(given)
        characters += sum(len(framework.read(part).text) for part in parts)
        if len(block) >= batch_size or characters >= batch_size * _CHUNK:
            blocks.append(ray.put(packed(block)))
            block, characters = [], 0
    if block:
        blocks.append(ray.put(packed(block)))
    return Fed(blocks, tuple(skipped), len(names))


def _of_rows(dataset: Any, framework: Framework[Any]) -> Iterator[Any]:
    """The rows of a Dataset as documents, in their order."""
    options = dataset.context.execution_options
    before, options.preserve_order = options.preserve_order, True
    try:
        for table in dataset.iter_batches(batch_size=None, batch_format="pyarrow"):
            yield from _documents(table.to_pylist(), framework)
    finally:
        options.preserve_order = before


def _documents(
    rows: Iterable[Mapping[str, Any]], framework: Framework[Any]
) -> Iterator[Any]:
    for row in rows:
        metadata = {key: value for key, value in row.items() if key != _TEXT}
        if isinstance(inner := metadata.get(_METADATA), Mapping):
            metadata = {**metadata, _METADATA: None, **inner}
        text = row.get(_TEXT)
        if not isinstance(text, str):
            found = ", ".join(sorted(row))
            message = (
                f"A row of the Dataset holds {named(text)} as its text (columns: "
                f"{found}). It takes a column 'text' of strings; every other column is "
                "metadata, and one of them names the document, such as 'source'."
            )
            raise InvalidOptionError(message, option="documents", value=found)
        known = {key: value for key, value in metadata.items() if value is not None}
        # Nobody gave it an id: a random one is none.
        yield framework.make(text, str(uuid.uuid4()), known, None)
