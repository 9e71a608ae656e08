"""An index is used again while its content is the same, and never half made."""

import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from langchain_core.embeddings import DeterministicFakeEmbedding
from langchain_core.vectorstores import InMemoryVectorStore

from langchain_oprag import OffsetSentenceSplitter, index_documents
from oprag.files import FilesRead, FileText, read_files
from oprag.landmarks import LANDMARK_KEYS
from oprag.metadata import CHAR_START
from oprag_cli.embedding_models import SentenceTransformerEmbeddings
from oprag_cli.index import (
    FileSplitter,
    list_for_index,
    make_documents,
    own_index,
    update,
)
from oprag_cli.options import cache_folder

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


def texts(text: str = TEXT, **others: str) -> FilesRead:
    named = {"a.txt": text, **others}
    return FilesRead(tuple(FileText(name, t) for name, t in named.items()), ())


def indexed(folder: Path, read=None, model=None, **how):
    return own_index(["a"], read or texts(), model or letters(), folder=folder, **how)


def held(index) -> list[str]:
    return sorted(index.vectorstore.get(include=["documents"])["documents"])


def expected(read: FilesRead) -> list[str]:
    split = OffsetSentenceSplitter().split_documents(make_documents(read.texts))
    return sorted(chunk.page_content for chunk in split)


def test_the_second_time_nothing_is_embedded(tmp_path):
    first = indexed(tmp_path)
    model = letters()
    second = indexed(tmp_path, model=model)

    assert (first.reused, second.reused) == (False, True)
    assert model.model.embedded == 0
    assert held(first) == held(second) == expected(texts())


@pytest.mark.parametrize(
    ("read", "model"),
    [
        (texts(TEXT + "More."), letters()),
        (texts(b="B."), letters()),
        (texts(), letters("others")),
        (texts(), letters(first="b")),  # another model of the same name
    ],
)
def test_what_changed_is_indexed_anew(tmp_path, read, model):
    indexed(tmp_path)

    index = indexed(tmp_path, read, model)

    assert not index.reused
    assert held(index) == expected(read)
    assert indexed(tmp_path, read, model).reused


def test_a_damaged_index_is_named_with_what_to_do(tmp_path):
    # In another folder than any that Chroma has opened.
    path = indexed(tmp_path / "old").path
    damaged = tmp_path / "new" / path.name
    damaged.mkdir(parents=True)
    (damaged / "chroma.sqlite3").write_bytes(b"no database" * 1000)

    with pytest.raises(OSError, match="delete this folder, and index again"):
        indexed(tmp_path / "new")


def test_a_name_that_chroma_refuses_is_no_reason_to_delete_an_index(tmp_path):
    model = letters()
    how = {"scope": "notes", "remove_missing": "no", "collection": "k"}

    with pytest.raises(OSError, match=r"Got: k$"):
        update(tmp_path, texts(), model, **how)


def test_a_disk_that_is_full_is_an_error(tmp_path):
    pytest.importorskip("resource", reason="only POSIX can limit the size of files")
    code = f"""
import resource, signal
from pathlib import Path
from tests.cli.test_index import indexed
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
try:
    indexed(Path({str(tmp_path)!r}))
except OSError as error:
    print(error)
"""
    message = subprocess.check_output([sys.executable, "-c", code], cwd=ROOT).decode()

    assert message.startswith(f"Chroma cannot read or write {tmp_path}")
    assert "delete this folder, and index again" in message


def test_the_cache_folder_follows_the_environment(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_folder() == tmp_path / "oprag"

    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    assert cache_folder().is_relative_to(Path.home())


def test_chunks_of_files_say_heading_row_or_time(tmp_path):
    (tmp_path / "a.md").write_text("# Lease\n\n" + "The tenant pays the rent. " * 90)
    (tmp_path / "b.csv").write_text(
        "Team,Cups\n" + "".join(f"Team {n},{n}\n" for n in range(80))
    )
    cues = (
        f"00:12:{n:02}.000 --> 00:12:{n + 1:02}.000\nHigh at {n}, all told."
        for n in range(50)
    )
    (tmp_path / "c.vtt").write_text("\n\n".join(["WEBVTT", *cues]))

    store = InMemoryVectorStore(DeterministicFakeEmbedding(size=4))
    index_documents(
        list_for_index(read_files([tmp_path])),
        store,
        splitter=FileSplitter(),
        scope="all",
        remove_missing="all",
    )
    chunks = store.similarity_search("rent", k=999)
    chunks.sort(key=lambda chunk: chunk.metadata[CHAR_START])
    places: dict[str, list[dict[str, object]]] = {}
    for chunk in chunks:
        found = {k: v for k, v in chunk.metadata.items() if k in LANDMARK_KEYS}
        places.setdefault(Path(chunk.metadata["source"]).name, []).append(found)

    assert {name: len(found) > 1 for name, found in places.items()} == {
        "a.md": True,
        "b.csv": True,
        "c.vtt": True,
    }
    assert places["a.md"] == [{"heading": "Lease"}] * len(places["a.md"])
    assert {each["heading"] for each in places["b.csv"]} == {"Team | Cups"}
    rows = [str(each["unit"]).removeprefix("rows ") for each in places["b.csv"]]
    ends = [tuple(map(int, row.split("-"))) for row in rows]
    assert ends[0][0] == 1
    assert all(last + 1 == first for (_, last), (first, _) in pairwise(ends))
    assert ends[-1][1] == 81
    assert places["c.vtt"][0]["start_time"] == 720.0
    assert places["c.vtt"][-1]["end_time"] == 770.0
