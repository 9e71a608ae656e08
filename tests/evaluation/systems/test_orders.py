"""One chunk set in five orders, and the proof that it is one."""

from __future__ import annotations

import asyncio

import pytest

from oprag.chunk import Hit
from oprag.context import ContextOptions
from oprag.errors import InvalidOptionError
from oprag.tokens import resolve_token_counter
from oprag_eval.catalogue import make_system
from oprag_eval.contexts import check_chunk_sets, chunk_set, order_chosen
from oprag_eval.running.run_directory import RunDirectory
from oprag_eval.running.runner import Plan, run
from oprag_eval.system import Piece
from tests.evaluation.small import Replies, bench_of, set_of_four

ORDERS = ("document", "score", "reverse", "shuffled", "edges")
COUNTER = resolve_token_counter(lambda text: len(text.split()))
RANKED = [
    Hit(f"c{place}", {"source": "d", "char_start": 10 * place}, score=1 - rank / 10)
    for rank, place in enumerate((2, 0, 4, 1, 3))
]


def text_of(order: str, seed: str = "a", **options) -> str:
    made = ContextOptions(token_counter=COUNTER, separator=" ", **options)
    context = order_chosen(
        RANKED, order=order, options=made, counter=COUNTER, seed=seed
    )
    return context.text


@pytest.mark.parametrize(
    ("order", "expected"),
    [
        ("document", "c0 c1 c2 c3 c4"),
        ("score", "c2 c0 c4 c1 c3"),
        ("reverse", "c4 c3 c2 c1 c0"),
        # Best at the front, second best at the back, and so on inwards.
        ("edges", "c2 c4 c3 c1 c0"),
    ],
)
def test_five_chunks_in_each_order(order, expected):
    assert text_of(order) == expected


def test_the_drawn_order_is_the_same_for_a_seed_and_not_for_all():
    drawn = {text_of("shuffled", str(seed)) for seed in range(20)}

    assert text_of("shuffled", "a") == text_of("shuffled", "a")
    assert len(drawn) > 10
    assert {tuple(sorted(text.split())) for text in drawn} == {
        ("c0", "c1", "c2", "c3", "c4")
    }


@pytest.mark.parametrize("order", ORDERS)
def test_the_budget_keeps_the_best_whatever_the_order(order):
    assert set(text_of(order, token_budget=3).split()) == {"c2", "c0", "c4"}


def test_the_chunk_set_does_not_depend_on_the_order_and_does_on_the_chunks():
    pieces = [Piece("a", 0, 5), Piece("b", 0, 5), Piece("a", 5, 9)]

    assert chunk_set(pieces) == chunk_set(pieces[::-1])
    assert chunk_set(pieces) != chunk_set(pieces[:2])
    assert chunk_set([Piece("a", 0, 5)]) != chunk_set([Piece("a", 0, 6)])
    assert chunk_set([Piece("a", 0, 5)]) != chunk_set([Piece("b", 0, 5)])


@pytest.fixture
def answers(tmp_path):
    names = [f"order-{order}:size=10" for order in ORDERS]
    specs = [*names, "dos-rag:size=10", "vanilla-rag:size=10", "dos-rag:size=30"]
    directory = RunDirectory(tmp_path)
    directory.begin({})
    plan = Plan([make_system(spec) for spec in specs], [60], set_of_four().questions)
    asyncio.run(run(plan, bench_of(Replies()), directory))
    return directory.answers()


def test_all_orders_of_a_question_have_one_chunk_set(answers):
    check_chunk_sets(answers)

    first = [answer for answer in answers if answer["question_id"] == "q2"]
    assert len(first) == 8
    assert len({answer["choice"] for answer in first}) == 2  # of 10 tokens, of 30
    assert len({answer["chunk_set"] for answer in first}) == 2
    orders = {tuple(map(tuple, a["pieces"])) for a in first if "=10" in a["system"]}
    assert len(orders) == len(ORDERS)


def test_another_chunk_set_in_one_order_is_told(answers):
    wrong = next(a for a in answers if a["system"] == "order-edges:size=10")
    wrong["chunk_set"] = "0"

    with pytest.raises(InvalidOptionError, match="order-edges"):
        check_chunk_sets(answers)
