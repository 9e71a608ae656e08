"""Files whose sentences are marked: two texts of one name, and a PDF of 15 pages."""

from pathlib import Path

from tests.files.mixed_files import pdf
from tests.kit.marked_text import marked_sections

NAMES = ("old/lease.txt", "new/lease.txt", "report.pdf")
"""With sections 0 to 11, 100 to 111 and, a page each, 200 to 214."""


def write_marked_files(folder: Path, sentences: int) -> None:
    """Write them below a folder, with so many sentences to a section."""
    for number, name in enumerate(NAMES[:2]):
        (folder / name).parent.mkdir(parents=True)
        text = "\n\n".join(marked_sections(100 * number, 12, sentences))
        (folder / name).write_text(text)
    pdf(folder / NAMES[2], tuple(marked_sections(200, 15, sentences)))
