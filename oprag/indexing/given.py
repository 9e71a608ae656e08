"""What is to be indexed: documents named, grouped by parts, split, with oprag's keys.

Decided here for both frameworks; an adapter only says how its documents are read and
made (`Framework`).
"""

from __future__ import annotations

import itertools
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path, PurePath
from typing import Any, Generic, NamedTuple, TypeAlias, TypeVar

from oprag.calls import redacted, secrets_of
from oprag.documents import (
    SourcePart,
    annotate_chunks,
    check_entries,
    check_entry,
    count_files,
    read_folder,
    replaced,
)
from oprag.errors import (
    DuplicateDocumentError,
    MissingDocumentError,
    OpragError,
    UnreadableFileError,
    UnscopedPositionError,
    invalid_option,
)
from oprag.indexing.deciding import Readable
from oprag.indexing.flat import UnsupportedMetadata, flat_metadata, unstorable
from oprag.indexing.plan import WantedChunk, WantedDocument
from oprag.indexing.progress import Counted
from oprag.indexing.reporting import REFUSALS, FailedDocument, SkippedFile
from oprag.metadata import (
    CHAR_START,
    CHUNK_INDEX,
    DOC_KEY,
    DOC_SCOPE,
    DOC_URI,
    DOC_VERSION,
    N_CHUNKS,
    OWN_KEYS,
    PART_INDEX,
    STAMP_KEYS,
    TOKEN_COUNT,
    TOKEN_COUNTER,
    chunk_id,
    document_key,
    document_version,
    named_id,
    short_hash,
)
from oprag.positions import (
    Part,
    SourceText,
    group_parts,
    source_name,
    splitter_settings,
    texts_in_chunks,
)

D = TypeVar("D")
"""A framework's class of documents."""
Documents: TypeAlias = str | Path | Iterable[D]
"""A folder of text files, or documents."""

_STALE = (DOC_VERSION, N_CHUNKS, TOKEN_COUNT, TOKEN_COUNTER, *STAMP_KEYS, DOC_SCOPE)
"""Own keys that say something about an earlier index only."""
_SCOPE_DIGITS = 9


class Piece(NamedTuple):
    """A chunk as a splitter made it."""

    text: str
    metadata: Mapping[str, Any]
    source: Any = None
    """The framework's object, for `Framework.finished`."""


class Framework(ABC, Generic[D]):
    """How a framework's documents are read, made and split."""

    document_type: type[D]
    reserved: Collection[str]
    """Metadata keys that the framework writes itself, whatever stands there."""
    splitter: object
    exact: bool
    """Whether the splitter is oprag's and writes the positions itself."""

    @abstractmethod
    def read(self, document: D) -> SourceText:
        """Return what the core needs of a document. Random ids are none."""

    @abstractmethod
    def make(
        self, text: str, own_id: str, metadata: dict[str, Any], like: D | None
    ) -> D:
        """Make a document; a copy of another one where `like` gives it.

        Args:
            text: Its text.
            own_id: Its id, unless `like` has one that stays the same.
            metadata: Its metadata, oprag's keys among it.
            like: The document as the user gave it; None for a file.
        """

    @abstractmethod
    def split(self, documents: Sequence[D]) -> list[Piece]:
        """Split parts of one document, all of them if the splitter is oprag's."""

    def finished(self, chunks: list[WantedChunk]) -> list[WantedChunk]:
        """Return the chunks of one document with what the store is handed for each."""
        return chunks


def source_scope(documents: Documents[D], scope: str | None) -> str:
    """Return the name of the source that a run keeps the store in step with.

    Args:
        documents: As `wanted_documents` takes them.
        scope: The name that the user gave, or None.

    Returns:
        That name; without one, a folder's own name and a hash of its whole path, the
        same from wherever it is called; for documents without a name an empty string.

    Raises:
        InvalidOptionError: The name is empty, or no store could hold it.
    """
    if scope is not None:
        if not isinstance(scope, str) or not scope.strip("/ ") or unstorable(scope):
            raise invalid_option("scope", scope, "It takes a name, such as 'handbook'.")
        return scope
    if not isinstance(documents, (str, Path)):
        return ""
    folder = Path(documents).resolve()
    shown = folder.name.encode("utf-8", "replace").decode()
    return f"{shown}#{short_hash(folder.as_posix(), _SCOPE_DIGITS)}"


