"""Indexes a folder into Chroma in processes that are killed on the way.

A script of its own: packages are imported once, before any thread is started; each run
is a fork that opens a copy of the store and dies.
"""

from __future__ import annotations

import hashlib
import importlib
import os
import shutil
import signal
import subprocess
import sys
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]

SIZE = 8
BATCH = 3
"""Chunks written at once: few, so that there are many moments in between."""

COLLECTION = "chunks"

BEFORE = {
    "changed.txt": [f"Old sentence {n} of the first text." for n in range(12)],
    "same.txt": [f"Line {n} stays." for n in range(6)],
    "gone.txt": [f"Line {n} goes." for n in range(6)],
    "shorter.txt": [f"Line {n} of many." for n in range(9)],
}
AFTER = {
    "changed.txt": [
        f"{'New' if n % 3 else 'Old'} sentence {n} of the first text."
        for n in range(12)
    ],
    "same.txt": BEFORE["same.txt"],
    "shorter.txt": BEFORE["shorter.txt"][:4],
    "added.txt": [f"Line {n} is new." for n in range(7)],
}
"""Lines by file: one changed in places, one cut, one gone, one new, one as it was."""

BATCHES = (0, 2, 6, 1, 4)
"""Batches after which a process kills itself while it embeds the next: what was to be
deleted is deleted, and so many batches are written."""

FRACTIONS = (0.5, 0.15, 0.95, 0.35, 0.75)
"""Parts of the time that a whole run takes, after which others are killed."""


def write(folder: Path, files: dict[str, list[str]]) -> None:
    """Make the folder hold exactly these files."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    for name, lines in files.items():
        (folder / name).write_bytes("\n".join(lines).encode())


def vector(text: str) -> list[float]:
    """An embedding: a few numbers out of the text's hash."""
    digest = hashlib.sha256(text.encode()).digest()
    return [byte / 255 - 0.5 for byte in digest[:SIZE]]


def spans(text: str) -> list[tuple[int, int]]:
    """Lines as sentences, so that every line is a chunk."""
    found, start = [], 0
    for line in text.splitlines(keepends=True):
        found.append((start, start + len(line)))
        start += len(line)
    return found


