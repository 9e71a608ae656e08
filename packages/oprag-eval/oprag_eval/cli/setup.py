"""A run made ready: the questions, the systems, the model, and what bounds it."""

from __future__ import annotations

import platform
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from langchain_core.embeddings import Embeddings

from oprag.cli.chat_models import load_chat_model
from oprag.cli.options import cache_folder
from oprag.routing import no_tools
from oprag.tokens import resolve_token_counter
from oprag_eval.bench import Bench
from oprag_eval.cli.data import data_facts
from oprag_eval.cli.options import RunOptions
from oprag_eval.data import Dataset
from oprag_eval.models import Model
from oprag_eval.question_words import wording_for
from oprag_eval.readers.chat import ChatModel
from oprag_eval.readers.offline import OfflineReader
from oprag_eval.running.runner import Plan
from oprag_eval.system import System
from oprag_eval.vectors import Vectors

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
"""Packages that may change an answer."""


_RETRIES = 6
"""The number of times that a client repeats a call that failed in passing."""


@dataclass(frozen=True)
class Evaluation:
    """Everything that a run needs."""

    plan: Plan
    bench: Bench
    settings: dict[str, Any]
    """Everything that decides the answers; `run.json`."""


def make_evaluation(
    dataset: Dataset,
    systems: Sequence[System],
    budgets: Sequence[int],
    options: RunOptions,
    embeddings: Embeddings,
) -> Evaluation:
    """Make a run ready."""
    style = options.answer_style
    decline = not options.no_decline
    wording = wording_for(dataset, options.prompts, decline=decline, style=style)
    plan = Plan(systems, budgets, dataset.questions, runs=options.runs)
    cache = options.cache or cache_folder() / "evaluation"
    vectors = Vectors(embeddings, name=options.embedding_model, folder=cache)
    settings = {
        "data": data_facts(dataset),
        "systems": {system.name: system.settings() for system in systems},
        "budgets": list(budgets),
        "runs": options.runs,
        "model": options.model,
        "index_model": options.index_model,
        "prompts": wording.settings(),
        "answer_style": style,
        "temperature": None if options.offline else options.temperature,
        "max_reply": options.max_reply,
        "window": options.window,
        "embedding_model": options.embedding_model,
        "tokenizer": resolve_token_counter(None).name,
        "seed": options.seed,
        "versions": _versions(options),
    }
    model: Model = OfflineReader()
    if not options.offline:
        model = _chat_model(options.model, options)
    for system in systems:
        if getattr(system, "decline", "word") == "tool" and not model.calls_tools:
            raise no_tools("--model", model)
    index_model = options.index_model
    bench = Bench(
        dataset,
        model,
        vectors,
        window=options.window,
        cache=cache / "made",
        seed=options.seed,
        answer_style=style,
        wording=wording,
        index_model=_chat_model(index_model, options) if index_model else model,
    )
    return Evaluation(plan, bench, settings)


def _chat_model(name: str, options: RunOptions) -> ChatModel:
    """Make a client; where the provider takes a seed, it is sent."""
    fields = {"temperature": options.temperature, "max_retries": _RETRIES}
    given = {key: value for key, value in fields.items() if value is not None}
    client = load_chat_model(name, **given)
    if "seed" in type(client).model_fields:
        client = client.model_copy(update={"seed": options.seed})
    return ChatModel(client, name)


def _versions(options: RunOptions) -> dict[str, str]:
    provider = options.model.partition(":")[0].replace("_", "-")
    found = {"python": platform.python_version()}
    for name in (*_PACKAGES, f"langchain-{provider}"):
        try:
            found[name] = version(name)
        except PackageNotFoundError:  # another provider's, or not needed here
            continue
    return found