def wanted_documents(
    documents: Documents[D],
    framework: Framework[D],
    unsupported_metadata: UnsupportedMetadata,
    scope: str | None = None,
) -> Counted[Readable]:
    """Read, group and split documents, one at a time.

    Args:
        documents: A folder, of which all text files are read; or documents. Those of
            one name that follow one another are the parts of one document.
        framework: Whose documents they are.
        unsupported_metadata: See `flat_metadata`.
        scope: The name that the user gave to where they come from. Names of files
            begin with it.

    Returns:
        Each document with all its chunks; or, with its name, the reason why a file is
        no text, a document cannot be stored or was not split. Read one at a time;
        how many there will be is known for a folder and a list.

    Raises:
        InvalidOptionError: An option has no such value, at once; later, that
            something else than a document is among them.
        MissingDocumentError: A document has no name that stays the same.
        DuplicateDocumentError: A document comes twice in a row.
        UnscopedPositionError: A document already is a chunk.

    Warns:
        UnlocatedChunksWarning: Chunks of another splitter were not found in their
            document.
    """
    _check_documents(documents, framework.document_type)
    if unsupported_metadata not in ("error", "drop"):
        takes = "It takes 'error' or 'drop'."
        raise invalid_option("unsupported_metadata", unsupported_metadata, takes)
    return Counted(
        _wanted(documents, framework, unsupported_metadata, scope),
        lambda: _how_many(documents, framework),
    )


def _how_many(documents: Documents[D], framework: Framework[D]) -> int | None:
    """How many documents there will be, files that are no text among them."""
    if isinstance(documents, (str, Path)):
        return count_files(documents)
    if not isinstance(documents, Sequence):
        return None
    names = (_name(place, given, framework) for place, given in enumerate(documents))
    return sum(1 for _ in itertools.groupby(names))


def _wanted(
    documents: Documents[D],
    framework: Framework[D],
    unsupported_metadata: UnsupportedMetadata,
    scope: str | None,
) -> Iterator[Readable]:
    mark = source_scope(documents, scope)
    for given in _named_documents(documents, framework, scope):
        if isinstance(given, SkippedFile):
            yield given
            continue
        name, parts = given
        readable: Readable
        try:
            chunks = _chunks_of(name, parts, framework, unsupported_metadata, mark)
            readable = WantedDocument(name, chunks)
        except REFUSALS as error:
            readable = FailedDocument(name, error)
        except (OpragError, Warning):  # concern all documents
            raise
        except Exception as error:  # noqa: BLE001 -- splitters may ask any service
            shown = redacted(error, secrets_of(framework.splitter))
            readable = FailedDocument(name, shown)
        yield readable


def _chunks_of(
    name: str,
    parts: Sequence[D],
    framework: Framework[D],
    unsupported_metadata: UnsupportedMetadata,
    mark: str,
) -> list[WantedChunk]:
    """All chunks of a document; none if it has no text."""
    texts = [framework.read(part) for part in parts]
    _refuse_unstorable(name, "a name", name)
    for text in texts:
        _refuse_unstorable(name, "a text", text.text)
    if not any(text.text.strip() for text in texts):
        return []
    (grouped,) = group_parts(texts)
    placed = _placed_chunks(grouped, parts, framework)
    if not placed:
        reason = f"has a text of which {type(framework.splitter).__name__} made nothing"
        message = f"Document {name!r} {reason}. Take another splitter for it."
        raise UnreadableFileError(message, path=name, reason=reason)
    if mark:
        placed[0] = placed[0]._replace(metadata={**placed[0].metadata, DOC_SCOPE: mark})
    flat = [
        chunk._replace(
            metadata=flat_metadata(
                chunk.metadata,
                document=name,
                unsupported_metadata=unsupported_metadata,
                reserved=framework.reserved,
            )
        )
        for chunk in placed
    ]
    return framework.finished([chunk._replace(id=_full_id(chunk)) for chunk in flat])


def _full_id(chunk: WantedChunk) -> str:
    """The chunk's id with its metadata in it.

    Whatever of a chunk changes, what is written has an id that the store does not
    have yet: the old chunk stays until the new one is there.
    """
    return named_id(f"{chunk.id}\n{sorted(chunk.metadata.items())!r}")


def _refuse_unstorable(name: str, what: str, text: str) -> None:
    found = unstorable(text)
    if found:
        reason = f"has {what} with {found}, which not every vector store keeps"
        message = f"Document {name!r} {reason}. Take it out before indexing."
        raise UnreadableFileError(message, path=name, reason=reason)


def _check_documents(documents: object, document_type: type) -> None:
    if isinstance(documents, (list, tuple)):
        for place, document in enumerate(documents):
            _check_document(place, document, document_type)
    elif not isinstance(documents, (str, Path)):
        check_entries("documents", documents, document_type, _instead)


def _check_document(place: int, document: object, document_type: type) -> None:
    if not isinstance(document, SkippedFile):  # as the command line reads files
        check_entry(f"documents[{place}]", document, document_type, _instead)


def _instead(value: object) -> str:
    if isinstance(value, (str, PurePath)):
        return (
            " Files are given by the path of their folder; a text as "
            "Document(…, metadata={'source': name})."
        )
    return ""


