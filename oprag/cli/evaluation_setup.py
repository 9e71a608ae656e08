"""A run made ready: the questions, the systems, the model, and what bounds it."""

from __future__ import annotations

import platform
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from langchain_core.embeddings import Embeddings
from rich.console import Console

from oprag.calls import Price
from oprag.cli.cache_folder import cache_folder
from oprag.cli.chat_models import load_chat_model
from oprag.cli.embedding_models import load_embedding_model, packaged_weights
from oprag.cli.evaluation_data import data_facts
from oprag.cli.evaluation_progress import CountedEmbeddings
from oprag.cli.progress import working
from oprag.cli.telling import told
from oprag.evaluation.answer_styles import AnswerStyle
from oprag.evaluation.catalogue import make_system
from oprag.evaluation.data import Dataset
from oprag.evaluation.models import Model
from oprag.evaluation.readers.chat import ChatModel
from oprag.evaluation.readers.offline import OFFLINE, OfflineReader
from oprag.evaluation.running.plan import Plan
from oprag.evaluation.systems.system import System
from oprag.evaluation.vectors import Vectors
from oprag.tokens import resolve_token_counter

_PACKAGES = (
    "oprag",
    "langchain-core",
    "nltk",
    "numpy",
    "sentence-transformers",
    "tiktoken",
    "torch",
    "transformers",
)
"""What may change an answer."""


@dataclass(frozen=True)
class RunOptions:
    """What a user said, apart from the data and the systems."""

    model: str
    answer_style: AnswerStyle
    embedding_model: str
    runs: int
    concurrency: int
    max_tokens: int | None
    max_cost: float | None
    price: Price | None
    window: int | None
    max_reply: int
    temperature: float | None
    seed: int
    cache: Path | None

    @property
    def offline(self) -> bool:
        """Whether no language model is asked."""
        return self.model == OFFLINE


@dataclass(frozen=True)
class Evaluation:
    """Everything that a run needs."""

    dataset: Dataset
    plan: Plan
    model: Model
    vectors: Vectors
    cache: Path
    """Folder of what models make of documents."""
    settings: dict[str, Any]
    """Everything that decides the answers; `run.json`."""


def check_options(options: RunOptions) -> None:
    """Refuse what cannot be, before anything is loaded.

    Raises:
        typer.Exit: With code 2.
    """
    provider, _, name = options.model.partition(":")
    if not options.offline and not (provider.strip() and name.strip()):
        message = (
            f"--model {options.model!r} names no provider and model. Write "
            "provider:model, such as openai:gpt-4o-mini, or offline."
        )
        raise told(message, code=2)
    if options.max_cost is not None and options.price is None:
        raise told("--max-cost needs --price: what a million tokens cost.", code=2)


def make_systems(specs: Sequence[str]) -> list[System]:
    """Make systems from what a user wrote, each as `make_system` takes it.

    Raises:
        InvalidOptionError: There is no such system or setting.
    """
    return [make_system(spec) for spec in specs]


def load_embeddings(name: str) -> CountedEmbeddings:
    """Load an embedding model and tell where it came from.

    Raises:
        EmbeddingModelError: See `load_embedding_model`.
    """
    console = Console(stderr=True)
    with working(console, "Loading the embedding model …"):
        embeddings = load_embedding_model(name, packaged=packaged_weights())
    console.print(f"Embedding model: {name}, from {embeddings.origin}", soft_wrap=True)
    return CountedEmbeddings(embeddings)


def _load_reader(options: RunOptions, vectors: Vectors) -> Model:
    """Make the reader. Nothing is sent yet.

    Raises:
        ChatModelError: See `load_chat_model`.
    """
    if options.offline:
        return OfflineReader(vectors)
    warmth = {} if options.temperature is None else {"temperature": options.temperature}
    return ChatModel(load_chat_model(options.model, **warmth), options.model)


def make_evaluation(
    dataset: Dataset,
    systems: Sequence[System],
    budgets: Sequence[int],
    options: RunOptions,
    embeddings: Embeddings,
) -> Evaluation:
    """Make a run ready.

    Args:
        dataset: What is asked.
        systems: See `make_systems`.
        budgets: Tokens.
        options: The rest.
        embeddings: The embedding model.

    Raises:
        ChatModelError: See `load_chat_model`.
        InvalidOptionError: Two systems have one name, or there is nothing to ask.
    """
    plan = Plan(systems, budgets, dataset.questions, runs=options.runs)
    cache = options.cache or cache_folder() / "evaluation"
    vectors = Vectors(embeddings, name=options.embedding_model, folder=cache)
    settings = {
        "data": data_facts(dataset),
        "systems": {system.name: system.settings() for system in systems},
        "budgets": list(budgets),
        "runs": options.runs,
        "model": options.model,
        "answer_style": options.answer_style,
        "temperature": None if options.offline else options.temperature,
        "max_reply": options.max_reply,
        "window": options.window,
        "embedding_model": options.embedding_model,
        "tokenizer": resolve_token_counter(None).name,
        "seed": options.seed,
        "versions": _versions(options),
    }
    model = _load_reader(options, vectors)
    return Evaluation(dataset, plan, model, vectors, cache / "made", settings)


def _versions(options: RunOptions) -> dict[str, str]:
    provider = options.model.partition(":")[0].replace("_", "-")
    found = {"python": platform.python_version()}
    for name in (*_PACKAGES, f"langchain-{provider}"):
        try:
            found[name] = version(name)
        except PackageNotFoundError:  # another provider's, or not needed here
            continue
    return found
