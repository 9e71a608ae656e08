"""The account of one question, and the warning over many."""

from __future__ import annotations

import copy
import json
import pickle
import threading
import warnings

import pytest

from oprag.calls import Ledger, Price, RungEntry, TokenUsage, as_prices
from oprag.errors import InvalidOptionError, RoutingCostWarning
from oprag.routing import RoutingCostMonitor

PRICES = {"small": (1.0, 0.5, 4.0), "large": (10.0, 1.0, 40.0)}


def routed() -> Ledger:
    """A question that the small model declined and the large one answered."""
    ledger = Ledger(PRICES)
    ledger.record(
        RungEntry("retrieved", "declined", TokenUsage(1_000, 10), "small", 1, 0.5)
    )
    ledger.record(
        RungEntry(
            "full",
            "answered",
            TokenUsage(100_000, 20, cached_tokens=60_000),
            "large",
            1,
            2.0,
            whole=True,
        )
    )
    return ledger


def test_totals_add_up():
    assert routed().usage == TokenUsage(101_000, 30, 60_000)


def test_costs_follow_the_prices():
    ledger = routed()

    small = 1_000 * 1 + 10 * 4
    large = 40_000 * 10 + 60_000 * 1 + 20 * 40
    assert ledger.cost == pytest.approx((small + large) / 1e6)
    assert ledger.long_context_cost == pytest.approx(large / 1e6)


def test_the_rung_that_sent_the_whole_documents_is_the_comparison():
    ledger = routed()

    assert ledger.long_context_usage == TokenUsage(100_000, 20, 60_000)
    assert ledger.token_share == pytest.approx(1.01)


def test_without_that_rung_the_comparison_is_as_told():
    ledger = Ledger(PRICES)
    ledger.record(RungEntry("retrieved", "answered", TokenUsage(1_000, 5), "small", 1))
    assert ledger.long_context_usage is None
    assert ledger.long_context_cost is None
    assert ledger.token_share is None

    ledger.compare_with(TokenUsage(50_000, 5, estimated=True), "large")

    assert ledger.token_share == pytest.approx(0.02)
    assert ledger.long_context_cost == pytest.approx((500_000 + 200) / 1e6)
    assert not ledger.usage.estimated


def test_a_rung_that_failed_is_no_comparison():
    ledger = Ledger()
    ledger.record(RungEntry("full", "failed", TokenUsage(7, 0), whole=True))

    assert ledger.long_context_usage is None


def test_one_unknown_price_makes_the_cost_unknown():
    ledger = routed()
    ledger.record(RungEntry("more", "answered", TokenUsage(1, 1), "other", 1))

    assert ledger.cost is None
    assert ledger.to_dict()["rungs"][2]["cost"] is None


def test_without_prices_there_is_no_cost():
    ledger = Ledger()
    ledger.record(RungEntry("retrieved", "skipped", note="empty"))

    assert ledger.cost is None


def test_skipped_rungs_cost_nothing():
    ledger = Ledger(PRICES)
    ledger.record(RungEntry("retrieved", "skipped", note="empty"))

    assert ledger.cost == 0
    assert ledger.to_dict()["rungs"][0]["cost"] == 0


def test_the_dict_is_plain_json():
    account = routed().to_dict()

    assert json.loads(json.dumps(account)) == account
    assert account["rungs"][0] == {
        "rung": "retrieved",
        "decision": "declined",
        "model": "small",
        "input_tokens": 1_000,
        "cached_tokens": 0,
        "output_tokens": 10,
        "estimated": False,
        "model_calls": 1,
        "seconds": 0.5,
        "cost": pytest.approx(0.00104),
        "note": None,
    }
    assert account["model_calls"] == 2
    assert account["seconds"] == 2.5
    assert account["long_context"]["input_tokens"] == 100_000
    assert list(account) == [
        *("rungs", "input_tokens", "cached_tokens", "output_tokens", "estimated"),
        *("model_calls", "seconds", "cost", "long_context", "token_share"),
    ]


def test_an_empty_ledger_is_plain_too():
    account = Ledger().to_dict()

    assert account["rungs"] == []
    assert account["long_context"] is None
    assert account["input_tokens"] == account["model_calls"] == 0


def test_counted_tokens_are_marked_as_estimated():
    usage = TokenUsage.counted("three word prompt", "reply", lambda t: len(t.split()))

    assert usage == TokenUsage(3, 1, estimated=True)
    assert (TokenUsage(1, 1) + usage).estimated
    assert not (TokenUsage(1, 1) + TokenUsage(1, 1)).estimated


