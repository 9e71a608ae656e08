"""Options that the commands share, spelt and explained the same everywhere."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

__all__ = [
    "DEFAULT_EMBEDDING_MODEL",
    "AsJson",
    "Directory",
    "EmbeddingModel",
    "MostChunks",
    "TokenBudget",
]

DEFAULT_EMBEDDING_MODEL = "sentence-transformers/all-MiniLM-L6-v2"

TokenBudget = Annotated[
    int, typer.Option(min=1, help="Tokens that the passages may take together.")
]
MostChunks = Annotated[
    int | None,
    typer.Option("--k", min=1, help="Chunks at most; without it, as many as fit."),
]
EmbeddingModel = Annotated[
    str,
    typer.Option(help="A sentence-transformers model: its name, or its folder."),
]
Directory = Annotated[
    Path | None,
    typer.Option(
        help="Folder to keep the index in; without it, one in your cache folder."
    ),
]
AsJson = Annotated[
    bool, typer.Option("--json", help="Print JSON instead, for other programs.")
]
