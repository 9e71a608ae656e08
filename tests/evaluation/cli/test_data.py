"""Which files one's own questions are asked of, and by which names."""

import json
from pathlib import Path

import pytest

from oprag.errors import UnreadableFileError
from oprag_eval.cli.data import own_documents

RUN = json.dumps({"data": {}, "systems": {}, "budgets": []})


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    """Two folders with a file of one name each, and questions; we are in it."""
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "n.txt").write_text(f"Text of {name}.")
    (tmp_path / "q.csv").write_text("question,answer\nWhat?,this\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_two_files_of_one_name_keep_their_folders(folder):
    texts = own_documents([Path("a"), Path("b")], Path("q.csv"))

    assert {name: document.text for name, document in texts.items()} == {
        "a/n.txt": "Text of a.",
        "b/n.txt": "Text of b.",
    }
    both = own_documents([Path("a/n.txt"), Path("b/n.txt")], Path("q.csv"))
    assert both == texts


def test_neither_the_questions_nor_a_run_are_documents(folder, capsys):
    for name in ("out/more", "old", "kept"):
        (folder / name).mkdir(parents=True)
        (folder / name / "notes.md").write_text("this")
    (folder / "out" / "plot.png").write_bytes(b"\x89PNG\xff\x00")
    (folder / "old" / "run.json").write_text(RUN)
    (folder / "kept" / "run.json").write_text("[1]")  # somebody else's

    texts = own_documents([Path()], Path("q.csv"), Path("out"))

    assert list(texts) == ["a/n.txt", "b/n.txt", "kept/notes.md", "kept/run.json"]
    assert capsys.readouterr().err == ""


def test_a_run_may_lie_above_the_documents(folder):
    (folder / "run.json").write_text(RUN)

    for path in (Path("a"), Path("a/n.txt")):
        assert list(own_documents([path], Path("q.csv"), Path())) == ["n.txt"]


def test_a_run_does_not_go_among_the_documents(folder):
    with pytest.raises(UnreadableFileError, match="'a' holds no documents beside"):
        own_documents([Path("a")], Path("q.csv"), folder / "a")
    (folder / "a" / "run.json").write_text(RUN)
    with pytest.raises(UnreadableFileError, match="'a' holds no documents beside"):
        own_documents([Path("a")], Path("q.csv"))
