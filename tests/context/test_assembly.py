"""`order_context` and `render`: the whole way, and bad input."""

import pytest

from oprag import order_context, render
from oprag.errors import InvalidOptionError

TEXTS = ["end.", "start.", "middle."]
METADATAS = [{"source": "s", "start_index": start} for start in (90, 0, 40)]


def _texts(**options):
    return [passage.text for passage in order_context(TEXTS, METADATAS, **options)]


def test_top_n_keeps_the_best_before_it_orders():
    assert _texts(top_n=2) == ["start.", "end."]


def test_a_budget_keeps_the_best_before_it_orders():
    # 4 + 2 + 6 = 12 characters; 2 + 7 more do not fit into 20.
    assert _texts(token_budget=20, token_counter=len) == ["start.", "end."]


def test_empty_retrieval_is_an_empty_context():
    assert order_context([], []) == []
    assert order_context([], token_budget=5) == []
    assert render([]) == ""


def test_one_chunk_and_an_empty_text_pass_through():
    assert [p.text for p in order_context([""], [{"source": "s", "page": 0}])] == [""]


@pytest.mark.parametrize(
    ("texts", "metadatas", "named"),
    [
        ("ab", None, "texts takes a list of texts, but got a str"),
        (["a", None], [{}, {}], "texts .* got None"),
        (["a", "b"], [{}, None], "metadatas takes a list of mappings, but got None"),
        (["a"], [[("source", "s")]], "differ in length"),
    ],
)
def test_what_is_no_text_or_no_mapping_is_named(texts, metadatas, named):
    with pytest.raises(InvalidOptionError, match=named):
        order_context(texts, metadatas)


def test_gap_marks_stand_only_where_text_is_left_out():
    passages = order_context(
        ["cd", "ab", "yz", "other"],
        [
            {"source": "s", "start_index": 2},
            {"source": "s", "start_index": 0},
            {"source": "s", "start_index": 24},
            {"source": "t", "start_index": 0},
        ],
    )

    assert render(passages, separator=" ") == "ab cd yz other"
    assert render(passages, separator=" ", citations=True) == (
        "[1] s, characters 0-2\nab [2] s, characters 2-4\ncd "
        "[…] [3] s, characters 24-26\nyz [4] t, characters 0-5\nother"
    )
