"""A run whose questions are asked here, or by workers on a cluster."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from langchain_openai import ChatOpenAI

from oprag.errors import ModelCallError
from oprag.evaluation.bench import Bench
from oprag.evaluation.data import Dataset, Document, Question
from oprag.evaluation.models import Model
from oprag.evaluation.readers.chat import ChatModel
from oprag.evaluation.readers.offline import OfflineReader
from oprag.evaluation.running.limits import CappedModel, Spending
from oprag.evaluation.running.run_directory import RunDirectory
from oprag.evaluation.running.runner import Plan, RunReport, ask_here, run
from oprag.evaluation.system import System
from oprag.evaluation.systems.readagent import ReadAgent
from oprag.evaluation.systems.retrieved import dos_rag, vanilla_rag
from oprag.evaluation.vectors import Vectors
from oprag.scale import QuestionsOnRay
from tests.evaluation.small import HARBOUR, MILL, WordVectors
from tests.support.openai_server import Reply, Request, ScriptedServer, Usage

REPLY = 20
"""Tokens that a reply may have."""
DIFFERENT = {"timings.jsonl", "spending.jsonl"}
"""Files of a run that say when and in what order it was asked."""


class Embedded(WordVectors):
    """Keeps which texts were embedded together."""

    def __init__(self) -> None:
        self.batches: list[list[str]] = []

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        self.batches.append(list(texts))
        return super().embed_documents(texts)


def count_words(text: str) -> int:
    """Count tokens so that no file is needed for it."""
    return len(text.split())


def questions_on_letters(questions: int = 16) -> Dataset:
    """Questions on four documents, which differ in a word."""
    documents = {
        letter: Document(letter, "", f"{HARBOUR} {letter} {MILL}") for letter in "abcd"
    }
    asked = tuple(
        Question(f"q{n}", ("abcd"[n % 4],), f"What cost {n} crowns?", ("the crane",))
        for n in range(questions)
    )
    return Dataset("letters", asked, documents, metrics=("token_f1",))


SYSTEMS = (vanilla_rag(), dos_rag(), ReadAgent())
"""Two that read chunks, and one that has gists made of a document first."""


def answer(request: Request) -> Reply:
    """Reply by the prompt alone, whoever asks and whenever."""
    words = request.prompt.split()
    text = f"{len(words)} {words[len(words) // 2]}"
    return Reply(text, usage=Usage(len(words), REPLY), delay=0.02)


def make_bench(
    dataset: Dataset, vectors: Vectors, *, server: str, cache: Path | None = None
) -> Bench:
    """Make a bench with a chat model, or with the offline reader without a server."""
    model: Model = OfflineReader(vectors, token_counter=count_words, threshold=0.1)
    if server:
        # So that a test can kill who asks, or the node that it is on.
        asking = {"x-worker": str(os.getpid()), "x-raylet": str(os.getppid())}
        client = ChatOpenAI(
            base_url=server, api_key="none", model="scripted", default_headers=asking
        )
        model = ChatModel(client, "openai:scripted", token_counter=count_words)
    return Bench(dataset, model, vectors, token_counter=count_words, cache=cache)


def unusable_bench(
    dataset: Dataset, vectors: Vectors, *, server: str, cache: Path | None = None
) -> Bench:
    """Make one in the process that has the cache; a worker lacks what it needs."""
    if cache is None:
        message = "There is no key here."
        raise ModelCallError(message, model="openai:scripted")
    return make_bench(dataset, vectors, server=server, cache=cache)


def evaluate(
    folder: Path,
    server: str = "",
    *,
    ray: Any = None,
    workers: int | None = None,
    questions: int = 16,
    spending: Spending | None = None,
    made_by: Callable[..., Bench] = make_bench,
    systems: Sequence[System] = SYSTEMS,
    embedded: Embedded | None = None,
) -> RunReport:
    """Ask all of it; on the cluster that `ray` is connected to, or here without it."""
    dataset = questions_on_letters(questions)
    make = partial(made_by, server=server)
    vectors = Vectors(embedded or Embedded(), name="words", folder=folder / "cache")
    bench = make(dataset, vectors, cache=folder / "cache")
    spending = spending or Spending(count_words, record=folder / "spent.jsonl")
    capped = partial(CappedModel, spending=spending, longest_reply=REPLY)
    bench.model = bench.index_model = capped(bench.model)
    asking = ask_here
    if ray is not None:
        asking = QuestionsOnRay(ray, make, capped=capped, workers=workers)
    directory = RunDirectory(folder / "run")
    directory.begin({"questions": questions})
    plan = Plan(systems, [100, 200], dataset.questions)
    at_once = 16 if server else 1
    try:
        running = run(plan, bench, directory, asking=asking, concurrency=at_once)
        return asyncio.run(running)
    finally:
        vectors.close()


def files(folder: Path) -> dict[str, bytes]:
    """What stands in the folder of a run, by name, without `DIFFERENT`."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and path.name not in DIFFERENT
    }


class Script:
    """What the server does with a request, which a test can change."""

    def __init__(self) -> None:
        self._asked = threading.Condition()
        self.begin()

    def begin(self) -> None:
        """Forget what was asked, and what is done with a request."""
        self.act: Callable[[Request, int], None] = lambda *_: None
        self.requests = 0
        self.together = 0
        """Workers that have to ask before one gets a reply: so all take part. 0 where
        they did not come in two minutes."""
        self._workers: set[str] = set()

    def _all_asked(self) -> bool:
        return len(self._workers) >= self.together

    def __call__(self, request: Request) -> Reply:
        with self._asked:
            self.requests += 1
            self._workers.add(request.headers.get("x-worker", ""))
            self._asked.notify_all()
            if not self._asked.wait_for(self._all_asked, 120):
                self.together = 0
                self._asked.notify_all()
            self.act(request, self.requests)
        return answer(request)


@pytest.fixture(scope="module")
def served() -> Iterator[tuple[Script, str]]:
    script = Script()
    with ScriptedServer(script) as server:
        yield script, server.base_url


@pytest.fixture
def script(served) -> Script:
    """The script, with a count of its own."""
    script, _ = served
    script.begin()
    return script
