"""`oprag doctor` on what is no index, and on a collection that holds nothing."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from typer.testing import CliRunner

from oprag.cli.app import app
from tests.cli.chroma_indexes import client


def files(folder: Path) -> dict[str, tuple[bytes, int]]:
    """What is in a folder, byte for byte, and when it was written."""
    return {
        str(path.relative_to(folder)): (path.read_bytes(), path.stat().st_mtime_ns)
        for path in folder.rglob("*")
        if path.is_file()
    }


def nothing(folder: Path) -> None:
    """An empty folder."""


def other_files(folder: Path) -> None:
    for name in ("a.txt", "b.txt", "c.txt", "d.txt", "e.txt"):
        (folder / name).write_text(name, "utf-8")


def one_inside(folder: Path) -> None:
    (folder / "chroma").mkdir()
    (folder / "chroma" / "chroma.sqlite3").write_bytes(b"")


def no_bytes(folder: Path) -> None:
    (folder / "chroma.sqlite3").write_bytes(b"")


def no_database(folder: Path) -> None:
    (folder / "chroma.sqlite3").write_bytes(b"One day. " * 99)


def another_database(folder: Path, *, wal: bool = False) -> None:
    with closing(sqlite3.connect(folder / "chroma.sqlite3")) as database:
        if wal:
            database.execute("PRAGMA journal_mode=WAL")
        database.execute("CREATE TABLE notes (line TEXT)")
        database.commit()


def a_database_with_a_journal(folder: Path) -> None:
    another_database(folder, wal=True)


def a_database_without_tables(folder: Path) -> None:
    with closing(sqlite3.connect(folder / "chroma.sqlite3")) as database:
        database.execute("CREATE TABLE notes (line TEXT)")
        database.execute("DROP TABLE notes")
        database.commit()


@pytest.mark.parametrize("option", [(), ("--collection", "laws"), ("--json",)])
@pytest.mark.parametrize(
    ("make", "code", "found"),
    [
        (nothing, 2, "it is empty"),
        (other_files, 2, "but 'a.txt', 'b.txt', 'c.txt' and 2 more. Give"),
        (one_inside, 2, "one is in 'chroma'"),
        (no_bytes, 2, "its chroma.sqlite3 is empty (0 bytes)"),
        (no_database, 1, "chroma.sqlite3: file is not a database"),
        (another_database, 2, "is not Chroma's, as it has the tables 'notes'"),
        (a_database_with_a_journal, 2, "as it has the tables 'notes'"),
        (a_database_without_tables, 2, "as it has no table"),
    ],
)
def test_what_is_no_index_is_named_and_stays_as_it_is(
    tmp_path, make, code, found, option
):
    make(tmp_path)
    before = files(tmp_path)

    result = CliRunner().invoke(app, ["doctor", str(tmp_path), *option])

    assert result.exit_code == code
    assert found in " ".join(result.stderr.split())
    assert result.stdout == ""
    assert files(tmp_path) == before


def test_no_folder_at_all_is_not_made(tmp_path):
    (tmp_path / "file").write_text("x", "utf-8")

    for name, found in (("nowhere", "it does not exist"), ("file", "it is a file")):
        result = CliRunner().invoke(app, ["doctor", str(tmp_path / name)])
        assert result.exit_code == 2
        assert found in " ".join(result.stderr.split())

    assert {*files(tmp_path)} == {"file"}


def test_an_index_is_only_read_and_one_without_a_collection_is_called_so(tmp_path):
    chroma = client(tmp_path)
    before = files(tmp_path)

    result = CliRunner().invoke(app, ["doctor", str(tmp_path)])

    assert result.exit_code == 2
    assert "holds no collection" in result.stderr
    assert files(tmp_path) == before
    chroma.create_collection("laws").add(ids=["1"], embeddings=[[0.0]], documents=["x"])
    before = files(tmp_path)
    assert CliRunner().invoke(app, ["doctor", str(tmp_path)]).exit_code == 1
    assert files(tmp_path) == before


def test_of_an_empty_collection_it_is_said_what_to_do(tmp_path):
    for name in ("laws", "novels", "speeches"):
        client(tmp_path).create_collection(name)
    asked = ["doctor", str(tmp_path), "--collection", "laws"]

    shown = CliRunner().invoke(app, asked)
    values = json.loads(CliRunner().invoke(app, [*asked, "--json"]).stdout)

    assert shown.exit_code == 1
    assert "empty: There are no chunks: index the documents" in shown.stdout
    assert "index_documents(documents, store)" in shown.stdout
    assert "--collection NAME (novels, speeches)" in shown.stdout
    assert [problem["kind"] for problem in values["problems"]] == ["empty"]


def test_of_the_only_collection_no_other_is_named(tmp_path):
    client(tmp_path).create_collection("laws")

    shown = CliRunner().invoke(app, ["doctor", str(tmp_path)]).stdout

    assert "index_documents(documents, store)" in shown
    assert "--collection" not in shown
