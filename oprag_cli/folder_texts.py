"""The files of a folder as the full texts of documents, whatever names chunks carry."""

from __future__ import annotations

import os
from pathlib import Path, PurePosixPath, PureWindowsPath

from oprag.chunk import FullText
from oprag.documents import DocumentSource
from oprag.errors import DocumentNotFoundError, UnreadableFileError
from oprag.files import HTML_ENDINGS, READ_BY_FORMAT, joined, read_file


class FolderTexts(DocumentSource):
    """Finds a file by the end of the path that a chunk names.

    An index keeps paths of the machine that it was made on. A chunk of
    `/home/ann/docs/2024/plan.md` is from `2024/plan.md` here, or from `plan.md`: the
    file whose path agrees on the most parts, counted from the end. If two agree on
    as many, none is taken, unless the name is the path of one of them.

    Args:
        folder: The folder; files inside it are listed once, now.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._paths: dict[str, list[PurePosixPath]] = {}
        for parent, folders, files in os.walk(folder):
            folders[:] = sorted(name for name in folders if not name.startswith("."))
            for name in sorted(files):
                if not Path(parent, name).is_file():  # a pipe, or a link to nowhere
                    continue
                path = Path(parent, name).relative_to(folder)
                self._paths.setdefault(name, []).append(PurePosixPath(path.as_posix()))

    def names(self) -> list[str]:
        """Return the paths of all files, relative to the folder, sorted."""
        return sorted(str(path) for paths in self._paths.values() for path in paths)

    def read(self, document_id: str) -> FullText:
        """Return the first of `readings`."""
        return FullText(self.readings(document_id)[0])

    def readings(self, document_id: str) -> list[str]:
        """Return the texts that may have been indexed of a file.

        Returns:
            Of HTML first the text that a reader sees, then the page with its tags; of
            a PDF its pages, joined by blank lines; of any other file its text.

        Raises:
            DocumentNotFoundError: No file agrees, two do as well as each other, or
                the file holds no text.
        """
        path = self._path(document_id)
        ending = path.suffix.lower()
        readers = [_show] if ending in READ_BY_FORMAT else [_raw]
        if ending in HTML_ENDINGS:
            readers.append(_raw)
        texts, failed = [], None
        for read in readers:
            try:
                texts.append(read(path))
            except (UnreadableFileError, UnicodeDecodeError, OSError) as error:
                failed = failed or error
        if not texts:
            message = f"No text for {document_id!r}: {failed}"
            raise DocumentNotFoundError(message, document=document_id) from failed
        return texts

    def _path(self, document_id: str) -> Path:
        parts = PurePosixPath(document_id).parts
        if not parts or parts[-1] not in self._paths:
            parts = PureWindowsPath(document_id).parts  # of a machine with Windows
        candidates = self._paths.get(parts[-1], []) if parts else []
        ends = [
            len(os.path.commonprefix([path.parts[::-1], parts[::-1]]))  # noqa: RUF071 -- parts
            for path in candidates
        ]
        best = [path for path in candidates if path.parts == parts] or [
            path for path, end in zip(candidates, ends, strict=True) if end == max(ends)
        ]
        if len(best) != 1:
            several = " and ".join(str(path) for path in best[:2])
            found = (
                f"two files may be it, {several}" if best else "no file is called so"
            )
            message = f"No document {document_id!r} in {self._folder}: {found}."
            raise DocumentNotFoundError(message, document=document_id)
        return self._folder / best[0]


def _show(path: Path) -> str:
    return joined(read_file(path))


def _raw(path: Path) -> str:
    """Read every character of a file unchanged, a byte order mark included."""
    return path.read_bytes().decode("utf-8")
