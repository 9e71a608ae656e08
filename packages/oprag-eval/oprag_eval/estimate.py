"""An estimate of the calls and tokens of a run, before anything is sent.

A sample of the questions is asked of a stand-in that counts every prompt and gives
fixed replies: once it always answers, once it always declines and looks everything up.
These are the least and the most that Self-Route and ReadAgent cost.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from oprag.calls import DECLINE_TOOL, SENTINEL, TokenUsage
from oprag.errors import OpragError
from oprag.tokens import TokenCounter
from oprag_eval.bench import Bench
from oprag_eval.data import Question
from oprag_eval.model_texts import WORDS_PER_TOKEN
from oprag_eval.models import Call, CallKind, Completion, Model
from oprag_eval.running.runner import Arm, Plan

_OF_DOCUMENTS: frozenset[CallKind] = frozenset({"gist", "page_break", "summary"})
"""Made once for a document, whatever is asked of it."""
_REPLY_TOKENS: dict[CallKind, int] = {
    "explained_choice": 60,
    "long_answer": 100,
    "short_answer": 10,
}
_OTHER_REPLY = 20
_GIST_PARTS = 4
"""A gist is taken to have a quarter of its page's words."""


class Taken(NamedTuple):
    """The totals of several calls."""

    usage: TokenUsage = TokenUsage()
    calls: int = 0


def _total(taken: Iterable[Taken]) -> Taken:
    usages, calls = zip(Taken(), *taken, strict=True)
    return Taken(sum(usages, TokenUsage()), sum(calls))


@dataclass(frozen=True)
class RunEstimate:
    """The estimate of a run."""

    systems: Mapping[str, tuple[Taken, Taken]]
    """Totals by name, over all budgets, runs and questions. The first if every first
    reply answers, the second if every reply declines and every page is looked up."""
    sampled: int
    """Questions of the sample."""
    questions: int
    """Questions of the plan, which the figures are for."""
    answers: int
    """Answers of all arms and runs."""
    failed: tuple[str, ...] = ()
    """Why arms cannot answer sampled questions, once for each: `dos-rag, 50: …`."""

    @property
    def low(self) -> Taken:
        """All systems together, at least."""
        return _total(low for low, _ in self.systems.values())

    @property
    def high(self) -> Taken:
        """All systems together, at most."""
        return _total(high for _, high in self.systems.values())


def of_several(estimates: Sequence[RunEstimate]) -> RunEstimate:
    """Add up the totals of the runs of several sets; failures are shown with each."""
    systems = {
        name: (
            _total(each.systems[name][0] for each in estimates),
            _total(each.systems[name][1] for each in estimates),
        )
        for name in estimates[0].systems
    }
    return RunEstimate(
        systems,
        sum(estimate.sampled for estimate in estimates),
        sum(estimate.questions for estimate in estimates),
        sum(estimate.answers for estimate in estimates),
    )


async def estimate_run(
    plan: Plan,
    bench: Bench,
    *,
    sample: int = 10,
    advanced: Callable[[int, int], None] = lambda _done, _all: None,
) -> RunEstimate:
    """Estimate the calls and tokens of a plan. No model is asked; texts are embedded.

    Answers are taken to be short (20 tokens; with an explanation 60, a long answer of
    LongRAG 100), summaries as long as they may be, gists a quarter of their pages.
    Calls for a question are scaled from the sample to all questions and runs, calls for
    a document from the sample's documents to all.

    The sample is spread evenly over the plan's questions. Texts made for it are not
    kept; vectors are. `advanced` is called with each step in which texts are embedded,
    and the number of all.
    """
    asked_of = plan.questions
    count = min(sample, len(asked_of))
    questions = [asked_of[n * len(asked_of) // count] for n in range(count)]
    sampled = max(1, bench.dataset.count_documents(questions))
    documents = bench.dataset.count_documents(plan.questions) / sampled
    runs = 1 + max(arm.run for arm in plan.arms)
    asked = len(plan.questions) / len(questions) * runs
    failed: dict[str, str] = {}
    systems: dict[str, tuple[Taken, Taken]] = {}
    steps = len({arm.system.name for arm in plan.arms}) * count
    for name, arms in itertools.groupby(plan.arms, key=lambda arm: arm.system.name):
        first_runs = [arm for arm in arms if arm.run == 0]
        bounds = []
        for declines in (False, True):
            counting = _Counting(bench.model.name, bench.counter, declines=declines)
            trial = bench.trial(counting)
            for place, question in enumerate(questions, 1):
                failed = await _ask(first_runs, question, trial) | failed
                if not declines:  # the second time nothing is embedded
                    advanced(len(systems) * count + place, steps)
            usage = times(counting.asked, asked) + times(counting.made, documents)
            calls = counting.calls[False] * asked + counting.calls[True] * documents
            bounds.append(Taken(usage, round(calls)))
        systems[name] = (bounds[0], bounds[1])
    why = tuple(f"{arm}: {why}" for arm, why in failed.items())
    return RunEstimate(systems, count, len(plan.questions), len(plan), why)


class _Counting(Model):
    """Gives fixed replies and counts."""

    def __init__(self, name: str, count: TokenCounter, *, declines: bool) -> None:
        self.name = name
        self.count = count
        self._declines = declines
        self.asked = self.made = TokenUsage()
        self.calls = Counter[bool]()
        """Calls, by whether they made something of documents."""

    async def complete(self, call: Call) -> Completion:
        """Reply like a model that always declines, or never does."""
        text = self._text(call)
        most = call.max_output_tokens
        said = max(self.count(text), _REPLY_TOKENS.get(call.kind, _OTHER_REPLY))
        said = said if most is None else min(said, most)
        usage = TokenUsage(self.count(call.sent), said, estimated=True)
        if making := call.kind in _OF_DOCUMENTS:
            self.made += usage
        else:
            self.asked += usage
        self.calls[making] += 1
        if call.tool and self._declines:
            return Completion("", usage, (DECLINE_TOOL["name"],))
        return Completion(text, usage)

    def _text(self, call: Call) -> str:
        if call.kind in {"gist", "summary"}:
            words = str(call.facts["text"]).split()
            most = len(words) // _GIST_PARTS
            if call.max_output_tokens is not None:
                most = int(call.max_output_tokens * WORDS_PER_TOKEN)
            return " ".join(words[: max(1, most)])
        if call.kind == "page_break":
            return f"<{len(call.facts['breaks'])}>"
        if call.kind == "look_up":
            pages = range(1, 1 + (call.facts["pages"] if self._declines else 1))
            return f"[{', '.join(map(str, pages))}]"
        return SENTINEL if self._declines else "A"


def times(usage: TokenUsage, factor: float) -> TokenUsage:
    """Return a multiple, or a part, of an estimate."""
    return TokenUsage(
        round(usage.input_tokens * factor),
        round(usage.output_tokens * factor),
        estimated=True,
    )


async def _ask(arms: Sequence[Arm], question: Question, bench: Bench) -> dict[str, str]:
    """Ask a question of all arms; return by arm why it cannot be asked."""
    failed: dict[str, str] = {}
    for arm in arms:
        try:
            await arm.system.attempt(question, arm.budget, bench)
        except OpragError as error:
            budget = "" if arm.budget is None else f", {arm.budget:,}"
            failed[f"{arm.system.name}{budget}"] = error.message
    return failed
