"""What `oprag sweep` ends with: how many tokens to use, with what, and why."""

from __future__ import annotations

from oprag.cli.evaluation_display import figure_text
from oprag.evaluation.reports.measuring import number_of, title_of
from oprag.evaluation.reports.summary import (
    ArmSummary,
    Figure,
    Summary,
    SweetSpotSummary,
)
from oprag.evaluation.sweeping import AS_CHEAP

_USE = {
    "dos-rag": "OffsetSentenceSplitter(chunk_size=100), "
    "OrderPreservingRetriever(token_budget={budget})",
    "op-rag": "OffsetTokenSplitter(chunk_size=128), "
    "OrderPreservingRetriever(token_budget={budget})",
    "recall": "OffsetSentenceSplitter(chunk_size=100), "
    'OrderPreservingRetriever(token_budget={budget}, selection="recall")',
    "recommended": "OffsetSentenceSplitter(chunk_size=128) and one of 64 in one index, "
    "OrderPreservingRetriever(token_budget={budget}, bm25=True, "
    'selection="recall")',
    "full-document": "no retrieval: send the whole documents",
    "langchain-default": "LangChain as it is: "
    "RecursiveCharacterTextSplitter(chunk_size=1000, chunk_overlap=200), "
    "as_retriever()",
    "llamaindex-default": "LlamaIndex as it is: SentenceSplitter(), as_query_engine()",
}
"""How one's own code does what a system does."""

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
_FEW = 30
"""Questions below which an interval says little."""


def advice_lines(summary: Summary, stopped: bool = False) -> list[str]:
    """Say what to use and what speaks for it.

    Args:
        summary: Of the sweep.
        stopped: Whether a cap ended it: some arms may then have had easier questions.

    Returns:
        A few lines; one that says why not where the sweep is no ground for advice.
    """
    if stopped:
        return ["", _STOPPED]
    if not summary.sweet_spots:
        only = summary.arms[0].label if len(summary.arms) == 1 else ""
        told = summary.measure and only
        return ["", _ONE_ARM.format(arm=only) if told else _NO_MEASURE]
    spot = summary.sweet_spots[-1]  # of all systems; with one system only, of that
    arms = {arm.label: arm for arm in summary.arms}
    chosen, best = arms[spot.chosen], arms[spot.best]
    if best.measures[summary.measure].mean <= 0:
        return ["", _ALL_ZERO.format(measure=title_of(summary.measure))]
    if chosen.budget is None:
        tokens = f"about {chosen.tokens:,.0f} tokens for a question"
        lines = ["", f"Use {chosen.name}: {tokens}."]
    else:
        lines = ["", f"Use {chosen.budget:,} tokens with {chosen.system}."]
    if (use := _USE.get(chosen.system)) and not chosen.cut:
        lines.append(f"  In your code: {use.format(budget=chosen.budget)}")
    return lines + _evidence(summary, spot, chosen, best)


def _evidence(
    summary: Summary, spot: SweetSpotSummary, chosen: ArmSummary, best: ArmSummary
) -> list[str]:
    measure, behind = summary.measure, spot.difference
    name = title_of(measure)
    figure = chosen.measures[measure]
    asked = _asked(summary, figure)
    lines = [f"  Why: {name} {figure_text(figure)} on {asked}."]
    if spot.chosen == spot.best:
        cheaper = any(arm.tokens * AS_CHEAP < chosen.tokens for arm in summary.arms)
        worse = "; everything that takes less did measurably worse" if cheaper else ""
        lines.append(f"  Nothing did better{worse}.")
    else:
        lines.append(
            f"  The best ({best.label}) has {figure_text(best.measures[measure])} for "
            f"{best.tokens:,.0f} tokens instead of {chosen.tokens:,.0f}. On the same "
            f"questions the difference is {behind.mean:+.3f} "
            f"[{behind.low:+.3f}, {behind.high:+.3f}]: not significant; worse on "
            f"{behind.worse:,}, better on {behind.better:,} of {behind.questions:,}."
        )
        if behind.low < 0:
            lines.append(
                f"  Up to {-behind.low:.3f} may be lost: more questions narrow this."
            )
    if figure.questions < _FEW:
        are = "is" if figure.questions == 1 else "are"
        lines.append(
            f"  {number_of(figure.questions, 'question')} {are} few: take this for a "
            f"first hint, and sweep again with {_FEW} or more."
        )
    return lines


def _asked(summary: Summary, figure: Figure) -> str:
    """Documents are the summary's: a figure's are groups, "all of them" being one."""
    measured = (
        "" if figure.questions == summary.questions else f"{figure.questions:,} of "
    )
    questions = number_of(summary.questions, "question")
    return f"{measured}{questions} about {number_of(summary.documents, 'document')}"
