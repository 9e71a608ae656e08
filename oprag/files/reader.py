"""Files and folders as texts, one per page of a PDF, and the skipped files."""

from __future__ import annotations

import os
import stat
import unicodedata
import zipfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from oprag.errors import MissingDependencyError, UnreadableFileError
from oprag.files.bodies import Body, Landmark, Read, with_headings
from oprag.files.books import read_epub, read_notebook
from oprag.files.captions import read_captions
from oprag.files.html import read_page
from oprag.files.mails import read_mail
from oprag.files.pdf import name_unread_pages, pdf_pages
from oprag.files.slides import read_slides
from oprag.files.tables import read_csv, read_sheets
from oprag.files.text import NoTextError, decode, name_bad_characters
from oprag.files.word import read_word
from oprag.files.worker import within_limits

HTML_ENDINGS = (".html", ".htm", ".xhtml")
_AS_PDF = "save it as PDF"
_SHEETS = (".xlsx", ".xlsm", ".xlsb", ".xls", ".ods")


def _read_html(data: bytes) -> list[Body]:
    return [read_page(data)]


def _read_word(data: bytes) -> list[Body]:
    return [read_word(data)]


def _read_markdown(data: bytes) -> list[Body]:
    return [with_headings(decode(data))]


def _read_mail(data: bytes) -> list[Body]:
    return read_mail(data, _read_bodies)


_READERS: dict[str, Read] = {
    **dict.fromkeys((".eml", ".mht", ".mhtml"), _read_mail),
    ".epub": read_epub,
    ".ipynb": read_notebook,
    ".pptx": read_slides,
    **dict.fromkeys((".docx", ".docm", ".dotx", ".dotm"), _read_word),
    **dict.fromkeys(HTML_ENDINGS, _read_html),
    **dict.fromkeys((".csv", ".tsv"), read_csv),
    **dict.fromkeys((".md", ".markdown"), _read_markdown),
    **dict.fromkeys((".srt", ".vtt"), read_captions),
    **dict.fromkeys(_SHEETS, read_sheets),
}
AS_WRITTEN = (".csv", ".md", ".markdown", ".tsv")
"""Name endings of files whose text is their content, unchanged."""
READ_BY_FORMAT = (".pdf", *(each for each in _READERS if each not in AS_WRITTEN))
"""Name endings of files whose text is not simply their content."""
_OTHERS = {
    **dict.fromkeys((".ppt", ".odp", ".key"), f"holds slides; {_AS_PDF} or .pptx"),
    **dict.fromkeys((".doc", ".odt", ".rtf"), "is not a .docx; save it as one"),
    ".pages": "is not a .docx; save it as one",
    ".numbers": "is a spreadsheet; save it as .xlsx or CSV",
    ".mobi": f"is an e-book; {_AS_PDF} or .epub",
    ".msg": "is a mail of Outlook; save it as .eml",
    **dict.fromkeys((".pst", ".mbox"), "holds many mails; save each as .eml"),
    **dict.fromkeys((".zip", ".7z", ".rar"), "is an archive; unpack it"),
}
"""Why files of other kinds are not read, by the ending of their name."""
_MOST_UNPACKED = 100_000_000
"""Bytes for which a packed file gets time, at most."""
_JOINERS = "\u200c\u200d"
"""Invisible, and part of names in Persian and of emoji."""


class FileText(NamedTuple):
    """The text of a file, or of one page of a PDF."""

    source: str
    """Name of the file."""
    text: str
    page: int | None = None
    """Counted from 0; None for a file without pages."""
    page_label: str = ""
    """The label that is printed on the page."""
    notice: str = ""
    """Says which parts of the file were not read, on its first text; empty if none."""
    part_name: str = ""
    """The usual name of this part of the file, if it is not a page: `slide 3`."""
    landmarks: tuple[Landmark, ...] = ()
    """Headings, rows, cells and times by which places in the text are named."""

    @property
    def metadata(self) -> dict[str, Any]:
        """Everything but the text, under the names that LangChain's loaders use."""
        if self.page is None:
            return {"source": self.source}
        page: dict[str, Any] = {"page": self.page, "page_label": self.page_label}
        if self.part_name:
            page = {"page": self.page, "part_name": self.part_name}
        return {"source": self.source, **page}


