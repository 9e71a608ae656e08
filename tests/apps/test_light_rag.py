"""The real LightRAG, with the file of `recipes/light_rag` and without it."""

import json
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.apps.environments import ROOT, outcome
from tests.kit.marked_text import inversions_by_text, marked_sections

PACKAGES = ("lightrag-hku==1.5.7",)
RECIPE = ROOT / "recipes/light_rag/in_document_order.py"
LINES = "from in_document_order import in_document_order; in_document_order(rag)"
PROGRAM = """
import asyncio, hashlib, json, sys
import numpy as np
from lightrag import LightRAG, QueryParam
from lightrag.utils import EmbeddingFunc

async def embed(texts, **_):
    seeds = [int(hashlib.md5(text.encode()).hexdigest()[:8], 16) for text in texts]
    return np.array([np.random.default_rng(seed).random(32) for seed in seeds])

async def write(prompt, **options):
    if "keyword_extraction" in str(options) or "high_level" in prompt:
        return json.dumps({"high_level_keywords": ["lease"], "low_level_keywords": []})
    return "<|COMPLETE|>"

async def main():
    made = EmbeddingFunc(embedding_dim=32, max_token_size=8192, func=embed)
    rag = LightRAG(
        working_dir="./rag", llm_model_func=write, embedding_func=made,
        chunk_token_size=120, chunk_overlap_token_size=0,
    )
    await rag.initialize_storages()
    texts = json.load(open("texts.json"))
    await rag.ainsert(texts, file_paths=["old.txt", "new.txt"])
    LINES
    found = {}
    for mode in ("naive", "mix"):
        asked = QueryParam(
            mode=mode, only_need_context=True, enable_rerank=False, chunk_top_k=15
        )
        found[mode] = await rag.aquery("Which rule binds me?", param=asked)
    print(json.dumps(found))

asyncio.run(main())
"""


class Run(NamedTuple):
    """The prompts of a run of the program, by mode, and its output."""

    contexts: dict[str, str]
    log: str


@pytest.fixture(scope="module")
def query(installed, tmp_path_factory):
    """Run the program: with the lines or without them, and with what on its path."""
    python = installed("light-rag", PACKAGES) / "python"

    def run(lines: str = "pass", path: Path | None = None) -> Run:
        folder = tmp_path_factory.mktemp("program")
        (folder / "main.py").write_text(PROGRAM.replace("LINES", lines))
        (folder / RECIPE.name).write_text(RECIPE.read_text())
        texts = ["\n\n".join(marked_sections(100 * n, 6)) for n in range(2)]
        (folder / "texts.json").write_text(json.dumps(texts))
        return Run(*outcome([python, "main.py"], path, folder, HOME=str(folder)))

    return run


@pytest.fixture(scope="module")
def plain(query) -> Run:
    """Of LightRAG as it is."""
    return query()


@pytest.fixture(scope="module")
def ordered(query, ours) -> Run:
    """With the lines of the recipe."""
    return query(LINES, ours)


@pytest.mark.parametrize("mode", ["naive", "mix"])
def test_the_same_chunks_are_read_in_document_order(mode, plain, ordered):
    before, after = plain.contexts[mode], ordered.contexts[mode]

    assert sum(inversions_by_text(before).values()) > 0
    assert inversions_by_text(after) == {0: 0, 1: 0}
    assert sorted(contents(before)) == sorted(contents(after))


def contents(context: str) -> list[str]:
    """The texts of the chunks in a context."""
    lines = [line for line in context.splitlines() if line.startswith('{"reference_id')]
    return [json.loads(line)["content"] for line in lines]


def test_without_our_package_it_answers_as_before(plain, query):
    missing = query(LINES)

    assert missing.contexts == plain.contexts
    assert "No module named 'oprag'" in missing.log
