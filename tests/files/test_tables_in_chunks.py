"""Tables of each kind of file, cut: no chunk begins inside a row."""

from pathlib import Path

import pytest
from docx import Document
from reportlab.platypus import LongTable, SimpleDocTemplate

from oprag import split_sentences
from oprag.files import read_file

HEAD = ["Harbour", "Coal", "Iron", "Master", "Note"]
_NOTES = ("", "Closed in winter", "The quay is mended. Ships wait outside.")


def rows_of(table: int) -> list[list[str]]:
    return [
        [
            f"Port{table}x{row}",
            str(10_000 + 37 * row + table),
            str(100 + row),
            "Ole Petersen",
            _NOTES[(row + table) % 3],
        ]
        for row in range(20)
    ]


def write(path: Path, rows: list[list[str]]) -> None:
    """Write a table into a file of the kind that its name ends with."""
    if path.suffix == ".csv":
        path.write_text("".join(f"{';'.join(row)}\n" for row in rows))
    elif path.suffix == ".html":
        cells = ("".join(f"<td>{cell}</td>" for cell in row) for row in rows)
        table = "".join(f"<tr>{row}</tr>" for row in cells)
        path.write_text(f"<title>Ports</title><table>{table}</table>")
    elif path.suffix == ".docx":
        made = Document()
        table = made.add_table(len(rows), len(HEAD))
        for written, row in zip(table.rows, rows, strict=True):
            for cell, text in zip(written.cells, row, strict=True):
                cell.text = text
        made.save(path)
    else:
        SimpleDocTemplate(str(path), invariant=1).build([LongTable(rows)])


@pytest.mark.parametrize("kind", ["csv", "html", "docx", "pdf"])
def test_each_row_of_five_tables_is_whole_in_one_chunk(kind, tmp_path):
    for number in range(5):
        rows = rows_of(number)
        write(tmp_path / f"{number}.{kind}", [HEAD, *rows])
        text = "\n".join(each.text for each in read_file(tmp_path / f"{number}.{kind}"))
        chunks = split_sentences(text, chunk_size=100)

        assert len(chunks) > 3
        for chunk in chunks[1:]:
            assert text[: chunk.start].rstrip(" ").endswith("\n")
        for row in rows:
            shown = [text[chunk.start : chunk.end] for chunk in chunks]
            assert any(row[0] in each and row[1] in each for each in shown)