class FilesRead(NamedTuple):
    """The texts of files and folders."""

    texts: tuple[FileText, ...]
    """In reading order."""
    skipped: tuple[UnreadableFileError, ...]
    """Files inside folders that hold no text, in the order in which they were found.
    Only the error of one that could not be read has a `__cause__`."""

    @property
    def names(self) -> list[str]:
        """Names of the files that were read, in reading order."""
        return list(dict.fromkeys(each.source for each in self.texts))

    @property
    def empty(self) -> list[str]:
        """Names of the skipped files that have nothing in them."""
        return [
            error.path
            for error in self.skipped
            if getattr(error.__context__, "nothing", None) == "empty"
        ]

    @property
    def notices(self) -> dict[str, str]:
        """The notices about unread parts of the files that were read, by file name."""
        return {each.source: each.notice for each in self.texts if each.notice}

    @property
    def whole(self) -> dict[str, str]:
        """The text of each file by its name, in reading order; pages are joined."""
        return {name: joined(texts) for name, texts in self.by_file.items()}

    @property
    def by_file(self) -> dict[str, list[FileText]]:
        """The texts of each file by its name, in reading order."""
        pages: dict[str, list[FileText]] = {}
        for each in self.texts:
            pages.setdefault(each.source, []).append(each)
        return pages


def joined(pages: Sequence[FileText]) -> str:
    """Join the pages of a file, with a blank line between them."""
    return "\n\n".join(page.text for page in pages)


def read_files(
    paths: Sequence[Path],
    *,
    may_be_empty: bool = False,
    links_out: bool = True,
    on_file: Callable[[Path], object] = id,
) -> FilesRead:
    """Read text, Markdown, HTML, PDF and Word files, and folders of them.

    Folders are read as `files_in` goes through them. A file that is named twice is
    read once.

    Args:
        paths: Files and folders. Not empty.
        may_be_empty: Whether a folder may hold no file that can be read.
        links_out: See `files_in`.
        on_file: Called before each file is read.

    Raises:
        UnreadableFileError: A file that was named is missing, unreadable, empty or
            binary, or in another encoding; or nothing in a folder can be read.
    """
    texts: list[FileText] = []
    skipped: list[UnreadableFileError] = []
    seen: set[str] = set()
    for path in paths:
        before = len(texts)
        inside = files_in(path, skipped, links_out=links_out)
        for found in inside if path.is_dir() else [path]:
            if (real := os.path.realpath(found)) in seen:
                before = -1  # it was read already: the folder is not without text
                continue
            seen.add(real)
            on_file(found)
            try:
                texts += read_file(found)
            except UnreadableFileError as error:
                if found is path:
                    raise
                skipped.append(error)
        if path.is_dir() and len(texts) == before and not may_be_empty:
            raise unreadable(path, "holds no file that can be read", skipped)
    return FilesRead(tuple(texts), tuple(skipped))


def files_in(
    folder: Path, skipped: list[UnreadableFileError], *, links_out: bool = True
) -> Iterator[Path]:
    """Go through a folder and the folders in it, sorted by name, without hidden files.

    Args:
        folder: The folder.
        skipped: Gets an error for each folder inside that cannot be opened, and for
            each link that is left out: those to folders could lead round in a circle.
        links_out: Whether links to files that lie outside of the folder count.
    """
    root = os.path.realpath(folder)

    def closed(error: OSError) -> None:
        skipped.append(unreadable(Path(error.filename), _said(error)))

    for parent, folders, files in os.walk(folder, onerror=closed):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        links = filter(Path.is_symlink, (Path(parent, name) for name in folders))
        reason = "is a link to a folder; give that folder"
        skipped.extend(unreadable(link, reason) for link in links)
        for name in sorted(files):
            path = Path(parent, name)
            if name.startswith("."):
                continue
            if links_out or Path(os.path.realpath(path)).is_relative_to(root):
                yield path
            else:
                outside = "is a link that leads out of the folder"
                skipped.append(unreadable(path, outside))


def read_file(path: Path) -> list[FileText]:
    """Read one file by the ending of its name, as text if the ending is unknown.

    Returns:
        One text; of a PDF one for each page that holds text, and one for each slide,
        sheet, chapter or attachment.

    Raises:
        UnreadableFileError: It is missing, unreadable, empty or binary, or in another
            encoding; or the library that reads PDF or Word files is not installed.
    """
    try:
        # The process that reads may have another working directory.
        return within_limits(_work(path), read_here, Path.cwd() / path, one_line(path))
    except OSError as error:
        raise unreadable(path, _said(error)) from error
    except NoTextError as error:
        cause = None if error.nothing else error
        raise unreadable(path, str(error)) from cause
    except MissingDependencyError as error:
        raise unreadable(path, f"is left out. {error}") from error
    except Exception as error:  # libraries share no error class
        # A reader that fails at one file must not end the folder that it is in.
        fault = f"its reader failed ({type(error).__name__})"
        raise unreadable(path, f"cannot be read: {fault}") from error


