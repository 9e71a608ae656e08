"""An index is used again while its content is the same, and never half made."""

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from langchain_core.documents import Document

from langchain_oprag import OffsetSentenceSplitter
from oprag.cli.embedding_models import SentenceTransformerEmbeddings
from oprag.cli.index import open_index
from oprag.cli.options import cache_folder

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
TEXT = "".join(f"Sentence number {number} says something. " for number in range(2000))


class LetterModel:
    """Embeds a text as its counts of letters; knows how many texts it was given."""

    def __init__(self, first: str = "a") -> None:
        self.first = first
        self.embedded = 0

    def encode_document(self, texts, *, show_progress_bar):
        self.embedded += len(texts)
        return np.array([self.vector(text) for text in texts])

    def encode_query(self, text, *, show_progress_bar):
        return np.array(self.vector(text))

    def vector(self, text: str) -> list[float]:
        letters = [chr((ord(self.first) - 97 + i) % 26 + 97) for i in range(26)]
        return [1.0 + text.count(letter) for letter in letters]


def letters(name: str = "letters", first: str = "a") -> SentenceTransformerEmbeddings:
    return SentenceTransformerEmbeddings(LetterModel(first), name=name, origin="here")


def texts(text: str = TEXT, **others: str) -> list[Document]:
    named = {"a.txt": text, **others}
    return [Document(t, metadata={"source": name}) for name, t in named.items()]


def stored(index) -> dict[str, str]:
    held = index.vectorstore.get(include=["documents"])
    return dict(zip(held["ids"], held["documents"], strict=True))


def expected(documents) -> list[str]:
    split = OffsetSentenceSplitter().split_documents(documents)
    return sorted(chunk.page_content for chunk in split)


def held(index) -> list[str]:
    return sorted(stored(index).values())


def test_the_second_time_nothing_is_embedded(tmp_path):
    first = open_index("a", texts(), letters(), folder=tmp_path)
    model = letters()
    second = open_index("a", texts(), model, folder=tmp_path)

    assert (first.reused, second.reused) == (False, True)
    assert model.model.embedded == 0
    assert held(first) == held(second) == expected(texts())


@pytest.mark.parametrize(
    ("documents", "model"),
    [
        pytest.param(texts(TEXT + "."), letters(), id="the text"),
        pytest.param(texts(), letters(name="other"), id="the model's name"),
        pytest.param(texts(), letters(first="b"), id="the model behind the name"),
    ],
)
def test_an_index_is_made_anew_when_something_changed(tmp_path, documents, model):
    open_index("a", texts(), letters(), folder=tmp_path)

    index = open_index("a", documents, model, folder=tmp_path)

    assert not index.reused
    assert held(index) == expected(documents)
    assert open_index("a", documents, model, folder=tmp_path).reused


def test_two_labels_do_not_disturb_each_other(tmp_path):
    open_index("a", texts(), letters(), folder=tmp_path)
    open_index("b", texts(TEXT[:500]), letters(), folder=tmp_path)

    assert open_index("a", texts(), letters(), folder=tmp_path).reused
    assert open_index("b", texts(TEXT[:500]), letters(), folder=tmp_path).reused


def test_progress_rises_to_the_number_of_chunks(tmp_path):
    told: list[tuple[int, int | None, int]] = []
    model = letters()

    index = open_index(
        "a", texts(b="B."), model, folder=tmp_path, told=lambda *at: told.append(at)
    )

    assert told[-1] == (2, 2, index.chunks) == (2, 2, model.model.embedded)
    assert len({chunks for _, _, chunks in told}) > 2


def test_only_what_changed_is_indexed_anew(tmp_path):
    open_index("a", texts(b="B.", c="C."), letters(), folder=tmp_path)
    model = letters()

    index = open_index("a", texts(b="New."), model, folder=tmp_path)

    assert model.model.embedded == 1
    assert held(index) == expected(texts(b="New."))
    assert (index.report.updated, index.report.removed) == (("b",), ("c",))
    assert len(list(tmp_path.glob("*.chroma"))) == 1


def test_a_moved_index_is_still_good(tmp_path):
    open_index("a", texts(), letters(), folder=tmp_path / "old")
    shutil.copytree(tmp_path / "old", tmp_path / "new")

    assert open_index("a", texts(), letters(), folder=tmp_path / "new").reused


def damage_file(folder: Path) -> None:
    (store,) = folder.glob("*.chroma")
    (store / "chroma.sqlite3").write_bytes(b"no database" * 1000)


def remove_store(folder: Path) -> None:
    (store,) = folder.glob("*.chroma")
    shutil.rmtree(store)


