"""Options that `oprag evaluate` and `oprag sweep` share, and how they are read."""

from __future__ import annotations

import re
from enum import Enum
from pathlib import Path
from typing import Annotated

import typer

from oprag.calls import Price
from oprag.cli.telling import told

DEFAULT_MODEL = "offline"

_NUMBER = re.compile(r"\s*\d*\.?\d+\s*")
_PRICE_PARTS = (2, 3)


class Style(str, Enum):
    """What `--answer-style` takes."""

    LETTER = "letter"
    BRACKETS = "brackets"


Reader = Annotated[
    str,
    typer.Option(
        "--model",
        metavar="PROVIDER:MODEL|offline",
        help="The chat model, such as openai:gpt-4o-mini; or offline, which gives the "
        "best-matching sentence and is not a language model.",
    ),
]
AskedStyle = Annotated[
    Style,
    typer.Option(
        "--answer-style",
        help="How options are answered: by letter, or as in DOS RAG with an "
        "explanation and [[n]]; open questions then in 1 to 20 words.",
    ),
]
Runs = Annotated[
    int, typer.Option("--runs", min=1, help="How often each question is asked.")
]
LimitQuestions = Annotated[
    int | None,
    typer.Option("--limit-questions", min=1, help="Only the first questions."),
]
Concurrency = Annotated[
    int, typer.Option("--concurrency", min=1, help="Questions asked at a time.")
]
MaxTokens = Annotated[
    int | None,
    typer.Option(
        "--max-tokens",
        min=1,
        help="Stop before prompts and replies together pass this many tokens.",
    ),
]
MaxCost = Annotated[
    float | None,
    typer.Option("--max-cost", min=0, help="Stop before the cost passes this."),
]
Prices = Annotated[
    str,
    typer.Option(
        "--price",
        metavar="INPUT,OUTPUT",
        help="Price of a million tokens, in your currency: input,output or "
        "input,cached input,output.",
        show_default=False,
    ),
]
Window = Annotated[
    int | None,
    typer.Option(
        "--window", min=1, help="Tokens that the model takes, prompt and reply."
    ),
]
AllowedReply = Annotated[
    int, typer.Option("--max-reply", min=1, help="Tokens that a reply may have.")
]
Temperature = Annotated[
    str,
    typer.Option(
        "--temperature", help="Of the chat model; default leaves it to the provider."
    ),
]
Seed = Annotated[
    int, typer.Option("--seed", help="Of everything that is drawn.", min=0)
]
DryRun = Annotated[
    bool,
    typer.Option(
        "--dry-run", help="Say what it would take, and send and write nothing."
    ),
]
Cache = Annotated[
    Path | None,
    typer.Option(
        "--cache",
        help="Folder for vectors and what models make of documents; without it, one "
        "in your cache folder.",
    ),
]


def read_budgets(text: str) -> list[int]:
    """Read `500,1000` as numbers of tokens, ascending, each once.

    Raises:
        typer.Exit: One is no number from 1 on.
    """
    parts = text.replace(",", " ").split()
    if not parts or not all(part.isdecimal() and int(part) for part in parts):
        message = f"--budgets {text!r}: it takes numbers of tokens, such as 500,1000."
        raise told(message, code=2)
    return sorted({int(part) for part in parts})


def read_specs(texts: list[str]) -> list[str]:
    """Read systems, separated by commas or blanks: `dos-rag:size=200,name=a,op-rag`.

    A part with `=` and no colon before it is a setting of the system before.
    """
    specs: list[str] = []
    for part in re.split(r"[,\s]+", " ".join(texts).strip(", \n\t")):
        name, equals, _ = part.partition("=")
        if equals and ":" not in name and specs:
            specs[-1] += f",{part}"
        elif part:
            specs.append(part)
    return specs


def read_price(text: str) -> Price | None:
    """Read `2.5,10` or `2.5,1.25,10`; empty: no price.

    Raises:
        typer.Exit: It is not two or three numbers from 0 on.
    """
    if not text:
        return None
    parts = text.split(",")
    if len(parts) not in _PRICE_PARTS or not all(map(_NUMBER.fullmatch, parts)):
        message = (
            f"--price {text!r}: it takes the prices of a million tokens, input,output "
            "or input,cached input,output, such as 2.5,10."
        )
        raise told(message, code=2)
    return Price(float(parts[0]), float(parts[-2]), float(parts[-1]))


def read_temperature(text: str) -> float | None:
    """Read a number from 0 on; `default`: None, it is left to the provider.

    Raises:
        typer.Exit: It is neither.
    """
    if text == "default":
        return None
    if not _NUMBER.fullmatch(text):
        raise told(f"--temperature {text!r}: it takes a number, or default.", code=2)
    return float(text)
