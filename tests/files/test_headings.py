"""Headings of files that have some: those of the format, whatever a text looks like."""

from pathlib import Path

import pytest
from docx import Document
from pptx import Presentation

from oprag.files import read_file

PAGE = """\
<title>Fleet</title><pre>
``` from the shell
# make ships
</pre><h1>Ships</h1><p># of ships: 5</p><p>Old<br>---</p>
<ol><li><h2>Rent <b>#</b></h2><p>It is 500.</li></ol><h2></h2><h1>End</h1>"""


def write_page(path: Path) -> None:
    path.write_text(PAGE)


def write_word(path: Path) -> None:
    made = Document()
    for level, text in ((1, "Ships"), (0, "# of ships: 5"), (0, "```"), (1, "End")):
        made.add_heading(text, level) if level else made.add_paragraph(text)
    made.save(path)


def write_slides(path: Path) -> None:
    made = Presentation()
    slide = made.slides.add_slide(made.slide_layouts[1])
    slide.shapes.title.text = "Ships"
    slide.placeholders[1].text = "# of ships: 5"
    made.save(path)


@pytest.mark.parametrize(
    ("name", "write", "expected"),
    [
        (
            "a.html",
            write_page,
            [
                ("# Ships", "Ships"),
                ("1. ## Rent #", "Ships > Rent #"),
                ("# End", "End"),
            ],
        ),
        ("a.docx", write_word, [("# Ships", "Ships"), ("# End", "End")]),
        ("a.pptx", write_slides, [("# Ships", "Ships")]),
    ],
)
def test_headings_are_those_of_the_file(name, write, expected, tmp_path):
    write(tmp_path / name)

    (read,) = read_file(tmp_path / name)

    assert "\n# of ships: 5" in read.text
    assert [
        (read.text[each.start :].partition("\n")[0], each.heading)
        for each in read.landmarks
    ] == expected
