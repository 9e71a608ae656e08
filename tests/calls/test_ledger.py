"""The account of one question."""

import json
from math import nan

import pytest

from oprag.calls import Ledger, Price, TokenUsage, read_prices
from oprag.calls.ledger import UNKNOWN_TOKENS
from oprag.errors import InvalidOptionError

PRICES = {"small": (1.0, 0.5, 4.0), "large": (10.0, 1.0, 40.0)}


def routed() -> Ledger:
    """A question that the small model declined and the large one answered."""
    ledger = Ledger(PRICES)
    ledger.record(
        "retrieved", "declined", usage=TokenUsage(1_000, 10), model="small", seconds=0.5
    )
    ledger.record(
        "full",
        "answered",
        usage=TokenUsage(100_000, 20, cached_tokens=60_000),
        model="large",
        seconds=2.0,
    )
    return ledger


def test_totals_add_up():
    assert routed().usage == TokenUsage(101_000, 30, 60_000)
    assert (TokenUsage(1, 1) + TokenUsage(3, 1, estimated=True)).estimated


def test_costs_follow_the_prices():
    ledger = routed()

    small = 1_000 * 1 + 10 * 4
    large = 40_000 * 10 + 60_000 * 1 + 20 * 40
    assert ledger.to_dict()["cost"] == pytest.approx((small + large) / 1e6)


@pytest.mark.parametrize(
    ("usage", "model"), [(TokenUsage(1, 1), "other"), (UNKNOWN_TOKENS, "large")]
)
def test_one_unknown_price_or_failed_call_makes_the_cost_unknown(usage, model):
    ledger = routed()
    ledger.record("more", "answered", usage=usage, model=model)

    assert ledger.to_dict()["cost"] is None
    assert ledger.to_dict()["steps"][2]["cost"] is None


def test_skipped_steps_cost_nothing():
    ledger = Ledger(PRICES)
    ledger.record("retrieved", "skipped", note="empty")

    assert ledger.to_dict()["cost"] == 0
    assert ledger.to_dict()["steps"][0]["cost"] == 0


def test_the_dict_is_plain_json():
    account = routed().to_dict()

    assert json.loads(json.dumps(account)) == account
    assert account["steps"][0] == {
        "step": "retrieved",
        "decision": "declined",
        "model": "small",
        "input_tokens": 1_000,
        "cached_tokens": 0,
        "output_tokens": 10,
        "estimated": False,
        "model_calls": 1,
        "seconds": 0.5,
        "cost": pytest.approx(0.00104),
        "finish": None,
        "note": None,
    }
    assert account["model_calls"] == 2
    assert account["seconds"] == 2.5
    assert list(account) == [
        *("steps", "input_tokens", "output_tokens", "cached_tokens", "estimated"),
        *("model_calls", "seconds", "cost"),
    ]


def test_more_cached_than_read_never_makes_a_negative_cost():
    assert Price(1, 0.5, 0).cost(TokenUsage(10, 0, cached_tokens=20)) == 10 / 1e6


@pytest.mark.parametrize(
    "price", [(1, 2), (1, 2, 3, 4), (1, -1, 1), (1, 2, nan), "abc", None, 3]
)
def test_a_price_that_is_not_three_numbers_is_rejected(price):
    with pytest.raises(InvalidOptionError, match="three numbers") as caught:
        read_prices({"small": price})

    assert caught.value.option == "prices"
