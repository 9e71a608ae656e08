"""`oprag doctor --repair --write` killed at any moment, and run again."""

from __future__ import annotations

import random
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.cli.chroma_indexes import client, everything, rows

pytestmark = pytest.mark.stores

ROOT = Path(__file__).parents[2]
CHUNKS = 3_000
DOCUMENTS = ("a.txt", "b's \\ DROP TABLE.txt", "c.txt")
KILLS = 4


def write_index(folder, sources) -> None:
    sources.mkdir()
    collection = client(folder).create_collection("chunks")
    for name in DOCUMENTS:
        lines = [f"{name} line {number // 2}" for number in range(CHUNKS)]
        (sources / name).write_text("\n".join(lines), "utf-8")
        collection.add(
            ids=[f"{name}/{number}" for number in range(CHUNKS)],
            documents=lines,
            metadatas=[{"source": name}] * CHUNKS,
            embeddings=[[1.0, 0.0]] * CHUNKS,
        )


def repair(folder, sources) -> subprocess.Popen[bytes]:
    arguments = ["doctor", folder, "--documents", sources, "--repair", "--write"]
    code = "from oprag.cli import main; main()"
    return subprocess.Popen(
        [sys.executable, "-c", code, *map(str, arguments)],
        cwd=ROOT,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def backups(folder) -> set[Path]:
    return set((folder / "oprag-backups").glob("*.jsonl"))


def test_whenever_it_is_killed_the_next_run_leaves_every_document_whole(tmp_path):
    folder, sources = tmp_path / "chroma", tmp_path / "sources"
    write_index(folder, sources)
    kept = everything(folder)
    moments = random.Random(5)  # noqa: S311 -- moments, no secrets

    killed = 0
    for _ in range(KILLS):
        before = backups(folder)
        run = repair(folder, sources)
        while run.poll() is None and backups(folder) == before:
            time.sleep(0.01)
        time.sleep(moments.uniform(0, 0.8))  # it is writing now
        run.kill()
        killed += run.wait() != 0
    assert killed >= 1
    last = repair(folder, sources)

    assert last.wait() == 0
    assert everything(folder) == kept
    written = rows(folder)
    for name in DOCUMENTS:
        mine = [written[f"{name}/{number}"] for number in range(CHUNKS)]
        text = (sources / name).read_text("utf-8")
        assert [metadata["chunk_index"] for metadata in mine] == list(range(CHUNKS))
        assert {metadata["n_chunks"] for metadata in mine} == {CHUNKS}
        spans = [(metadata["char_start"], metadata["char_end"]) for metadata in mine]
        assert "\n".join(text[start:end] for start, end in spans) == text
