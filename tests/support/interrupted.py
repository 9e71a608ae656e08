"""What has to hold for a store whose indexing was killed, and after the next run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from oprag.documents import ChunkStore, rebuild
from oprag.errors import DocumentNotFoundError, IncompleteDocumentError
from oprag.metadata import document_key
from tests.support.killed_indexing import AFTER, BEFORE


def content(store: ChunkStore) -> list[tuple[str, str, list[tuple[str, Any]]]]:
    """Ids, texts and metadata, in an order that does not depend on the store."""
    return sorted((c.id, c.text, sorted(c.metadata.items())) for c in store.scan())


def whole_documents(store: ChunkStore) -> dict[str, str]:
    """Texts of the documents that can be put together out of the store."""
    texts = {}
    for name in sorted({*BEFORE, *AFTER}):
        try:
            texts[name] = rebuild(name, store.fetch(document_key(name))).text
        except (DocumentNotFoundError, IncompleteDocumentError):
            continue
    return texts


def incomplete_documents(store: ChunkStore) -> list[str]:
    """Documents of which some chunks are there and others are not."""
    stored = {str(chunk.metadata["doc_uri"]) for chunk in store.scan()}
    return sorted(stored - set(whole_documents(store)))


def assert_nothing_false(store: ChunkStore) -> None:
    """A document is the old or the new one, or is not given: never a mixture."""
    for name, text in whole_documents(store).items():
        versions = [
            "\n".join(files[name]) for files in (BEFORE, AFTER) if name in files
        ]
        assert text in versions, name


def assert_repaired(store: ChunkStore, index: Callable[[], Any]) -> None:
    """The next run leaves every document whole and once; another finds no work."""
    index()

    assert whole_documents(store) == {n: "\n".join(ls) for n, ls in AFTER.items()}
    lines = sum(len(lines) for lines in AFTER.values())
    assert len(list(store.scan())) == lines
    before = content(store)
    report = index()
    assert sorted(report.unchanged) == sorted(AFTER)
    assert (report.chunks_added, report.chunks_deleted) == (0, 0)
    assert content(store) == before