def damage_manifest(folder: Path) -> None:
    (folder / "a.json").write_text('{"fingerprint": ')


def change_manifest(folder: Path) -> None:
    (folder / "a.json").write_text("[]")


@pytest.mark.parametrize(
    "harm", [damage_file, remove_store, damage_manifest, change_manifest]
)
def test_a_damaged_index_is_made_anew(tmp_path, harm):
    # In a copy: Chroma keeps what it has opened.
    open_index("a", texts(), letters(), folder=tmp_path / "old")
    shutil.copytree(tmp_path / "old", tmp_path / "new")
    harm(tmp_path / "new")

    index = open_index("a", texts(), letters(), folder=tmp_path / "new")

    assert not index.reused
    assert held(index) == expected(texts())


def run_and_die(folder: Path, *, after: int) -> None:
    """Index in another process, which dies at once after so many chunks."""
    code = f"""
import os
from pathlib import Path
from tests.cli.test_index import letters, open_index, texts
def die(_, __, done):
    if done >= {after}:
        os._exit(0)
open_index("a", texts(), letters(), folder=Path({str(folder)!r}), told=die)
os._exit(0)
"""
    subprocess.run([sys.executable, "-c", code], check=True, cwd=ROOT)


@pytest.mark.slow
def test_an_index_whose_making_was_killed_is_completed(tmp_path):
    run_and_die(tmp_path, after=64)
    assert list(tmp_path.glob("*.chroma"))

    index = open_index("a", texts(), letters(), folder=tmp_path)

    assert not index.reused
    assert held(index) == expected(texts())


@pytest.mark.slow
def test_an_index_is_whole_as_soon_as_it_is_made(tmp_path):
    run_and_die(tmp_path, after=10**6)

    index = open_index("a", texts(), letters(), folder=tmp_path)

    assert index.reused
    assert held(index) == expected(texts())


def test_the_next_run_goes_on_where_one_was_interrupted(tmp_path):
    def interrupt(documents: int, total: int | None, chunks: int) -> None:
        if chunks:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        open_index("a", texts(), letters(), folder=tmp_path, told=interrupt)
    model = letters()

    index = open_index("a", texts(), model, folder=tmp_path)

    assert held(index) == expected(texts())
    assert 0 < model.model.embedded < index.chunks
    assert len(list(tmp_path.glob("*.chroma"))) == 1


def test_only_what_was_abandoned_for_a_day_is_removed(tmp_path):
    open_index("kept", texts(), letters(), folder=tmp_path)
    (kept,) = tmp_path.glob("*.chroma")
    (tmp_path / "left-x.chroma").mkdir()
    (tmp_path / "busy-x.chroma").mkdir()
    (tmp_path / "foreign").mkdir()
    two_days_ago = time.time() - 2 * 24 * 60 * 60
    for path in (kept, tmp_path / "left-x.chroma", tmp_path / "foreign"):
        os.utime(path, (two_days_ago, two_days_ago))

    open_index("a", texts(), letters(), folder=tmp_path)

    assert kept.exists()
    assert (tmp_path / "busy-x.chroma").exists()
    assert (tmp_path / "foreign").exists()
    assert not (tmp_path / "left-x.chroma").exists()


def test_the_manifest_holds_no_text(tmp_path):
    open_index("a", texts(), letters(), folder=tmp_path)

    facts = json.loads((tmp_path / "a.json").read_text("utf-8"))
    assert set(facts) == {"fingerprint", "probe", "store", "model", "chunks"}


def test_a_folder_that_cannot_be_made_is_an_error(tmp_path):
    (tmp_path / "file").write_text("")

    with pytest.raises(OSError, match="file"):
        open_index("a", texts(), letters(), folder=tmp_path / "file" / "folder")


@pytest.mark.slow
def test_a_disk_that_is_full_is_an_error_and_leaves_nothing(tmp_path):
    pytest.importorskip("resource", reason="only POSIX can limit the size of files")
    code = f"""
import resource, signal
from pathlib import Path
from tests.cli.test_index import letters, open_index, texts
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
try:
    open_index("a", texts(), letters(), folder=Path({str(tmp_path)!r}))
except OSError as error:
    print(error)
"""
    told = subprocess.check_output([sys.executable, "-c", code], cwd=ROOT).decode()

    assert told.startswith(f"The index cannot be written to {tmp_path}: ")
    assert list(tmp_path.iterdir()) == []


def test_the_cache_folder_follows_the_environment(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_folder() == tmp_path / "oprag"

    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    assert cache_folder().is_relative_to(Path.home())
