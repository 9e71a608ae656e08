"""`LongUnit`: what is retrieved and read whole."""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable
from dataclasses import dataclass

from oprag.chunk import Span
from oprag.errors import InvalidOptionError, InvalidSpanError

__all__ = ["LongUnit"]


@dataclass(frozen=True, slots=True)
class LongUnit:
    """One or more whole documents, or a part of one that is too long.

    Every document is in exactly one unit, or in consecutive units of its own.
    """

    documents: tuple[str, ...]
    """Names of its documents, in the order in which they were given; at least one."""
    tokens: int
    """Tokens of its documents, each counted alone, or of the part. What is put
    between documents when they are sent is not in it."""
    span: Span | None = None
    """Characters of its one document; None when it holds whole documents, and when
    the text of a part was not there to be cut."""
    part: int | None = None
    """Number of the part, from 0; None when it holds whole documents."""

    @property
    def name(self) -> str:
        """Name of its one document; of several a JSON list of their names."""
        if len(self.documents) == 1:
            return self.documents[0]
        return json.dumps(self.documents, ensure_ascii=False)

    @property
    def id(self) -> str:
        """A UUID made of its name and part: the same wherever it is made."""
        name = f"long unit\n{self.name}\n{self.part or 0}"
        return str(uuid.uuid5(uuid.NAMESPACE_OID, name))

    def text(self, read: Callable[[str], str], separator: str = "\n\n") -> str:
        """Give its text.

        Args:
            read: Gives the full text of a document by its name.
            separator: Put between documents; empty ones are left out.

        Raises:
            InvalidSpanError: A document is shorter than it was.
            InvalidOptionError: It is a part whose place is not known.
        """
        spans = self.spans(read)
        texts = [
            read(name)[span.start : span.end]
            for name, span in zip(self.documents, spans, strict=True)
        ]
        return separator.join(text for text in texts if text)

    def spans(self, read: Callable[[str], str]) -> list[Span]:
        """Give the characters that it holds of each of its documents.

        Args and errors are those of `text`.
        """
        if self.part is None:
            return [Span(0, len(read(name))) for name in self.documents]
        (name,) = self.documents
        if self.span is None:
            message = (
                f"Where part {self.part} of document {name!r} stands is not known: it "
                "was grouped by token counts alone. Give group_documents read=, which "
                "is asked for the texts of documents that are over max_tokens."
            )
            raise InvalidOptionError(message, option="units", value=self)
        if self.span.end > len(read(name)):
            message = (
                f"Document {name!r} has {len(read(name))} characters, and a unit of it "
                f"ends at {self.span.end}. It was changed since; group again."
            )
            raise InvalidSpanError(
                message, document=name, start=self.span.start, end=self.span.end
            )
        return [self.span]
