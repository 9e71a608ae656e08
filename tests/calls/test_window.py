"""Whether full documents fit the window, and cutting out their middle."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oprag.calls import PromptSize, WindowFit, fit_window, truncate_middle
from oprag.errors import ContextWindowError, InvalidOptionError


def words(text: str) -> int:
    return len(text.split())


def fours(text: str) -> int:
    """Four characters a token, begun ones whole: not additive."""
    return -(-len(text) // 4)


# window 1000 - overhead 150 - reserved 50 = room 800


@pytest.mark.parametrize("policy", ["order_preserving", "truncate_middle", "error"])
def test_documents_that_just_fit_are_sent_whole(policy):
    fit = fit_window(
        800, window=1000, overhead=150, reserved=50, window_overflow=policy
    )

    assert fit == WindowFit("whole", 800)


@pytest.mark.parametrize("policy", ["order_preserving", "truncate_middle"])
def test_one_token_more_is_cut_to_the_room(policy):
    fit = fit_window(
        801, window=1000, overhead=150, reserved=50, window_overflow=policy
    )

    assert fit == WindowFit(policy, 800)


def test_order_preserving_is_the_default():
    fit = fit_window(801, window=1000, overhead=150, reserved=50)

    assert fit.action == "order_preserving"


def test_error_names_the_option_and_the_figures():
    with pytest.raises(ContextWindowError, match="window_overflow") as caught:
        fit_window(801, window=1000, overhead=150, reserved=50, window_overflow="error")

    assert caught.value.window == 1000
    assert caught.value.needed == 801 + 150 + 50
    assert isinstance(caught.value, ValueError)


def test_an_unknown_window_sends_everything():
    fit = fit_window(
        10**9, window=None, overhead=1, reserved=1, window_overflow="error"
    )

    assert fit == WindowFit("whole", None)


def test_no_room_at_all_is_an_error_under_every_policy():
    with pytest.raises(ContextWindowError, match="no room") as caught:
        fit_window(5, window=200, overhead=150, reserved=50)

    assert caught.value.needed == 205


def test_an_unknown_policy_is_rejected_before_it_is_needed():
    with pytest.raises(InvalidOptionError, match="truncate_middle") as caught:
        fit_window(1, window=None, overhead=0, reserved=0, window_overflow="middle")  # type: ignore[arg-type] # the point

    assert caught.value.option == "window_overflow"


def test_text_that_fits_is_not_touched():
    assert truncate_middle("a b c", 3, words).text == "a b c"


def test_the_first_and_last_half_are_kept():
    # 8 of 100 tokens of 4 characters: 4 from the front, 4 from the back
    text = "".join(f"{number:04}" for number in range(100))

    assert (
        truncate_middle(text, 8, fours).text == "0000000100020003" + "0096009700980099"
    )


def test_an_odd_limit_gives_the_end_one_more():
    text = "".join(f"{number:04}" for number in range(100))

    assert truncate_middle(text, 3, fours).text == "0000" + "00980099"


def test_the_mark_counts():
    text = "".join(f"{number:04}" for number in range(100))

    cut = truncate_middle(text, 5, fours, mark=" ...")

    assert cut.text == "00000001 ...00980099"


@pytest.mark.parametrize(("limit", "mark"), [(0, ""), (-1, ""), (1, "a longer mark")])
def test_a_limit_that_holds_nothing_is_rejected(limit, mark):
    with pytest.raises(InvalidOptionError, match="limit"):
        truncate_middle("a b c d e", limit, words, mark=mark)


COUNTERS = [
    words,
    fours,
    len,
    lambda text: len(text.encode()),
    lambda text: len(text) + words(text) ** 2 // 3,  # costs more joined than apart
]


@given(
    st.text(alphabet="ab é\n", max_size=120),
    st.integers(1, 60),
    st.sampled_from(COUNTERS),
    st.sampled_from(["", "…"]),
)
def test_the_limit_holds_and_what_is_kept_is_of_the_text(text, limit, counter, mark):
    if counter(mark) > limit:
        return
    result, head, tail = truncate_middle(text, limit, counter, mark=mark)

    if counter(text) <= limit:
        assert result == text
        mark = ""
    assert counter(result) <= limit
    assert result == text[:head] + mark + text[tail:]
    assert head <= tail


@given(st.integers(1, 400), st.integers(1, 399))
def test_with_even_tokens_nothing_more_would_fit(tokens, limit):
    text = "x" * (4 * tokens)

    assert fours(truncate_middle(text, limit, fours).text) == min(tokens, limit)


@pytest.mark.parametrize(
    ("text", "most"),
    [
        (" ".join(f"word{number}" for number in range(50_000)), 20),
        # One long word in front: tokens do not grow with characters at all.
        ("x" * 100_000 + " y" * 50_000, 60),
        (" y" * 50_000 + "x" * 100_000 + " y" * 500, 60),
    ],
)
def test_few_counts_are_needed_however_long_the_text(text, most):
    counted = []

    def counter(text: str) -> int:
        counted.append(text)
        return words(text)

    # Two words may become one where the pieces meet.
    assert 20_000 - words(truncate_middle(text, 20_000, counter).text) in (0, 1)
    assert len(counted) <= most


@pytest.mark.parametrize(
    ("windows", "reserved", "expected"),
    [
        ((None, None), (None, None), (None, 256)),
        ((None, 10_000), (None, None), (10_000, 256)),
        ((None, 800), (None, None), (800, 100)),  # an eighth
        ((4_000, 10_000), (None, 700), (4_000, 700)),
        ((4_000, None), (50, 700), (4_000, 50)),
        (({"full": 9_000}, 10_000), (None, 700), (9_000, 700)),
        (({"other": 9_000}, 10_000), (None, 700), (10_000, 700)),
    ],
)
def test_what_the_user_says_of_a_model_comes_before_what_it_says_itself(
    windows, reserved, expected
):
    size = PromptSize.told(len, "full", windows=windows, reserved=reserved)

    assert (size.window, size.reserved) == expected
