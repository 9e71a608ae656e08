"""Sets whose every line repeats its document: each text once, read when needed."""

from __future__ import annotations

import hashlib

from oprag.evaluation.data.records import Document, LazyDocuments
from oprag.evaluation.data.rows import Row, Rows

_DIGITS = 16


class Contexts:
    """Collects the documents of a set while its rows are read.

    A document's id is `prefix-` and the beginning of its text's SHA-256, so it is
    the same in every file and run.

    Args:
        rows: Where the texts lie.
        names: Possible names of the field that holds them.
        prefix: Of the ids.
        title: Name of a field with a title; None: there is none.
    """

    def __init__(
        self, rows: Rows, *names: str, prefix: str, title: str | None = None
    ) -> None:
        self._rows = rows
        self._names = names
        self._prefix = prefix
        self._title = title
        self._places: dict[str, int] = {}

    def add(self, row: Row) -> str:
        """Take note of a row's document.

        Returns:
            Its id.

        Raises:
            MalformedDataError: The row has no text.
        """
        text = row.text(*self._names)
        digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
        doc_id = f"{self._prefix}-{digest[:_DIGITS]}"
        self._places.setdefault(doc_id, row.place)
        return doc_id

    def documents(self) -> LazyDocuments[int]:
        """Return the documents in the order of their first rows."""
        return LazyDocuments(self._places, self._read)

    def _read(self, doc_id: str, place: int) -> Document:
        row = self._rows.again(place)
        title = row.values.get(self._title) if self._title else None
        if isinstance(title, (list, tuple)):
            title = ", ".join(map(str, title))
        return Document(doc_id, str(title or ""), row.text(*self._names))
