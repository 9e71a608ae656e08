"""The documents to index, from a folder or given, named and grouped by parts."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

from oprag.documents import check_entries, count_files, read_folder
from oprag.errors import (
    InvalidOptionError,
    MissingDocumentError,
    OpragError,
    PositionError,
    UnreadableFileError,
    invalid_option,
)
from oprag.indexing.chunks import Framework, chunks_of
from oprag.indexing.flat import UnsupportedMetadata, is_storable
from oprag.indexing.plan import WantedDocument
from oprag.indexing.report import REFUSALS, FailedDocument, Readable
from oprag.metadata import (
    CHAR_START,
    CHUNK_INDEX,
    DOC_KEY,
    DOC_SCOPE,
    DOC_URI,
    DOC_VERSION,
    EARLIER_HASH,
    N_CHUNKS,
    RESULT,
    STAMP_KEYS,
    TOKEN_COUNT,
    TOKEN_COUNTER,
    document_key,
    short_hash,
)
from oprag.splitting import SourceText

D = TypeVar("D")
"""A framework's class of documents."""
Documents: TypeAlias = str | Path | Iterable[D]
"""A folder of text files, or documents."""
Named: TypeAlias = tuple[str, list[D]] | UnreadableFileError
"""A document's name and its parts; or a file that is no text."""

_STALE = (DOC_VERSION, N_CHUNKS, TOKEN_COUNT, TOKEN_COUNTER, *STAMP_KEYS, DOC_SCOPE)
"""Keys of oprag that describe only an earlier index."""
_SCOPE_DIGITS = 9


class GivenNames(dict[str, str]):
    """Names of the documents of a run by `doc_key`, in the order they were given."""

    def add_name(self, name: str) -> None:
        """Add a name.

        Raises:
            InvalidOptionError: It is there already.
        """
        if document_key(name) in self:
            message = (
                f"The document {name!r} comes twice in one run. Pages and other parts "
                "of a document have to follow one another without other documents "
                "between them; two different documents need two names."
            )
            raise InvalidOptionError(message, option="documents", value=name)
        self[document_key(name)] = name


def source_scope(documents: Documents[D], scope: str | None) -> str:
    """Return the name of the source with which a run keeps the store in step.

    Args:
        documents: A folder or documents.
        scope: The name that the user gave, or None.

    Returns:
        That name. Without one, a folder's own name and a hash of its whole path, equal
        from every working directory. For documents without a name, an empty string.
    """
    if scope is not None:
        is_name = isinstance(scope, str) and scope.strip("/ ") and is_storable(scope)
        if not is_name:
            raise invalid_option("scope", scope, "It takes a name, such as 'handbook'.")
        return scope
    if not isinstance(documents, (str, Path)):
        return ""
    folder = Path(documents).resolve()
    shown = folder.name.encode("utf-8", "replace").decode()
    return f"{shown}#{short_hash(folder.as_posix(), _SCOPE_DIGITS)}"


def check_given(
    documents: Documents[D],
    framework: Framework[D],
    unsupported_metadata: UnsupportedMetadata,
) -> None:
    """Refuse documents that cannot be indexed, as far as that can be seen.

    Raises:
        InvalidOptionError: An entry is no document, or the option has no such value.
    """
    if not isinstance(documents, (str, Path)):
        kind = framework.document_type  # the command line gives files while it reads
        check_entries("documents", documents, kind, UnreadableFileError)
    if unsupported_metadata not in ("error", "drop"):
        takes = "It takes 'error' or 'drop'."
        raise invalid_option("unsupported_metadata", unsupported_metadata, takes)


def count_documents(documents: Documents[D], framework: Framework[D]) -> int | None:
    """Count the documents of a folder or a list, files that are no text among them."""
    if isinstance(documents, (str, Path)):
        return count_files(documents)
    if not isinstance(documents, Sequence):
        return None
    names = (_name(place, given, framework) for place, given in enumerate(documents))
    return sum(1 for _ in itertools.groupby(names))


def split_document(
    given: Named[D],
    framework: Framework[D],
    unsupported_metadata: UnsupportedMetadata,
    mark: str,
) -> Readable:
    """Split one document.

    Returns:
        The document with all its chunks. Or, with its name, the reason that a file is
        no text, or that the document cannot be stored or was not split.
    """
    if isinstance(given, UnreadableFileError):
        return given
    name, parts = given
    try:
        chunks = chunks_of(name, parts, framework, unsupported_metadata, mark)
    except REFUSALS as error:
        return FailedDocument(name, error)
    except (OpragError, Warning):  # concern all documents
        raise
    except Exception as error:  # noqa: BLE001 -- splitters may ask any service
        return FailedDocument(name, error)
    return WantedDocument(name, chunks, framework.is_estimated)


def read_documents(
    documents: Documents[D], framework: Framework[D], scope: str | None
) -> Iterator[Named[D]]:
    """Read the parts of each document, which name it in their metadata.

    Args:
        documents: A folder, whose text files are all read; or documents. Those of
            one name that follow one another are the parts of one document.
        framework: The framework of the documents.
        scope: The user's name for their source. Names of files begin with it.
    """
    if isinstance(documents, (str, Path)):
        before = f"{scope.rstrip('/')}/" if scope else ""
        for file in read_folder(documents, before):
            if isinstance(file, UnreadableFileError):
                yield file
            else:
                name, text = file
                metadata = {"source": name, **_names_of(name)}
                yield name, [framework.make(text, name, metadata, None)]
        return
    named = (
        (_name(place, given, framework), given) for place, given in enumerate(documents)
    )
    for name, group in itertools.groupby(named, key=lambda pair: pair[0]):
        parts = [document for _, document in group]
        if isinstance(parts[0], UnreadableFileError):
            yield parts[0]
            continue
        texts = [framework.read_source(part) for part in parts]
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
    if isinstance(document, UnreadableFileError):
        return document.path
    check_entries("documents", [document], framework.document_type)
    text = framework.read_source(document)
    name = text.name
    if not name:
        keys = tuple(sorted(map(str, text.metadata)))
        message = (
            f"The document at place {place} has no name that stays the same (a random "
            "id does not), so it could not be found again when it changes. "
            f"Metadata keys found: {', '.join(keys) or 'none'}. Name it in "
            "metadata['source'], or, if it is not a part of a document, by an id of "
            "its own."
        )
        raise MissingDocumentError(message, rank=place, keys=keys)
    of_chunks = (CHAR_START, CHUNK_INDEX, RESULT, EARLIER_HASH)
    if found := tuple(key for key in of_chunks if key in text.metadata):
        message = (
            f"The document at place {place} already is a chunk of {name!r} (it has "
            f"{', '.join(found)}). Give the documents themselves; they are split here."
        )
        raise PositionError(
            message, kind="unscoped_position", document=name, keys=found
        )
    return name


def _refuse_repetition(name: str, parts: Sequence[SourceText]) -> None:
    """Refuse a document that was loaded twice, and two documents of one name."""
    contents = [(part.text, part.metadata) for part in parts]
    if len(parts) > 1 and all(contents.count(content) > 1 for content in contents):
        message = (
            f"The document {name!r} comes twice, the same each time. Give it once; if "
            "these are parts that only look alike, number them (metadata['page'])."
        )
        raise InvalidOptionError(message, option="documents", value=name)
    bare = sum(not part.is_part for part in parts)
    if bare > 1:
        message = (
            f"{bare} documents in a row have the name {name!r} and no page or part. If "
            "they are parts of one document, number them (metadata['page']); if they "
            "are different documents, give each a name of its own (metadata['source'])."
        )
        raise InvalidOptionError(message, option="documents", value=name)