def killed_runs(
    framework: str, texts: Path, folder: Path, *, moments: int
) -> list[Path]:
    """Index `BEFORE`, then `AFTER` again and again, killed at every moment once.

    Args:
        framework: `langchain` or `llamaindex`.
        texts: Holds `AFTER` afterwards.
        folder: An empty folder for the stores.
        moments: How many of `BATCHES` and of `FRACTIONS`.

    Returns:
        The folders of the stores that were left behind.
    """
    done = subprocess.run(
        [sys.executable, "-m", __name__, framework, texts, folder, str(moments)],
        cwd=ROOT,
        capture_output=True,
        check=False,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return sorted(folder.glob("killed-*"))


def indexer(framework: str, folder: Path, embed: Callable[[str], list[float]]) -> Any:
    """A function that indexes a folder of texts into the store in `folder`."""
    if framework == "langchain":
        return _langchain(folder, embed)
    return _llamaindex(folder, embed)


def _langchain(folder: Path, embed: Callable[[str], list[float]]) -> Any:
    from langchain_chroma import Chroma
    from langchain_core.embeddings import Embeddings

    from langchain_oprag import OffsetSentenceSplitter, index_documents

    class Embedding(Embeddings):
        def embed_documents(self, texts: list[str]) -> list[list[float]]:
            return [embed(text) for text in texts]

        def embed_query(self, text: str) -> list[float]:
            return embed(text)

    store = Chroma(COLLECTION, Embedding(), persist_directory=str(folder))
    splitter = OffsetSentenceSplitter(
        chunk_size=1, tokenizer=_lines, sentence_spans=spans
    )
    return lambda texts: index_documents(
        texts, store, splitter=splitter, remove_missing=True, batch_size=BATCH
    )


def _llamaindex(folder: Path, embed: Callable[[str], list[float]]) -> Any:
    import chromadb
    from llama_index.core import VectorStoreIndex
    from llama_index.core.embeddings import BaseEmbedding
    from llama_index.vector_stores.chroma import ChromaVectorStore

    from llamaindex_oprag import OffsetSentenceNodeParser, index_documents

    class Embedding(BaseEmbedding):
        def _get_text_embedding(self, text: str) -> list[float]:
            return embed(text)

        def _get_query_embedding(self, query: str) -> list[float]:
            return embed(query)

        async def _aget_query_embedding(self, query: str) -> list[float]:
            return embed(query)

    client = chromadb.PersistentClient(str(folder))
    collection = client.get_or_create_collection(COLLECTION)
    index = VectorStoreIndex.from_vector_store(
        ChromaVectorStore(chroma_collection=collection), embed_model=Embedding()
    )
    parser = OffsetSentenceNodeParser(
        chunk_size=1, tokenizer=_lines, sentence_spans=spans
    )
    return lambda texts: index_documents(
        texts, index, node_parser=parser, remove_missing=True, batch_size=BATCH
    )


def _lines(text: str) -> int:
    """A token counter for which every line is one token."""
    return len(text.splitlines())


def main(framework: str, texts: Path, folder: Path, moments: int) -> None:
    """Make the stores; see `killed_runs`."""
    # Before the first fork, and only once.
    importlib.import_module(f"{framework}_oprag.indexing")
    importlib.import_module("chromadb")

    before = folder / "before"
    write(texts, BEFORE)
    _forked(lambda: indexer(framework, before, vector)(texts))
    write(texts, AFTER)
    _forked(lambda: _whole(framework, texts, before))
    seconds = float((folder / "seconds").read_text())
    for batches in BATCHES[:moments]:
        _forked(
            lambda n=batches: _embedding(framework, texts, before, n), signal.SIGKILL
        )
    for fraction in FRACTIONS[:moments]:
        wait = fraction * seconds
        _forked(lambda wait=wait: _timed(framework, texts, before, wait), None)


def _whole(framework: str, texts: Path, before: Path) -> None:
    """See how long it takes when nothing happens."""
    index = indexer(framework, _copy(before, before.parent / "whole"), vector)
    start = time.perf_counter()
    index(texts)
    (before.parent / "seconds").write_text(str(time.perf_counter() - start))


def _copy(before: Path, to: Path) -> Path:
    shutil.copytree(before, to)
    return to


def _embedding(framework: str, texts: Path, before: Path, batches: int) -> None:
    """Die when so many batches of chunks are embedded."""
    done: list[str] = []

    def embed(text: str) -> list[float]:
        if len(done) == batches * BATCH:
            os.kill(os.getpid(), signal.SIGKILL)
        done.append(text)
        return vector(text)

    store = _copy(before, before.parent / f"killed-embedding-{batches}")
    indexer(framework, store, embed)(texts)


def _timed(framework: str, texts: Path, before: Path, wait: float) -> None:
    """Die after some seconds, whatever is done then."""
    store = _copy(before, before.parent / f"killed-after-{wait:.4f}")
    index = indexer(framework, store, vector)
    # Nobody handles this signal, so that the process ends without a word.
    signal.setitimer(signal.ITIMER_REAL, wait)
    index(texts)


def _forked(run: Callable[[], object], signalled: int | None = 0) -> None:
    """Run in a process of its own; None: it may be killed or not."""
    child = os.fork()
    if child == 0:
        try:
            run()
            os._exit(0)
        except BaseException:  # noqa: BLE001 -- a fork must not go on as the script
            traceback.print_exc()
            os._exit(1)
    _, status = os.waitpid(child, 0)
    killed = os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0
    assert os.WIFSIGNALED(status) or os.WEXITSTATUS(status) == 0
    assert signalled is None or killed == signalled, killed


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]), int(sys.argv[4]))
