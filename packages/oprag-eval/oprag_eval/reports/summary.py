"""The results of a run, as plain values: the content of `summary.json`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from oprag_eval.models import OFFLINE
from oprag_eval.statistics import Comparison, Figure

_SIGNIFICANT = 0.05


@dataclass(frozen=True)
class ArmSummary:
    """One system at one budget."""

    system: str
    budget: int | None
    questions: int
    """Questions that it answered or declined in at least one run."""
    answers: int
    """Answers of all runs, the declining ones included."""
    missing: int
    """Answers that are not there: they failed, or the run is not complete."""
    declined: int
    """Answers that decline. They are scored, as wrong unless the set says that
    the question is unanswerable."""
    measures: Mapping[str, Figure]
    """Measures that fit no question of the arm are absent."""
    context_tokens: float
    """Mean tokens of the context of the last call."""
    input_tokens: float
    """Mean input tokens of a question, over all its calls."""
    output_tokens: float
    index_tokens: int
    """Input and output tokens of the objects made of the documents beforehand."""
    estimated: bool
    """Whether some tokens were counted here and not reported by the provider."""
    cost: float | None
    """Mean cost of a question; None without a price."""
    index_cost: float | None
    """Cost of the things made beforehand; None without a price."""
    read_whole: int = 0
    """Answers for which the full documents were read whole."""
    cut: int = 0
    """Answers for which the window did not take them whole."""

    @property
    def label(self) -> str:
        """Its name in a table."""
        return arm_label(self.system, self.budget, cut=bool(self.cut))

    @property
    def name(self) -> str:
        """The name of its system, with a remark if documents were cut."""
        return arm_label(self.system, None, cut=bool(self.cut))

    @property
    def tokens(self) -> float:
        """The tokens that quality is drawn against.

        Input tokens; those of the context if a reader takes no prompt.
        """
        return self.input_tokens or self.context_tokens


@dataclass(frozen=True, kw_only=True)
class Difference(Comparison):
    """Two arms on the same questions."""

    first: str
    first_tokens: float
    second: str
    second_tokens: float
    p_adjusted: float | None = None
    """Corrected for the number of comparisons, see `adjusted`; None for one that was
    made after looking at the scores, as with the best."""

    @property
    def significant(self) -> bool:
        """Whether it is no accident, of all comparisons that are made."""
        return self.p_adjusted is not None and self.p_adjusted < _SIGNIFICANT


@dataclass(frozen=True)
class SweetSpot:
    """The smallest arm that is shown to be as good as the best, see `sweet_spot`."""

    chosen: str | None
    """Label of the arm. None: it is not known."""
    best: str
    """The arm that scored highest."""
    at_most_behind: float
    """With 90 % confidence the chosen arm is at most so much below the best one; if
    none is chosen, the one that scored highest so far."""
    margin: float | None = None
    """The margin that it keeps; None if none is chosen."""
    difference: Difference | None = None
    """The chosen minus the best, over questions on these documents; None if they
    are one, or none is chosen."""
    needed: int | None = None
    """If none is chosen: the questions that would show one to be as good, if they
    were answered like these; None if 1,000 would not."""


@dataclass(frozen=True)
class Summary:
    """Everything that the tables, plots and the page show."""

    dataset: str
    questions: int
    documents: int
    measure: str
    """The measure that arms are compared by; empty if the set has none."""
    measures: tuple[str, ...]
    """All measures that are shown, that one first."""
    unit: str
    """The units that intervals are over: documents or questions."""
    groups: int
    """The number of them."""
    settings: Mapping[str, Any]
    """The settings in `run.json`."""
    arms: tuple[ArmSummary, ...]
    comparisons: tuple[Difference, ...] = ()
    sweet_spot: SweetSpot | None = None
    """None if there is nothing to choose from."""
    notes: tuple[str, ...] = ()
    """Notes for the reader: differences from the papers, missing answers."""
    stopped: bool = False
    """Whether a cap ended the run before everything was asked."""
    advice: tuple[str, ...] = ()
    """The advice, then its reasons: sentences for page, table and terminal."""
    line: str = ""
    """The advised setting as a line of Python; empty if there is none."""

    @property
    def offline(self) -> bool:
        """Whether no language model was asked."""
        return bool(self.settings.get("model") == OFFLINE)


def arm_label(system: str, budget: int | None, *, cut: bool = False) -> str:
    """Name an arm: `dos-rag, 1,500`; `full-document, cut` if a window cut it."""
    name = f"{system}, cut" if cut else system
    return name if budget is None else f"{name}, {budget:,}"
