"""The passages of a search, highlighted in a copy of the PDF they are of."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from oprag.cli.display import make_console
from oprag.files import FilesRead, highlight_pdf, write_whole

if TYPE_CHECKING:
    from oprag.chunk import Span
    from oprag.cli.searching import Search

_OPTION = "--highlight"


def check_copy(copy: Path, paths: Sequence[Path]) -> None:
    """Make sure that a copy can be written where no command reads it.

    Args:
        copy: The file to write.
        paths: The files and folders that are read.

    Raises:
        typer.BadParameter: It is one of them or lies in one, or its folder is missing.
    """
    target = copy.resolve()
    for path in paths:
        if target == path.resolve():
            message = f"{copy} is read by this command. Give another name."
            raise typer.BadParameter(message, param_hint=_OPTION)
        if target.is_relative_to(path.resolve()):
            message = (
                f"{copy} lies in {path}, where the next command would read it as well. "
                "Name a file outside of it."
            )
            raise typer.BadParameter(message, param_hint=_OPTION)
    if not target.parent.is_dir():
        message = f"{copy} cannot be written: its folder is not there."
        raise typer.BadParameter(message, param_hint=_OPTION)


def check_pdf(read: FilesRead) -> None:
    """Make sure that one PDF was read, and not more.

    Raises:
        typer.BadParameter: There is none, or there are several.
    """
    names = _pdfs(read)
    if not names:
        message = "it needs a PDF among the FILEs, and none was read."
        raise typer.BadParameter(message, param_hint=_OPTION)
    if len(names) > 1:
        listed = ", ".join(names)
        message = f"one PDF can be highlighted, and {len(names)} were read: {listed}."
        raise typer.BadParameter(f"{message} Name one.", param_hint=_OPTION)


def highlight(found: Search, copy: Path) -> None:
    """Write the copy, and tell how many of the passages are highlighted in it.

    Raises:
        OSError: The PDF cannot be read again, or the copy cannot be written.
    """
    (name,) = _pdfs(found.files)
    spans: dict[int, list[Span]] = {}
    count = 0
    for passage in found.retrieved.passages:
        if passage.uri == name and found.source_text(passage) is not None:
            page = passage.chunks[0].metadata["page"]
            spans.setdefault(page, []).extend(passage.spans)
            count += 1
    write_whole(copy, highlight_pdf(Path(name).read_bytes(), spans))
    all_passages = len(found.retrieved.passages)
    make_console(stderr=True).print(
        f"Highlighted: {count:,} of {all_passages:,} passages, in {copy}",
        soft_wrap=True,
    )


def _pdfs(read: FilesRead) -> list[str]:
    return list(dict.fromkeys(e.source for e in read.texts if e.page is not None))
