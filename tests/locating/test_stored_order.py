"""Chunks as they lie in a store that kept no order, lost some, or holds some twice.

None is placed wrongly; what cannot be proved is not placed.
"""

from collections import Counter
from itertools import accumulate

from hypothesis import example, given
from hypothesis import strategies as st

from oprag.locating import Order, place


def test_a_chunk_that_fills_no_gap_is_not_placed_between_its_neighbours():
    clauses = [f"{number}. A clause of its own." for number in range(9)]
    texts = [*clauses, "Terms apply. To all nine.", "Terms apply.", "The end."]
    stored = [*texts[:9], texts[10], texts[9], texts[11]]

    placement = place("\n".join(texts), stored, [Order(range(12), recorded=False)])

    assert placement.locations[9].status == "ambiguous"


FEW_WORDS = st.lists(
    st.sampled_from(["a", "b", "ab", "ba", "aab"]), min_size=1, max_size=7
)


def all_orders(flat: str, words: list[str]) -> set[tuple[str, ...]]:
    """Every order in which the words give the text."""
    if not words:
        return {()} if not flat else set()
    found = set()
    for word in {*words}:
        if flat.startswith(word):
            rest = words.copy()
            rest.remove(word)
            orders = all_orders(flat.removeprefix(word), rest)
            found |= {(word, *order) for order in orders}
    return found


def spans_of(words: list[str]) -> list[tuple[int, int]]:
    ends = list(accumulate(len(word) + 1 for word in words))
    return [(e - 1 - len(word), e - 1) for word, e in zip(words, ends, strict=True)]


@given(words=FEW_WORDS)
@example(words=["a", "a", "b", "ab"])
@example(words=["a", "b", "aab"])
def test_an_order_is_found_only_where_no_other_fits(words):
    order = Order(range(len(words)), recorded=False)
    placed = place(" ".join(words), words, [order]).locations
    found = [location.span for location in placed] == spans_of(words)
    flat = "".join(words)
    times = {w: sum(flat.startswith(w, i) for i in range(len(flat))) for w in words}

    if found:
        assert len(all_orders(flat, words)) == 1
    if times == Counter(words):  # none is inside another one, or across two
        assert found
