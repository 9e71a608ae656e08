"""The advice of a run, with reasons: sentences for the page and the terminal."""

from __future__ import annotations

from oprag_eval.reports.comparison import AS_CHEAP, CONFIDENCE, MARGIN
from oprag_eval.reports.summary import ArmSummary, Summary, SweetSpot
from oprag_eval.reports.tables import figure_text, number_of, title_of
from oprag_eval.statistics import Figure

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
_AS_GOOD = (
    f"at most {100 * MARGIN:g} points worse than the best, with {CONFIDENCE:.0%} "
    "confidence"
).replace("%", " %")


def advice_of(summary: Summary) -> tuple[str, ...]:
    """Say what to use and what speaks for it.

    Returns:
        The advice, then its reasons, a sentence or some each; one line that says why
        not where the run is no ground for advice.
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
        return (_ALL_ZERO.format(measure=title_of(summary.measure)),)
    if spot.chosen is None:
        return (
            "Cannot tell: it takes more questions, on more documents.",
            f"No setting is shown to be {_AS_GOOD}.",
            (
                f"Highest so far: {best.label}, with {_scored(summary, best)}. It may "
                f"be {100 * spot.at_most_behind:.1f} points below another."
            ),
        )
    return _use(summary, spot, arms[spot.chosen], best)


def _use(
    summary: Summary, spot: SweetSpot, chosen: ArmSummary, best: ArmSummary
) -> tuple[str, ...]:
    if chosen.budget is None:
        use = f"Use {chosen.name}: about {chosen.tokens:,.0f} tokens for a question."
    else:
        use = f"Use {chosen.budget:,} tokens with {chosen.system}."
    why = [f"Why: {_scored(summary, chosen)}, {_AS_GOOD}."]
    behind = spot.difference
    if behind is None:
        why.append("Nothing scored higher.")
    else:
        points = [100 * value for value in (behind.mean, behind.low, behind.high)]
        why.append(
            f"The best, {best.label}, has "
            f"{figure_text(best.measures[summary.measure])} for {best.tokens:,.0f} "
            f"tokens instead of {chosen.tokens:,.0f}. On the same questions the "
            f"difference is {points[0]:+.1f} points [{points[1]:+.1f}, "
            f"{points[2]:+.1f}]; worse on {behind.worse:,}, better on "
            f"{behind.better:,} of {behind.questions:,}."
        )
    measure = summary.measure
    cheaper = [arm for arm in summary.arms if arm.tokens * AS_CHEAP < chosen.tokens]
    means = [arm.measures[measure].mean for arm in cheaper if measure in arm.measures]
    if means and max(means) < chosen.measures[measure].mean:
        why.append("Nothing that takes fewer tokens scores as high.")
    if chosen.missing:
        why.append(f"{number_of(chosen.missing, 'answer')} of it failed.")
    return (use, *why)


def _scored(summary: Summary, arm: ArmSummary) -> str:
    figure = arm.measures[summary.measure]
    name = title_of(summary.measure)
    return f"{name} {figure_text(figure)} on {_asked(summary, figure)}"


def _asked(summary: Summary, figure: Figure) -> str:
    """Documents are the summary's: a figure's are groups, "all of them" being one."""
    measured = (
        "" if figure.questions == summary.questions else f"{figure.questions:,} of "
    )
    questions = number_of(summary.questions, "question")
    return f"{measured}{questions} about {number_of(summary.documents, 'document')}"
