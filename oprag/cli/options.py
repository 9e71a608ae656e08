"""Options that the commands share, spelt and explained the same everywhere."""

from __future__ import annotations

from enum import Enum
from pathlib import Path
from typing import Annotated

import typer


class ReadingOrder(str, Enum):
    """What `--order` takes."""

    DOCUMENT = "document"
    SCORE = "score"


DEFAULT_EMBEDDING_MODEL = "sentence-transformers/all-MiniLM-L6-v2"
DEFAULT_TOKEN_BUDGET = 4_000

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

Files = Annotated[
    list[Path],
    typer.Argument(
        metavar="FILE",
        help="Text, Markdown, HTML and PDF files, or folders of them.",
        show_default=False,
    ),
]
Question = Annotated[
    str,
    typer.Argument(
        metavar="QUESTION", help="In quotes, after the files.", show_default=False
    ),
]
WhichOrder = Annotated[
    ReadingOrder,
    typer.Option(
        "--order", help="As the passages stand in their documents, or best first."
    ),
]
Merge = Annotated[
    bool,
    typer.Option("--merge/--no-merge", help="Join chunks that touch into one passage."),
]