def test_more_cached_than_read_never_makes_a_negative_cost():
    assert Price(1, 0.5, 0).cost(TokenUsage(10, 0, cached_tokens=20)) == 10 / 1e6


@pytest.mark.parametrize("price", [(1, 2), (1, 2, 3, 4), (1, -1, 1), "abc", None, 3])
def test_a_price_that_is_not_three_numbers_is_rejected(price):
    with pytest.raises(InvalidOptionError, match="three numbers") as caught:
        as_prices({"small": price})

    assert caught.value.option == "prices"


# Over many questions.


def question(first: int, long: int, *, declined: bool, prices=None) -> Ledger:
    ledger = Ledger(prices)
    decision = "declined" if declined else "answered"
    ledger.record(RungEntry("retrieved", decision, TokenUsage(first), "small", 1))
    if declined:
        usage = TokenUsage(long)
        ledger.record(RungEntry("full", "answered", usage, "large", 1, whole=True))
    else:
        ledger.compare_with(TokenUsage(long, estimated=True), "large")
    return ledger


def test_it_warns_when_the_first_rung_and_its_refusals_exceed_the_long_context():
    # per question: 600 + P * 1000 > 1000 as soon as P > 0.4
    monitor = RoutingCostMonitor(min_questions=10)
    for number in range(9):
        monitor.observe(question(600, 1000, declined=number < 5))
    with pytest.warns(RoutingCostWarning, match="110%.*declined 50%") as caught:
        monitor.observe(question(600, 1000, declined=False))

    assert monitor.share == pytest.approx(1.1)  # 600 + 0.5 * 1000 of 1000
    assert caught[0].filename == __file__


def test_it_is_silent_at_the_limit():
    monitor = RoutingCostMonitor(min_questions=10)
    for number in range(10):
        monitor.observe(question(600, 1000, declined=number < 4))

    assert monitor.share == pytest.approx(1.0)


def test_it_does_not_judge_a_few_questions():
    monitor = RoutingCostMonitor(min_questions=3)
    monitor.observe(question(600, 1000, declined=True))
    monitor.observe(question(600, 1000, declined=True))

    assert monitor.share == pytest.approx(1.6)


def test_it_warns_once():
    monitor = RoutingCostMonitor(min_questions=1)
    with pytest.warns(RoutingCostWarning):
        monitor.observe(question(600, 1000, declined=True))
    monitor.observe(question(600, 1000, declined=True))

    assert (monitor.questions, monitor.declined) == (2, 2)


def test_questions_without_a_comparison_or_a_call_are_left_out():
    monitor = RoutingCostMonitor(min_questions=1)
    unknown, uncalled = Ledger(), Ledger()
    unknown.record(RungEntry("retrieved", "answered", TokenUsage(9), model_calls=1))
    uncalled.compare_with(TokenUsage(1))
    monitor.observe(unknown)
    monitor.observe(uncalled)

    assert monitor.questions == 0
    assert monitor.share is None


def test_money_is_compared_where_all_of_it_is_known():
    # small: 900 at 1 = 900; large: 1000 at 10 = 10000
    monitor = RoutingCostMonitor(min_questions=2)
    monitor.observe(question(900, 1000, declined=False, prices=PRICES))
    monitor.observe(question(900, 1000, declined=True, prices=PRICES))
    assert monitor.share == pytest.approx((900 + 900 + 10_000) / 20_000)

    # In tokens: 900 + 1900 + 900 of 3000.
    with pytest.warns(RoutingCostWarning, match="123%"):
        monitor.observe(question(900, 1000, declined=False))


def test_threads_may_share_a_monitor():
    monitor = RoutingCostMonitor(min_questions=10**6)

    def ask() -> None:
        for _ in range(300):
            monitor.observe(question(1, 10, declined=True))

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert monitor.questions == monitor.declined == 1200
    assert monitor.share == pytest.approx(1.1)


def test_a_monitor_can_be_copied_and_pickled():
    monitor = RoutingCostMonitor(min_questions=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RoutingCostWarning)
        monitor.observe(question(2, 1, declined=True))

    for twin in (copy.deepcopy(monitor), pickle.loads(pickle.dumps(monitor))):  # noqa: S301 - our own bytes
        assert twin.share == monitor.share
        twin.observe(question(2, 1, declined=True))  # has warned already
