"""Names of the documents of a run: each comes once, and no two have one key."""

from __future__ import annotations

from oprag.errors import DuplicateDocumentError
from oprag.metadata import document_key
from oprag.positions import shared_key


class GivenNames(dict[str, str]):
    """Names by `doc_key`, in the order in which they were given."""

    def note(self, name: str) -> None:
        """Add a name.

        Raises:
            DuplicateDocumentError: It is there already, or another one has its key.
        """
        key = document_key(name)
        if key in self:
            other = self[key]
            raise _named_twice(name) if other == name else shared_key(key, other, name)
        self[key] = name


def _named_twice(name: str) -> DuplicateDocumentError:
    message = (
        f"The document {name!r} comes twice in one run. Pages and other parts of a "
        "document have to follow one another without other documents between them; "
        "two different documents need two names."
    )
    return DuplicateDocumentError(message, document=name)
