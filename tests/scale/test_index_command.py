"""`oprag index --ray`: into PostgreSQL and a Chroma server, and what is refused."""

import json
import uuid
from pathlib import Path

import httpx
import psycopg
import pytest
from typer.testing import CliRunner

from oprag_cli.app import app
from oprag_cli.index import COLLECTION_METADATA
from tests.cli.conftest import tiny_model
from tests.real_stores.conftest import chroma_port

__all__ = ["chroma_port", "tiny_model"]


@pytest.fixture
def notes(tmp_path) -> Path:
    folder = tmp_path / "notes"
    folder.mkdir()
    for name in "abc":
        text = f"Note {name} is short. The rent is due in May."
        (folder / f"{name}.txt").write_text(text)
    return folder


def call(*arguments):
    return CliRunner().invoke(app, ["index", *map(str, arguments)])


def output(result) -> str:
    return " ".join(result.stderr.split())


def test_files_go_into_postgresql_and_what_is_gone_is_removed(
    notes, address, database, tiny_model
):
    url = f"postgresql://{database}"
    given = (notes, "--ray", address, "--store", url, "--collection", "notes")
    given += ("--embedding-model", tiny_model)
    first = call(*given)
    (notes / "a.txt").unlink()
    again = call(*given, "--remove-missing", "yes", "--json")

    assert first.stdout.startswith("3 documents added (3 chunks)"), output(first)
    report = json.loads(again.stdout)
    assert (report["collection"], len(report["unchanged"])) == ("notes", 2)
    assert report["removed"] == [str(notes / "a.txt")]
    with psycopg.connect(url) as connection:
        rows = connection.execute("SELECT content FROM notes").fetchall()
        indexes = connection.execute(
            "SELECT indexdef FROM pg_indexes WHERE tablename = 'notes'"
        ).fetchall()
    assert len(rows) == 2
    assert any("doc_key" in one for (one,) in indexes)


def test_files_go_into_a_chroma_server(notes, address, chroma_port, tiny_model):
    url, name = f"http://127.0.0.1:{chroma_port}", f"c{uuid.uuid4().hex}"
    given = (notes, "--ray", address, "--store", url, "--collection", name)
    result = call(*given, "--embedding-model", tiny_model)

    assert result.stdout.startswith("3 documents added (3 chunks)"), output(result)
    database = f"{url}/api/v2/tenants/default_tenant/databases/default_database"
    made = httpx.get(f"{database}/collections/{name}").json()
    count = httpx.get(f"{database}/collections/{made['id']}/count").json()
    assert (count, made["metadata"]) == (3, COLLECTION_METADATA)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--ray", "auto"), "--ray and --store belong together"),
        (("--store", "postgresql://a@b/c"), "--ray and --store belong together"),
        (("--ray", "auto", "--chroma", "chroma"), "--ray and --store belong together"),
        (("--ray", "auto", "--store", "chroma/"), "A folder is written by one process"),
        (("--ray", "auto", "--store", "mysql://a@b/c"), "--store takes a server"),
        (
            ("--ray", "auto", "--store", "postgresql://a@b/c", "--directory", "d"),
            "are places; give one",
        ),
    ],
)
def test_what_does_not_go_together_is_refused(arguments, said, notes):
    result = call(notes, *arguments)

    assert result.exit_code == 2
    assert said in output(result)


def test_a_store_out_of_reach_is_told_without_its_password(notes, tiny_model):
    url = "postgresql://ann:very-secret-word@127.0.0.1:1/notes"
    result = call(
        *(notes, "--ray", "auto", "--store", url, "--embedding-model", tiny_model)
    )

    assert result.exit_code == 1
    assert "The --store cannot be opened" in output(result)
    assert "very-secret-word" not in result.output