def _named_documents(
    documents: Documents[D], framework: Framework[D], scope: str | None
) -> Iterator[tuple[str, list[D]] | SkippedFile]:
    """The parts of each document, which name it in their metadata."""
    if isinstance(documents, (str, Path)):
        before = f"{scope.rstrip('/')}/" if scope else ""
        for file in read_folder(documents):
            if isinstance(file, UnreadableFileError):
                yield SkippedFile(before + file.path, file)
            else:
                name, text = before + file[0], file[1]
                metadata = {"source": name, **_names_of(name)}
                yield name, [framework.make(text, name, metadata, None)]
        return
    named = (
        (_name(place, given, framework), given) for place, given in enumerate(documents)
    )
    for name, group in itertools.groupby(named, key=lambda pair: pair[0]):
        parts = [document for _, document in group]
        if isinstance(parts[0], SkippedFile):
            yield parts[0]
            continue
        texts = [framework.read(part) for part in parts]
        _refuse_repetition(name, texts)
        yield (
            name,
            [
                framework.make(
                    text.text,
                    name if len(parts) == 1 else f"{name}#{place}",
                    {
                        **{k: v for k, v in text.metadata.items() if k not in _STALE},
                        **_names_of(name),
                    },
                    part,
                )
                for place, (text, part) in enumerate(zip(texts, parts, strict=True))
            ],
        )


def _names_of(name: str) -> dict[str, str]:
    return {DOC_KEY: document_key(name), DOC_URI: name}


def _name(place: int, document: Any, framework: Framework[D]) -> str:
    if isinstance(document, SkippedFile):
        return document.name
    _check_document(place, document, framework.document_type)
    text = framework.read(document)
    name = source_name(text)
    if not name:
        keys = tuple(sorted(map(str, text.metadata)))
        message = (
            f"The document at place {place} has no name that stays the same (a random "
            "id is none), so that it could not be found again when it changes. "
            f"Metadata keys found: {', '.join(keys) or 'none'}. Name it in "
            "metadata['source'], or, where it is not a part of one, by an id of its "
            "own."
        )
        raise MissingDocumentError(message, rank=place, keys=keys)
    found = tuple(key for key in (CHAR_START, CHUNK_INDEX) if key in text.metadata)
    if found:
        message = (
            f"The document at place {place} already is a chunk of {name!r} (it has "
            f"{', '.join(found)}). Give the documents themselves; they are split here."
        )
        raise UnscopedPositionError(message, document=name, keys=found)
    return name


def _refuse_repetition(name: str, parts: Sequence[SourceText]) -> None:
    """Pages that all come twice are a document that was loaded twice."""
    contents = [(part.text, part.metadata) for part in parts]
    if len(parts) > 1 and all(contents.count(content) > 1 for content in contents):
        message = (
            f"The document {name!r} comes twice, the same each time. Give it once; if "
            "these are parts that only look alike, number them (metadata['page'])."
        )
        raise DuplicateDocumentError(message, document=name)


def _placed_chunks(
    parts: Sequence[Part], documents: Sequence[D], framework: Framework[D]
) -> list[WantedChunk]:
    """All chunks of a document in reading order, each with its place and id."""
    name = parts[0].name
    ordered = [documents[part.place] for part in parts]
    if framework.exact:
        by_number: dict[Any, list[Piece]] = {part.number: [] for part in parts}
        for piece in framework.split(ordered):
            by_number[piece.metadata.get(PART_INDEX)].append(piece)
        rows = list(by_number.values())
    else:
        rows = [framework.split([document]) for document in ordered]
        rows = _located(parts, rows, framework.splitter)
    return [
        WantedChunk(
            chunk_id(
                name, index, version=str(piece.metadata[DOC_VERSION]), part=part.number
            ),
            piece.text,
            _own_keys_last(piece.metadata),
            piece.source,
        )
        for part, row in zip(parts, rows, strict=True)
        for index, piece in enumerate(row)
    ]


def _located(
    parts: Sequence[Part], rows: Sequence[Sequence[Piece]], splitter: object
) -> list[list[Piece]]:
    """Chunks of a splitter that is not oprag's, found in their document."""
    name = parts[0].name
    settings = splitter_settings(type(splitter), getattr(splitter, "__dict__", None))
    version = document_version(settings, texts_in_chunks(parts, rows))
    written = annotate_chunks(
        name,
        [
            SourcePart(part.source.text, [piece.text for piece in row], part.number)
            for part, row in zip(parts, rows, strict=True)
        ],
        just_split=True,
    )
    return [
        [
            piece._replace(
                metadata=replaced(piece.metadata, {**entry, DOC_VERSION: version})
            )
            for piece, entry in zip(row, entries, strict=True)
        ]
        for row, entries in zip(rows, written, strict=True)
    ]


def _own_keys_last(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """The user's metadata, then oprag's in its one order."""
    others = {key: value for key, value in metadata.items() if key not in OWN_KEYS}
    own = {key: metadata[key] for key in OWN_KEYS if key in metadata}
    return {**others, **own}
