"""A sample of a store: its first chunks, and those without which these say too little.

A chunk that is alone in its document needs no position, and pages order chunks of
different pages. That a sample shows no more of a document says nothing of the store:
such documents are looked at whole.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import Literal, TypeAlias

from oprag.chunk import Chunk, Hit
from oprag.context import check_option
from oprag.diagnosing.checks import Examined, examine, group_chunks
from oprag.diagnosing.spooled import IN_MEMORY, SpooledChunks
from oprag.documents import StoredChunk, is_own
from oprag.errors import InvalidOptionError, PositionError, named
from oprag.positions import DocumentKey, known_document

Read: TypeAlias = Callable[[list[Hit], str], list[Chunk] | PositionError]
"""From the chunks of a document and its name to the same as retrieval reads them, or
the error that it raises."""


class Sample:
    """Chunks of a store that are looked at.

    Args:
        chunks: All of them, in the order of the store. No more are taken than needed.
        number: How many to look at, the first ones; None for all.
        in_memory: How many are kept in memory; see `SpooledChunks`.

    Raises:
        InvalidOptionError: `number` is no such number, or something else is given.
    """

    def __init__(
        self,
        chunks: Iterable[StoredChunk | Hit],
        number: int | None,
        *,
        in_memory: int = IN_MEMORY,
    ) -> None:
        check_option("sample", number)
        self._rest: Iterator[Examined] = map(examine, _given(chunks))
        self.chunks = SpooledChunks(islice(self._rest, number), in_memory)
        self.unsettled = 0
        """Chunks of documents of which it is still not known if they can be ordered."""
        self._left_out = False

    def read_on(self, read: Read, document_key: DocumentKey | None) -> None:
        """Take in the other chunks of documents that the first ones say too little of.

        It ends with the store, or with the first of these documents that is refused.

        Args:
            read: How retrieval reads the chunks of one document.
            document_key: What names the document.
        """
        ahead = next(self._rest, None)
        if ahead is None:
            return
        self._rest = chain([ahead], self._rest)
        documents = self._unsettled(read, document_key)
        while documents and (chunk := next(self._rest, None)) is not None:
            key, _ = known_document(chunk.hit, document_key) or ("", "")
            if key not in documents:
                self._left_out = True
                continue
            self.chunks.append(chunk)
            documents[key].hits.append(chunk.hit)
            verdict = documents[key].verdict(read)
            if verdict == "unsettled":
                continue
            del documents[key]
            if verdict == "refused":
                self.unsettled = sum(len(each.hits) for each in documents.values())
                break

    def _unsettled(
        self, read: Read, document_key: DocumentKey | None
    ) -> dict[str, _Document]:
        """The documents that too little is seen of, by key; none if one is refused."""
        documents = {}
        for group in group_chunks(self.chunks, document_key):
            hits = [self.chunks[i].hit for i in group.members]
            document = _Document(group.name, hits)
            verdict = document.verdict(read)
            if verdict == "refused":
                return {}  # more would make it no better
            if verdict == "unsettled":
                documents[group.key] = document
        return documents

    def is_all(self) -> bool:
        """Whether the store has no chunk that was not looked at."""
        return not self._left_out and next(self._rest, None) is None


class _Document:
    """A document of which more chunks may show that it cannot be ordered."""

    def __init__(self, name: str, hits: list[Hit]) -> None:
        self._name = name
        self.hits = hits
        self._enough = 0

    def verdict(self, read: Read) -> Literal["settled", "unsettled", "refused"]:
        """Judge its chunks; anew where there are twice as many as at the last time."""
        if len(self.hits) < self._enough:
            return "unsettled"
        self._enough = 2 * len(self.hits)
        placed = read(self.hits, self._name)
        if isinstance(placed, PositionError):
            return "refused"
        return "unsettled" if _says_too_little(placed) else "settled"


def _says_too_little(chunks: Sequence[Chunk]) -> bool:
    """Whether chunks are in order only because no others of the document are seen."""
    if any(chunk.position is None and chunk.text.strip() for chunk in chunks):
        return True  # as it seems to be alone
    if all(is_own(chunk.metadata) for chunk in chunks):
        return False
    alone = len({chunk.text for chunk in chunks}) == 1
    return all(
        chunk.position is not None
        and (
            (chunk.part is not None and len(chunk.position) == 1)  # a page, no more
            or (alone and (len(chunk.position) == 1 or _start(chunk) == 0))
        )
        for chunk in chunks
    )


def _start(chunk: Chunk) -> float:
    """Some applications write 0 on every chunk; what else there is was counted."""
    if chunk.span is not None:
        return chunk.span.start
    return chunk.position[-1] if chunk.position else 0


def _given(chunks: Iterable[StoredChunk | Hit]) -> Iterator[StoredChunk | Hit]:
    """The chunks one by one; a framework's own objects are refused."""
    if not isinstance(chunks, Iterable):
        raise _not_chunks("chunks", chunks)
    for place, chunk in enumerate(chunks):
        if not isinstance(chunk, (StoredChunk, Hit)):
            raise _not_chunks(f"chunks[{place}]", chunk)
        yield chunk


def _not_chunks(what: str, value: object) -> InvalidOptionError:
    message = (
        f"{what} is {named(value)}. oprag.diagnose takes the chunks of a ChunkStore: "
        "store.scan(). Stores and results of a framework are taken by diagnose of "
        "langchain_oprag or llamaindex_oprag."
    )
    return InvalidOptionError(message, option="chunks", value=value)
