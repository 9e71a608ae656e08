"""`oprag doctor` on what is no index, and on a collection that holds nothing."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from typer.testing import CliRunner

from oprag.diagnosing import Change
from oprag_cli.app import app
from oprag_cli.chroma_directory import open_directory
from tests.cli.chroma_indexes import client, rows


def files(folder: Path) -> dict[str, tuple[bytes, int]]:
    """The content of a folder, byte for byte, and when it was written."""
    return {
        str(path.relative_to(folder)): (path.read_bytes(), path.stat().st_mtime_ns)
        for path in folder.rglob("*")
        if path.is_file()
    }


def nothing(folder: Path) -> None:
    """An empty folder."""


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


@pytest.mark.parametrize(
    ("make", "found"),
    [
        (nothing, "it has no chroma.sqlite3"),
        (no_bytes, "no such table: collections"),
        (no_database, "file is not a database"),
        (another_database, "no such table: collections"),
        (a_database_with_a_journal, "no such table: collections"),
    ],
)
def test_what_is_no_index_is_named_and_stays_as_it_is(tmp_path, make, found):
    make(tmp_path)
    before = files(tmp_path)

    result = CliRunner().invoke(app, ["doctor", str(tmp_path)])

    assert result.exit_code == 2
    assert found in " ".join(result.stderr.split())
    assert result.stdout == ""
    assert files(tmp_path) == before


def test_no_folder_at_all_is_not_made(tmp_path):
    result = CliRunner().invoke(app, ["doctor", str(tmp_path / "nowhere")])

    assert result.exit_code == 2
    assert "nowhere does not exist" in " ".join(result.stderr.split())
    assert [*tmp_path.iterdir()] == []


def test_an_index_is_only_read_and_one_without_a_collection_is_called_so(tmp_path):
    chroma = client(tmp_path)
    before = files(tmp_path)

    result = CliRunner().invoke(app, ["doctor", str(tmp_path)])

    assert result.exit_code == 2
    assert "Collections: none." in result.stderr
    assert files(tmp_path) == before
    chroma.create_collection("laws").add(ids=["1"], embeddings=[[0.0]], documents=["x"])
    before = files(tmp_path)
    assert CliRunner().invoke(app, ["doctor", str(tmp_path)]).exit_code == 1
    assert files(tmp_path) == before


def test_of_several_collections_one_must_be_named(tmp_path):
    for name in ("laws", "notes"):
        client(tmp_path).create_collection(name)

    result = CliRunner().invoke(app, ["doctor", str(tmp_path)])

    assert result.exit_code == 2
    assert "Collections: 'laws', 'notes'." in " ".join(result.stderr.split())


def test_a_repair_of_thousands_of_chunks_writes_each_and_counts_them(tmp_path):
    ids = [f"id-{n}" for n in range(2_500)]
    collection = client(tmp_path).create_collection("notes")
    collection.add(ids, [[0.0]] * len(ids), [{"n": 0}] * len(ids), documents=ids)
    counts: list[int] = []
    changes = [Change(name, "a.txt", {"n": 0}, {"n": 1, "of": name}) for name in ids]

    open_directory(tmp_path).write(changes, counts.append)

    assert counts[-1] == len(ids)
    assert counts == sorted(counts)
    assert {i: m["of"] for i, m in rows(tmp_path, "notes").items()} == {
        i: i for i in ids
    }
