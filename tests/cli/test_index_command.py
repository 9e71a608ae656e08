"""`oprag index`: what it writes is found again by ask, doctor and both frameworks."""

import json

import chromadb
import pytest
from langchain_chroma import Chroma
from llama_index.vector_stores.chroma import ChromaVectorStore
from typer.testing import CliRunner

import langchain_oprag
import llamaindex_oprag
from oprag_cli.app import app

pytestmark = pytest.mark.slow


@pytest.fixture
def run(tiny_model, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "notes").mkdir()
    for name in "abc":
        text = f"Note {name} is short. The rent is due in May."
        (tmp_path / "notes" / f"{name}.txt").write_text(text)

    def call(command, *args):
        if command != "doctor":
            args = (*args, "--embedding-model", tiny_model)
        return CliRunner().invoke(app, [command, *map(str, args)])

    return call


def test_ask_finds_what_was_indexed_unchanged(run, tmp_path):
    first = run("index", tmp_path / "notes")
    again = run("index", tmp_path / "notes")
    asked = run("context", tmp_path / "notes", "When is the rent due?", "--json")

    assert (first.exit_code, again.exit_code, asked.exit_code) == (0, 0, 0)
    assert first.stdout.startswith("3 documents added (3 chunks), 0 updated")
    assert "3 unchanged" in again.stdout
    assert json.loads(asked.stdout)["index"] == {"chunks": 3, "reused": True}


def test_a_chroma_directory_is_read_by_the_doctor_and_both_frameworks(run, tmp_path):
    place = tmp_path / "chroma"
    name = str(tmp_path / "notes" / "a.txt")
    text = "Note a is short. The rent is due in May."

    report = json.loads(
        run("index", tmp_path / "notes", "--chroma", place, "--json").stdout
    )
    store = Chroma("oprag", persist_directory=str(place))
    collection = chromadb.PersistentClient(str(place)).get_collection("oprag")

    assert (report["collection"], len(report["added"])) == ("oprag", 3)
    assert "ordered (3 chunks" in run("doctor", place).stdout
    assert langchain_oprag.document_source(store).get(name) == text
    other = ChromaVectorStore(chroma_collection=collection)
    assert llamaindex_oprag.document_source(other).get(name) == text


def test_what_is_gone_is_removed_if_asked_and_what_cannot_be_read_stays(run, tmp_path):
    notes, place = tmp_path / "notes", tmp_path / "chroma"
    run("index", notes, "--chroma", place)
    (notes / "a.txt").unlink()
    (notes / "b.txt").write_bytes(b"\0")

    kept = run("index", notes, "--chroma", place, "--json")
    gone = run("index", notes, "--chroma", place, "--json", "--remove-missing", "yes")

    assert json.loads(kept.stdout)["removed"] == []
    assert json.loads(gone.stdout)["removed"] == [str(notes / "a.txt")]
    assert json.loads(gone.stdout)["chunks"] == 2


def test_a_folder_that_is_empty_now_can_be_emptied(run, tmp_path):
    notes, place = tmp_path / "notes", tmp_path / "chroma"
    run("index", notes, "--chroma", place)
    for path in notes.iterdir():
        path.unlink()

    assert "can be read" in run("index", notes, "--chroma", place).output
    kept = run("index", notes, "--chroma", place, "--remove-missing", "yes")
    assert kept.exit_code == 1
    assert 'pass --remove-missing="all".' in kept.output
    gone = run("index", notes, "--chroma", place, "--remove-missing", "all", "--json")
    assert gone.exit_code == 0
    assert json.loads(gone.stdout)["chunks"] == 0
    assert len(json.loads(gone.stdout)["removed"]) == 3


def test_a_second_run_counts_as_the_first_did(run, tmp_path):
    (tmp_path / "notes" / "e.txt").write_text("")
    run("index", tmp_path / "notes")

    again = json.loads(run("index", tmp_path / "notes", "--json").stdout)

    assert again["chunks_unchanged"] == again["chunks"] == 3
    assert again["empty"] == [str(tmp_path / "notes" / "e.txt")]
    assert "1 empty." in run("index", tmp_path / "notes").stdout


def test_options_that_do_not_go_together_are_a_wrong_call(run, tmp_path):
    assert run("index", tmp_path / "notes", "--collection", "x").exit_code == 2
    both = run("index", tmp_path / "notes", "--chroma", "c", "--directory", "d")
    assert both.exit_code == 2
