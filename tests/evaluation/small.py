"""A small set of questions, a model that replies by rule, and vectors of words."""

import asyncio
import csv
from collections.abc import Callable, Sequence
from pathlib import Path

from langchain_core.embeddings import Embeddings

from oprag.calls import TokenUsage
from oprag.chunk import Span
from oprag_eval.artifacts import Vectors
from oprag_eval.bench import Bench
from oprag_eval.catalogue import make_system
from oprag_eval.data import Dataset, Document, Question
from oprag_eval.models import Call, Completion, Model
from oprag_eval.running.run_directory import RunDirectory
from oprag_eval.running.runner import Plan, run
from oprag_eval.system import Attempt, System
from tests.kit.words import word_vector, words

HARBOUR = (
    "The harbour opened in May. Its first ship carried salt. The keeper was Anna "
    "Holm, who lived above the office. In June the crane broke. Nobody was hurt. "
    "The repair took nine weeks and cost four hundred crowns. "
) * 3 + "In autumn the lamp was lit for the first time."
MILL = (
    "The mill stood on the hill. It ground rye and barley. The miller kept two cats. "
) * 6 + "The wheel was made of oak."


def set_of_four() -> Dataset:
    """Four questions on two documents."""
    at = HARBOUR.index("In autumn")
    documents = {
        "harbour": Document("harbour", "The harbour", HARBOUR),
        "mill": Document("mill", "The mill", MILL),
    }
    questions = (
        Question("q1", ("harbour",), "When did the harbour open?", ("in May",)),
        Question(
            "q2",
            ("harbour",),
            "When was the lamp lit?",
            ("in autumn",),
            evidence=(Span(at, len(HARBOUR)),),
        ),
        Question(
            "q3", ("mill",), "What is the wheel made of?", ("oak",), ("iron", "oak"), 1
        ),
        Question("q4", ("mill",), "Who was the king?", ("nobody knows",)),
    )
    return Dataset("small", questions, documents, metrics=("token_f1",))


def own_files(folder: Path) -> list[str]:
    """Write the set as a user's own files; how commands are given them."""
    (folder / "notes").mkdir()
    (folder / "notes" / "harbour.txt").write_text(HARBOUR)
    (folder / "notes" / "mill.md").write_text(MILL)
    with (folder / "q.csv").open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["question", "document", "answer"])
        for question in set_of_four().questions:
            rows.writerow([question.question, *question.doc_ids, question.answers[0]])
    return [str(folder / "notes"), "--questions", str(folder / "q.csv")]


class WordVectors(Embeddings):
    """Texts that share words are near."""

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return [self.embed_query(text) for text in texts]

    def embed_query(self, text: str) -> list[float]:
        return word_vector(text)


class Replies(Model):
    """Replies by a rule, and keeps the calls."""

    name = "replies"

    def __init__(self, rule: Callable[[Call], str] = lambda _: "in May") -> None:
        self._rule = rule
        self.calls: list[Call] = []

    async def complete(self, call: Call) -> Completion:
        self.calls.append(call)
        text = self._rule(call)
        tokens = TokenUsage(len(call.prompt.split()), len(text.split()))
        return Completion(text, tokens)


def set_of_one(text: str, question: str = "When did the harbour open?") -> Dataset:
    """One question on one document."""
    documents = {"d": Document("d", "", text)}
    return Dataset("one", (Question("q", ("d",), question, ("in May",)),), documents)


def bench_of(model: Model, dataset: Dataset | None = None, **options: object) -> Bench:
    """A bench over a set, the small one by default; tokens are words."""
    vectors = Vectors(WordVectors(), name="words")
    settings = {"token_counter": words, **options}
    return Bench(dataset or set_of_four(), model, vectors, **settings)  # type: ignore[arg-type]


def attempt(
    spec: str,
    model: Model | None = None,
    dataset: Dataset | None = None,
    *,
    budget: int | None = None,
    question: int = 0,
    **options: object,
) -> Attempt:
    """Ask one question of a set by one system."""
    bench = bench_of(model or Replies(), dataset, **options)
    asked = bench.dataset.questions[question]
    return asyncio.run(make_system(spec).attempt(asked, budget, bench))


def ran(
    path: Path,
    systems: Sequence[System],
    budgets: Sequence[int],
    bench: Bench,
    **settings: object,
) -> RunDirectory:
    """Carry out a run on all questions of the bench's set."""
    directory = RunDirectory(path)
    directory.begin(settings)
    plan = Plan(systems, budgets, bench.dataset.questions)
    report = asyncio.run(run(plan, bench, directory))
    assert report.complete, report.errors
    return directory


def system(name: str, settings: str = "") -> System:
    """A system of the catalogue under its plain name."""
    return make_system(f"{name}:{settings},name={name}" if settings else name)
