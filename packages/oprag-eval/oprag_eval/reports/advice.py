"""The advice of a run, with reasons: sentences for the page and the terminal."""

from __future__ import annotations

from collections.abc import Iterator

from oprag_eval.reports.summary import ArmSummary, Difference, Summary, SweetSpot
from oprag_eval.reports.sweet_spot import AS_CHEAP, CONFIDENCE, MARGINS
from oprag_eval.reports.tables import HELD, figure_text, heading_of, number_of
from oprag_eval.statistics import FEWEST_PAIRS

_NO_MEASURE = (
    "No advice: there is nothing to measure by. Give answers, options or evidence to "
    "all questions."
)
_ONE_ARM = (
    "No advice: only {arm} was answered, and there is nothing to compare it with. Give "
    "several budgets or systems."
)
_ALL_ZERO = (
    "No advice: nothing did better than 0 by {measure}. Look at the answers in the "
    "report, and whether the questions and their answers fit the documents."
)
_STOPPED = (
    "No advice: the run was stopped before everything was asked. Give the same command "
    "with a higher cap to continue it."
)
_SURE = f"with {CONFIDENCE:.0%} confidence".replace("%", " %")
_UNTOUCHED = ("langchain-default", "llamaindex-default")
"""Systems that people have already, and want to compare their own with."""


def advice_of(summary: Summary) -> tuple[str, ...]:
    """Return the advised setting, and the reasons for it.

    Returns:
        The advice, then its reasons, a sentence or some each. If the run is no ground
        for advice, one line that says why.
    """
    if summary.stopped:
        return (_STOPPED,)
    spot = summary.sweet_spot
    if spot is None:
        only = summary.arms[0].label if len(summary.arms) == 1 else ""
        measured = summary.measure and only
        return (_ONE_ARM.format(arm=only) if measured else _NO_MEASURE,)
    arms = {arm.label: arm for arm in summary.arms}
    best = arms[spot.best]
    if best.measures[summary.measure].mean <= 0:
        return (_ALL_ZERO.format(measure=heading_of(summary.measure, summary)),)
    if spot.chosen is None:
        return tuple(_cannot_tell(summary, spot, best))
    return tuple(_use(summary, spot, arms[spot.chosen], best))


def _use(
    summary: Summary, spot: SweetSpot, chosen: ArmSummary, best: ArmSummary
) -> Iterator[str]:
    if chosen.budget is None:
        yield f"Use {chosen.name}: about {chosen.tokens:,.0f} tokens for a question."
    else:
        yield f"Use {chosen.budget:,} tokens with {chosen.system}."
    yield (
        f"Seen: {_scored(summary, chosen)} in {chosen.tokens:,.0f} tokens. On "
        f"{_documents(summary)} that is at most {100 * (spot.margin or 0):g} points "
        f"worse than the best, {_SURE}."
    )
    if spot.difference is None:
        yield "Nothing scored higher."
    else:
        yield (
            f"The best, {best.label}: {_short(summary, best)} in {best.tokens:,.0f} "
            f"tokens. {_difference(spot.difference)}"
        )
    measure = summary.measure
    cheaper = [arm for arm in summary.arms if arm.tokens * AS_CHEAP < chosen.tokens]
    means = [arm.measures[measure].mean for arm in cheaper if measure in arm.measures]
    if means and max(means) < chosen.measures[measure].mean:
        yield "Nothing that takes fewer tokens scores as high."
    yield from _beside(summary, {chosen.label, best.label})
    if chosen.missing:
        yield f"{number_of(chosen.missing, 'answer')} of it failed."


def _cannot_tell(summary: Summary, spot: SweetSpot, best: ArmSummary) -> Iterator[str]:
    asked = best.measures[summary.measure].questions
    widest = f"at most {100 * MARGINS[-1]:g} points worse than the best"
    yield "Cannot tell which is best."
    few = "so few questions tell no two settings apart, and " if _few(asked) else ""
    yield (
        f"Why: on {number_of(asked, 'question')} {few}no setting is shown to be "
        f"{widest}, {_SURE}."
    )
    yield (
        f"Seen: {best.label} scored highest, {_scored(summary, best)} in "
        f"{best.tokens:,.0f} tokens. It may be {100 * spot.at_most_behind:.1f} points "
        "below another."
    )
    yield from _beside(summary, {best.label})
    fewer = "Fewer settings, by --systems and --budgets, need fewer."
    if spot.needed is None:
        yield f"To do: ask more questions; from these it is not known how many. {fewer}"
        return
    yield (
        f"To do: ask {spot.needed - asked:,} more questions. If {spot.needed:,} are "
        f"answered like these, one setting is shown to be good enough. {fewer}"
    )


def _few(questions: int) -> bool:
    return questions < FEWEST_PAIRS


def _difference(found: Difference) -> str:
    counts = (
        f"worse on {found.worse:,}, better on {found.better:,} of {found.questions:,}"
    )
    text = f"On the same questions the difference is {100 * found.mean:+.1f} points"
    if not _few(found.questions):
        text += f" [{100 * found.low:+.1f}, {100 * found.high:+.1f}]"
    return f"{text}; {counts}."


def _beside(summary: Summary, told: set[str]) -> Iterator[str]:
    """Yield a sentence on each system that people have already, if it was asked."""
    for arm in summary.arms:
        known = arm.system in _UNTOUCHED and arm.label not in told
        if known and summary.measure in arm.measures:
            yield (
                f"Beside it, {arm.label}: {_short(summary, arm)} in {arm.tokens:,.0f} "
                "tokens."
            )


def _scored(summary: Summary, arm: ArmSummary) -> str:
    """Write a score with the questions and documents that it is of."""
    figure = arm.measures[summary.measure]
    measured = (
        "" if figure.questions == summary.questions else f"{figure.questions:,} of "
    )
    questions = number_of(summary.questions, "question")
    about = f"{measured}{questions} about {number_of(summary.documents, 'document')}"
    if summary.measure in HELD:
        return f"{_short(summary, arm)} ({figure_text(figure)}), of {about},"
    name = heading_of(summary.measure, summary)
    return f"{name} {figure_text(figure)} on {about}"


def _short(summary: Summary, arm: ArmSummary) -> str:
    figure = arm.measures[summary.measure]
    thing = HELD.get(summary.measure)
    if thing is None:
        return f"{100 * figure.mean:.2f}"
    held = round(figure.mean * figure.questions)
    return f"its passages hold the {thing} {held:,} of {figure.questions:,} times"


def _documents(summary: Summary) -> str:
    if summary.documents == 1:
        return "this document"
    return f"these {summary.documents:,} documents"
