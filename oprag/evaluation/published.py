"""Figures that papers published, to be drawn beside one's own.

They are the papers' figures with the papers' models, embeddings and splitting: a
reference, not a baseline that one's own run was compared with.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from oprag.errors import InvalidOptionError

_OP_RAG = "OP-RAG, arXiv:2409.01666"
_DOS_RAG = "DOS RAG, arXiv:2506.03989"
_LONGRAG = "LongRAG, arXiv:2406.15319"


@dataclass(frozen=True)
class Published:
    """One figure of a paper."""

    dataset: str
    """As `data.load` takes it."""
    measure: str
    """As `scores.jsonl` names it."""
    model: str
    """The reader."""
    method: str
    tokens: int | None
    """The budget, or the mean tokens that were read; None where it is not told."""
    value: float
    """From 0 to 1, as our measures are."""
    source: str
    """The paper."""


def published_for(
    dataset: str, *, model: str = "", measure: str = ""
) -> tuple[Published, ...]:
    """Find the figures of a set.

    Args:
        dataset: As `data.load` takes it.
        model: Only this reader's, by the paper's name without regard to case;
            empty: all readers'.
        measure: Only of this measure; empty: of all.

    Returns:
        In the order of `PUBLISHED`; empty where the papers have none for the set.

    Raises:
        InvalidOptionError: The set has figures, but none of this reader.
    """
    found = [figure for figure in PUBLISHED if figure.dataset == dataset]
    models = list(dict.fromkeys(figure.model for figure in found))
    if model and found and model.lower() not in {name.lower() for name in models}:
        message = (
            f"There are no published figures of {model!r} on {dataset}. There are "
            f"some of {', '.join(models)}."
        )
        raise InvalidOptionError(message, option="published", value=model)
    return tuple(
        figure
        for figure in found
        if model.lower() in ("", figure.model.lower())
        and measure in ("", figure.measure)
    )


def _curve(
    dataset: str,
    measure: str,
    model: str,
    budgets: Sequence[int],
    curves: dict[str, Sequence[float]],
) -> Iterator[Published]:
    for method, values in curves.items():
        for budget, value in zip(budgets, values, strict=True):
            share = round(value / 100, 6)
            yield Published(dataset, measure, model, method, budget, share, _DOS_RAG)


def _points(
    dataset: str,
    measure: str,
    source: str,
    points: Sequence[tuple[str, str, int | None, float]],
) -> Iterator[Published]:
    for model, method, tokens, value in points:
        share = round(value / 100, 6)
        yield Published(dataset, measure, model, method, tokens, share, source)


_FULL = "full document"
_LLAMA = "Llama-3.1-70B"
_GEMINI = "Gemini-1.5-Pro"
_LONG_BUDGETS = (1_500, 5_000, 10_000, 20_000, 30_000, 40_000)
_SHORT_BUDGETS = (500, 1_000, 1_500, 2_000, 4_000, 8_000)
_EN_QA = "infinitebench/en.qa"
_EN_MC = "infinitebench/en.mc"

PUBLISHED: tuple[Published, ...] = (
    *_points(
        _EN_QA,
        "token_f1",
        _OP_RAG,
        [
            (_LLAMA, _FULL, 117_000, 34.26),
            ("GPT-4o", _FULL, 117_000, 32.36),
            (_GEMINI, _FULL, 196_000, 43.08),
            ("GPT-4o", "Self-Route", 85_000, 34.95),
            (_GEMINI, "Self-Route", 83_000, 37.51),
            (_LLAMA, "OP-RAG", 16_000, 44.43),
            (_LLAMA, "OP-RAG", 24_000, 45.45),
            (_LLAMA, "OP-RAG", 48_000, 47.25),
            (_LLAMA, "Vanilla RAG", 16_000, 38.40),
        ],
    ),
    *_points(
        _EN_MC,
        "choice_match",
        _OP_RAG,
        [
            (_LLAMA, _FULL, 117_000, 71.62),
            ("GPT-4o", _FULL, 117_000, 78.42),
            (_GEMINI, _FULL, 188_000, 85.57),
            ("GPT-4o", "Self-Route", 62_000, 77.29),
            (_GEMINI, "Self-Route", 62_000, 76.86),
            (_LLAMA, "OP-RAG", 16_000, 84.72),
            (_LLAMA, "OP-RAG", 24_000, 88.65),
            (_LLAMA, "OP-RAG", 48_000, 85.59),
            (_LLAMA, "Vanilla RAG", 24_000, 81.22),
        ],
    ),
    *_curve(
        _EN_MC,
        "choice_match",
        "GPT-4o",
        _LONG_BUDGETS,
        {
            "Vanilla RAG": (76.2, 82.6, 86.0, 86.9, 87.8, 86.6),
            "DOS RAG": (75.6, 85.9, 90.0, 91.4, 93.1, 91.9),
            "RAPTOR": (73.8, 79.0, 82.4, 84.4, 85.0, 85.9),
        },
    ),
    *_points(
        _EN_MC,
        "choice_match",
        _DOS_RAG,
        [
            ("GPT-4o", "ReadAgent", 86_000, 90.3),
            ("GPT-4o-mini", "ReadAgent", None, 76.2),
        ],
    ),
    *_curve(
        _EN_MC,
        "choice_match",
        "GPT-4o-mini",
        _LONG_BUDGETS,
        {
            "Vanilla RAG": (69.9, 73.9, 76.0, 77.0, 77.8, 77.2),
            "DOS RAG": (68.9, 78.9, 84.1, 83.6, 82.5, 81.6),
            "RAPTOR": (65.6, 71.6, 75.0, 75.2, 75.6, 75.3),
        },
    ),
    *_curve(
        "quality",
        "choice_match",
        "GPT-4o",
        _SHORT_BUDGETS,
        {
            "Vanilla RAG": (73.0, 79.4, 82.0, 82.8, 85.0, 85.9),
            "DOS RAG": (74.1, 81.7, 84.8, 86.4, 88.9, 90.4),
            "RAPTOR": (71.8, 77.0, 79.6, 80.9, 83.7, 84.9),
        },
    ),
    *_curve(
        "quality",
        "choice_match",
        "GPT-4o-mini",
        _SHORT_BUDGETS,
        {
            "Vanilla RAG": (66.5, 71.3, 73.7, 74.7, 75.9, 76.6),
            "DOS RAG": (68.2, 73.1, 75.9, 77.1, 79.0, 81.2),
            "RAPTOR": (63.9, 69.7, 71.0, 72.9, 75.3, 76.3),
        },
    ),
    *_points(
        "quality",
        "choice_match",
        _DOS_RAG,
        [
            ("GPT-4o", "ReadAgent", 4_200, 87.4),
            ("GPT-4o", _FULL, 5_800, 91.2),
            ("GPT-4o-mini", "ReadAgent", 4_800, 79.7),
            ("GPT-4o-mini", _FULL, 5_800, 81.0),
        ],
    ),
    *_curve(
        "narrativeqa",
        "token_f1",
        "GPT-4o-mini",
        _LONG_BUDGETS,
        {
            "Vanilla RAG": (15.1, 17.9, 18.8, 19.2, 19.4, 19.5),
            "DOS RAG": (16.3, 20.1, 21.2, 22.1, 22.1, 22.0),
            "RAPTOR": (10.5, 14.2, 15.9, 17.3, 17.8, 17.9),
        },
    ),
    *_points(
        "narrativeqa",
        "token_f1",
        _DOS_RAG,
        [("GPT-4o-mini", "ReadAgent", 34_000, 21.0)],
    ),
    *(
        figure
        for measure, values in {
            "bleu_1": (21.4, 22.6, 20.8, 22.2),
            "bleu_4": (4.5, 5.0, 4.2, 4.8),
            "rouge_l": (19.8, 22.5, 17.6, 21.4),
            "meteor": (26.3, 29.6, 23.8, 28.7),
        }.items()
        for figure in _points(
            "narrativeqa",
            measure,
            _DOS_RAG,
            [
                ("GPT-4o-mini", method, tokens, value)
                for (method, tokens), value in zip(
                    {
                        "Vanilla RAG": 20_000,
                        "DOS RAG": 20_000,
                        "RAPTOR": 20_000,
                        "ReadAgent": 34_000,
                    }.items(),
                    values,
                    strict=True,
                )
            ],
        )
    ),
    *_points(
        "longrag/nq",
        "longrag_match",
        _LONGRAG,
        [("GPT-4o", "LongRAG", 25_000, 62.7), (_GEMINI, "LongRAG", 25_000, 58.6)],
    ),
    *_points(
        "longrag/hotpot_qa",
        "longrag_match",
        _LONGRAG,
        [("GPT-4o", "LongRAG", 29_000, 64.3), (_GEMINI, "LongRAG", 29_000, 57.5)],
    ),
)
"""By set, measure and reader, in the order of the papers.

∞Bench En.QA and En.MC: the rows of whole contexts and Self-Route stand in OP-RAG's
table as well; its text gives 34.32 for Llama's whole context, and Self-Route's paper
76.42 for GPT-4o's on En.MC. OP-RAG's score order was measured with 128 chunks (En.QA)
and 192 (En.MC) of 128 tokens.
"""