def _size(path: Path) -> int:
    found = path.stat()
    if not stat.S_ISREG(found.st_mode):  # reading a pipe or a device may never end
        raise NoTextError("is not a regular file")
    return found.st_size


def _work(path: Path) -> int:
    """Return how many bytes are read for a file, unpacked ones included."""
    size = _size(path)
    try:
        with zipfile.ZipFile(path) as packed:
            unpacked = sum(entry.file_size for entry in packed.infolist())
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError):
        return size
    return max(size, min(unpacked, _MOST_UNPACKED))


def read_here(path: Path, name: str) -> list[FileText]:
    """Read one file in this process, without limits.

    Args:
        path: The file.
        name: The name to use for it.

    Raises:
        NoTextError: There is no text in it.
        OSError: It cannot be read.
        MissingDependencyError: The library that reads PDF or Word files is not
            installed.
    """
    data = path.read_bytes()
    if not data.strip():
        raise NoTextError("is empty", "empty")
    if path.suffix.lower() == ".pdf" or data.startswith(b"%PDF-"):
        return _read_pdf(name, data)
    try:
        found = _read_bodies(path.name, data)
    except RecursionError as error:
        message = "has parts that are too deep in one another to be read"
        raise NoTextError(message) from error
    bodies = [body for body in found if body.text.strip()]
    if not bodies:
        raise NoTextError("holds no text", "empty")
    notice = "; ".join(body.notice for body in found if body.notice)
    notice = notice or name_bad_characters(data, bodies[0].text)
    is_parted = len(bodies) > 1 or bodies[0].name != ""
    return [
        FileText(
            name,
            body.text,
            number if is_parted else None,
            str(number + 1) if is_parted else "",
            notice if number == 0 else "",
            body.name,
            body.landmarks,
        )
        for number, body in enumerate(bodies)
    ]


def _read_bodies(name: str, data: bytes) -> list[Body]:
    """Read the texts of a file, or of an attachment, by its name.

    Raises:
        NoTextError: There is no text in it.
        MissingDependencyError: A library that its format needs is not installed.
    """
    ending = Path(name).suffix.lower()
    if ending == ".pdf" or data.startswith(b"%PDF-"):
        pages = pdf_pages(data)
        bodies = [Body(page.text, f"page {page.label}") for page in pages]
        bodies[0] = bodies[0]._replace(notice=name_unread_pages(pages))
        return bodies
    if ending in _OTHERS:
        raise NoTextError(_OTHERS[ending], "binary")
    read = _READERS.get(ending)
    return [Body(decode(data))] if read is None else read(data)


def _read_pdf(name: str, data: bytes) -> list[FileText]:
    pages = pdf_pages(data)
    texts = [FileText(name, page.text, page.number, page.label) for page in pages]
    texts[0] = texts[0]._replace(notice=name_unread_pages(pages))
    return texts


def one_line(path: Path) -> str:
    r"""Return the path as one line of text, as names on disk may be any bytes.

    Characters that would break a line, or reverse the text, are written as `\n` and
    `\u202e`.
    """
    name = os.fsencode(path).decode("utf-8", "backslashreplace")
    return "".join(ascii(char)[1:-1] if _breaks_line(char) else char for char in name)


def _breaks_line(char: str) -> bool:
    kind = unicodedata.category(char)
    return char not in _JOINERS and (kind[0] == "C" or kind in {"Zl", "Zp"})


def _said(error: OSError) -> str:
    if isinstance(error, FileNotFoundError):
        return "does not exist"
    return f"cannot be read ({error.strerror or error})"


def unreadable(
    path: Path, reason: str, inside: Sequence[UnreadableFileError] = ()
) -> UnreadableFileError:
    """Return the error for a file or folder that cannot be used.

    Args:
        path: The file.
        reason: The rest of the message, after its name.
        inside: Files inside a folder that could not be read.
    """
    name = one_line(path)
    message = f"{name!r} {reason}."
    if inside:
        message += f" Skipped in it: {'; '.join(error.message for error in inside)}"
    return UnreadableFileError(message, path=name, reason=reason)
