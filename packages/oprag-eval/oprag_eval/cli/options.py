"""The options of a run, which `oprag evaluate` and `oprag sweep` share."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import typer

from oprag.calls import Price
from oprag.errors import ModelCallError
from oprag_cli.messages import note, stop
from oprag_cli.options import DEFAULT_EMBEDDING_MODEL, EmbeddingModel
from oprag_eval.models import OFFLINE

_NUMBER = re.compile(r"\s*\d*\.?\d+\s*")
_PRICE_PARTS = (2, 3)


def read_temperature(written: str | float) -> float | None:
    """Read a number from 0 on, or None for `default`, which is left to the provider."""
    text = str(written)
    if text == "default":
        return None
    if not _NUMBER.fullmatch(text):
        raise stop(f"--temperature {text!r}: it takes a number, or default.", code=2)
    return float(text)


def read_price(text: str) -> Price | None:
    """Read `2.5,10` or `2.5,1.25,10`; an empty text is no price."""
    if not text:
        return None
    parts = text.split(",")
    if len(parts) not in _PRICE_PARTS or not all(map(_NUMBER.fullmatch, parts)):
        message = (
            f"--price {text!r}: it takes the prices of a million tokens, input,output "
            "or input,cached input,output, such as 2.5,10."
        )
        raise stop(message, code=2)
    return Price(float(parts[0]), float(parts[-2]), float(parts[-1]))


Systems = Annotated[
    list[str],
    typer.Option(
        metavar="NAME[:KEY=VALUE,…],…",
        help="Systems, separated by commas; `oprag evaluate --list` shows them.",
    ),
]


@dataclass(frozen=True, kw_only=True)
class RunOptions:
    """Options of a run, apart from the data and the systems."""

    model: Annotated[
        str,
        typer.Option(
            metavar="PROVIDER:MODEL|offline",
            help="The chat model, such as openai:gpt-4o-mini; or offline, which gives "
            "the best-matching sentence and is not a language model.",
        ),
    ] = OFFLINE
    answer_style: Annotated[
        Literal["letter", "brackets"],
        typer.Option(
            help="How options are answered: by letter, or as in DOS RAG with an "
            "explanation and [[n]]; open questions then in 1 to 20 words."
        ),
    ] = "letter"
    prompts: Annotated[
        Literal["own", "paper"],
        typer.Option(
            help="Words of the prompts: own; or paper, with the content of the papers' "
            "prompts for the set."
        ),
    ] = "own"
    no_decline: Annotated[
        bool,
        typer.Option(
            "--no-decline",
            help="Do not let the model decline, except where Self-Route goes on.",
        ),
    ] = False
    runs: Annotated[
        int, typer.Option(min=1, help="How often each question is asked.")
    ] = 1
    limit_questions: Annotated[
        int | None,
        typer.Option(min=1, help="Ask only this many questions, from the first."),
    ] = None
    dry_run: Annotated[
        bool,
        typer.Option(
            "--dry-run",
            help="Estimate tokens and cost; ask no model. Vectors are kept.",
        ),
    ] = False
    price: Annotated[
        Price | None,
        typer.Option(
            parser=read_price,
            metavar="INPUT,OUTPUT",
            help="Price of a million tokens, in any currency: input,output or "
            "input,cached input,output.",
            show_default=False,
        ),
    ] = None
    max_tokens: Annotated[
        int | None,
        typer.Option(
            min=1, help="Stop before prompts and replies exceed this many tokens."
        ),
    ] = None
    max_cost: Annotated[
        float | None, typer.Option(min=0, help="Stop before the cost exceeds this.")
    ] = None
    concurrency: Annotated[
        int, typer.Option(min=1, help="Questions asked at a time.")
    ] = 4
    window: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Tokens of the model's context window: prompt and reply together.",
        ),
    ] = None
    max_reply: Annotated[
        int,
        typer.Option(
            min=1, help="Tokens that a reply may have; kept free in --window."
        ),
    ] = 1024
    temperature: Annotated[
        float | None,
        typer.Option(
            parser=read_temperature,
            metavar="NUMBER|default",
            help="Of the chat model; `default`: the provider's own.",
        ),
    ] = 0
    seed: Annotated[int, typer.Option(help="Seed of every random draw.", min=0)] = 42
    embedding_model: EmbeddingModel = DEFAULT_EMBEDDING_MODEL
    cache: Annotated[
        Path | None,
        typer.Option(
            help="Folder that keeps vectors, summaries and gists; without it, one in "
            "your cache folder."
        ),
    ] = None

    @property
    def offline(self) -> bool:
        """Whether no language model is asked."""
        return self.model == OFFLINE

    def check(self) -> None:
        """Refuse impossible options, before anything is loaded."""
        if self.max_cost is not None and self.price is None:
            raise stop("--max-cost needs --price: what a million tokens cost.", code=2)
        if self.dry_run and not self.offline:
            from oprag_cli.chat_models import load_chat_model

            try:
                load_chat_model(self.model)
            except ModelCallError as error:
                note(f"A run would stop here. {error.message}")


def refuse_json_of_estimate(options: RunOptions, *, as_json: bool) -> None:
    """Refuse JSON of a dry run, which has no result."""
    if as_json and options.dry_run:
        raise stop("--json prints results, and --dry-run has none: give one.", code=2)


def read_budgets(text: str) -> list[int]:
    """Read `500,1000` as numbers of tokens, ascending, each once."""
    parts = text.replace(",", " ").split()
    if not parts or not all(part.isdecimal() and int(part) for part in parts):
        message = f"--budgets {text!r}: it takes numbers of tokens, such as 500,1000."
        raise stop(message, code=2)
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
