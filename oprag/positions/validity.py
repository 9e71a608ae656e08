"""Whether the positions of chunks can all be true: duplicates, versions, conflicts."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, takewhile
from operator import attrgetter
from typing import Any

from oprag.chunk import Chunk, Hit, Span
from oprag.errors import (
    ConflictingPositionsError,
    OpragError,
    PositionWarning,
    users_level,
)
from oprag.metadata import DOC_KEY, DOC_VERSION, HASH, version_text
from oprag.ordering import group_by_document
from oprag.positions.errors import contradiction
from oprag.positions.keys import (
    FILE_KEYS,
    ID_KEYS,
    MADE_UP,
    first_name,
    is_of_a_parent,
    known_key,
    known_positions,
)

_ONE_TEXT = re.compile(
    r"\.(docx?|epub|html?|md|pdf|pptx?|rst|rtf|tex|txt)$", re.IGNORECASE
)
"""Names of files that are one document; tables and systems hold many."""
_FEW = 3
"""Fewer documents of one chunk each may be so by chance."""


def without_duplicates(chunks: Iterable[Chunk]) -> list[Chunk]:
    """Keep one of the chunks that several queries or retrievers brought twice.

    Chunks are the same when document, position and text are the same; the one
    with the best rank stays. Equal texts at two positions are two chunks; equal
    texts of one document without positions are one.

    Returns:
        A new list in the order of the input.
    """
    best: dict[tuple[object, ...], Chunk] = {}
    for chunk in chunks:
        key: tuple[object, ...] = (chunk.document_key, chunk.position)
        known = best.get(key)
        if known is not None and known.text != chunk.text:
            key = (*key, chunk.text)  # only here: to hash all texts takes long
            known = best.get(key)
        if known is None or chunk.rank < known.rank:
            best[key] = chunk
    return list(best.values())


def within_one_version(chunks: Sequence[Chunk]) -> list[Chunk]:
    """Keep the chunks of one text where those of several versions were retrieved.

    An interrupted indexing leaves chunks of two texts of a document, which have no
    common order. Chunks of several sizes of one text stay together (`doc_version`), and
    so do pages, which may have been split one by one: each is looked at by itself.

    Args:
        chunks: Best first.

    Returns:
        For each text that of its best chunk, in the order of the input.

    Warns:
        PositionWarning: Some were left out.
    """
    best: dict[tuple[Any, int | None], str] = {}
    kept = []
    for chunk in chunks:
        key, text = chunk.metadata.get(DOC_KEY), ""
        if isinstance(key, str):  # else it is not ours
            text = version_text(chunk.metadata.get(DOC_VERSION))
        if not text or best.setdefault((key, chunk.part), text) == text:
            kept.append(chunk)
    if len(kept) < len(chunks):
        left_out = len(chunks) - len(kept)
        names = dict.fromkeys(c.text_id for c in chunks if c not in kept)
        message = (
            f"{left_out} retrieved chunks of {', '.join(map(repr, names))} were left "
            "out: they are of another version of the text (doc_version) than the best "
            "chunk. An interrupted indexing leaves such chunks: index these documents "
            "again."
        )
        warnings.warn(message, PositionWarning, stacklevel=users_level())
    return kept


_SHORTEST_HEADER = 8
"""Characters that all chunks of a document do not begin with by chance."""


def check_positions(
    chunks: Iterable[Chunk], *, problems: dict[str, OpragError] | None = None
) -> list[Chunk]:
    """Make sure that the positions of each document can all be true at once.

    Two different texts cannot be at one position, and overlapping spans must
    agree on the characters they share. Where they do not, the positions restart
    somewhere (per page, per section) or were found by a wrong search. One header, put
    before every chunk of the document, makes them disagree as well: such chunks are
    ordered by their starts, and where they end is not known.

    Args:
        chunks: Without duplicates; in any order.
        problems: Collects, by document key, what is raised without it. The chunks of
            such a document get no position.

    Returns:
        The chunks, in the order of the input; the same objects where nothing is
        in doubt.

    Raises:
        ConflictingPositionsError: Two spans overlap and their texts disagree.
        ConflictingPositionsError: Two texts have the same ordinal, line or page.
    """
    chunks = list(chunks)
    open_ended, wrong = set[str](), set[str]()
    for document, members in group_by_document(chunks).items():
        pair = _contradiction(members)
        if pair is None:
            continue
        error = contradiction(*pair)
        if error.kind == "conflicting_text" and _have_one_header(members):
            open_ended.add(document)
        elif problems is None:
            raise error
        else:
            problems.setdefault(document, error)
            wrong.add(document)
    return [
        without_place(chunk)
        if chunk.document_key in wrong
        else _ending_at(chunk, chunk.span.start)
        if chunk.document_key in open_ended and chunk.span
        else chunk
        for chunk in chunks
    ]


def without_place(chunk: Chunk) -> Chunk:
    """Return the chunk without its position."""
    return chunk._replace(position=None, span=None, part=None)


def _ending_at(chunk: Chunk, end: int) -> Chunk:
    start = chunk.span.start if chunk.span else end
    position = (*(chunk.position or (0,))[:-1], end)
    return chunk._replace(position=position, span=Span(start, end))


def _contradiction(chunks: Iterable[Chunk]) -> tuple[Chunk, Chunk] | None:
    """The first two chunks of a document that cannot both be where they say."""
    placed = [chunk for chunk in chunks if chunk.position is not None]
    before: Chunk | None = None
    furthest: Chunk | None = None
    part, begin, reach = None, 0, 0
    for chunk in sorted(placed, key=attrgetter("position", "rank")):
        if before and before.position == chunk.position and not _go_on(before, chunk):
            return before, chunk
        before, span = chunk, chunk.span
        if span is None or not chunk.exact:
            continue
        start, end = span
        if furthest is not None and part == chunk.part and start < reach:
            shared = chunk.text[: reach - start]
            if not furthest.text.startswith(shared, start - begin):
                return furthest, chunk
            if end <= reach:
                continue
        furthest, part, begin, reach = chunk, chunk.part, start, end
    return None


def _go_on(first: Chunk, second: Chunk) -> bool:
    """Whether two texts that begin at one place may be one and its beginning."""
    if first.span is None or second.span is None or first.exact or second.exact:
        return False
    short, long = sorted((first.text, second.text), key=len)
    return long.startswith(short)


def _have_one_header(chunks: Sequence[Chunk]) -> bool:
    """Whether the texts agree after something that all of them begin with."""
    texts = [chunk.text for chunk in chunks]
    pairs = zip(min(texts), max(texts), strict=False)  # what these share, all do
    shared = [a for a, _ in takewhile(lambda pair: pair[0] == pair[1], pairs)]
    return all(chunk.exact for chunk in chunks) and any(
        shared[length - 1].isspace()
        and all(text[length:].strip() for text in texts)
        and _contradiction(_behind(chunk, length) for chunk in chunks) is None
        for length in range(len(shared), _SHORTEST_HEADER - 1, -1)
    )


def _behind(chunk: Chunk, length: int) -> Chunk:
    """The chunk without so many characters at its beginning, where it began."""
    end = chunk.span.end if chunk.span else 0
    return _ending_at(chunk, end - length)._replace(text=chunk.text[length:])


def divided_files(
    hits: Sequence[Hit], *, by_file: bool = False
) -> list[ConflictingPositionsError]:
    """Return an error for each file whose chunks belong to several documents.

    Frameworks make an id up for each text that a reader returns: of a section, of a
    page that has no number, of a file that is read again. Some applications give each
    chunk an id under a document's key. How such documents follow one another in the
    file is not known.

    Args:
        hits: Grouped by the known keys.
        by_file: As of `read_documents`.
    """
    files: dict[str, dict[str, list[int]]] = {}
    for number, hit in enumerate(hits):
        if DOC_KEY in hit.metadata or HASH in hit.metadata:
            continue
        file = first_name(map(hit.metadata.get, FILE_KEYS))
        if file and _ONE_TEXT.search(file) and not (by_file and is_of_a_parent(hit)):
            key = known_key(hit) or file
            files.setdefault(file, {}).setdefault(key, []).append(number)
    return [
        _divided(file, hits, sorted(chain.from_iterable(documents.values())))
        for file, documents in files.items()
        if _is_divided(file, documents, hits)
    ]


def _is_divided(
    file: str, documents: Mapping[str, Sequence[int]], hits: Sequence[Hit]
) -> bool:
    """Whether documents of one file may be parts of one text."""
    parts = f"{file}_part_"  # what LlamaIndex calls several texts of one file
    if sum(bool(MADE_UP.match(k)) or k.startswith(parts) for k in documents) > 1:
        return True
    # Else an application chose the ids; it may well have several documents in a file.
    places = {repr(known_positions(hits[numbers[0]])) for numbers in documents.values()}
    each_one = all(len(numbers) == 1 for numbers in documents.values())
    return each_one and _FEW <= len(documents) == len(places)


def _divided(
    file: str, hits: Sequence[Hit], numbers: Sequence[int]
) -> ConflictingPositionsError:
    hit = next(hits[number] for number in numbers if known_key(hits[number]) != file)
    key = known_key(hit)
    by = next(name for name in FILE_KEYS if str(hit.metadata.get(name)) == file)
    ids = (name for name in ID_KEYS if str(hit.metadata.get(name)) == key)
    own = "ref_doc_id" if hit.document else next(ids, by)
    start = next(iter(known_positions(hit)), None)
    counts = f", and {start!r} counts from its beginning," if start else ","
    give = f"position_keys={start!r}" if start else "the text as documents="
    message = (
        f"{len(numbers)} chunks of {file!r} belong to several documents by {own!r}. "
        "Their order in the file is not known, so these documents follow one another "
        f"as retrieved. If the file is one document{counts} give document_key={by!r} "
        f"and {give}; if not, document_key={own!r}."
    )
    return ConflictingPositionsError(
        message, kind="divided_file", document=file, ranks=tuple(numbers)
    )
