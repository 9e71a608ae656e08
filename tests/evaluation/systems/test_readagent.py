"""ReadAgent: where pages end, what is looked up, and what is read in the end."""

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oprag.errors import ModelCallError
from oprag_eval.readers.offline import OfflineReader
from oprag_eval.systems.readagent import named_pages, pages_of
from tests.evaluation.small import Replies, attempt, bench_of, set_of_one

WORDS = 180
"""Of a sentence: four reach a page of 600, and two are no short rest."""


def sentence(number: int, words: int = WORDS) -> str:
    return " ".join([f"S{number}", *["word"] * (words - 2), "end."])


def paged(text: str, replies):
    """Pages as texts, and the prompts that asked for their ends."""
    left = iter(replies)
    model = Replies(lambda _: next(left))
    spans, usage = asyncio.run(pages_of(text, 600, bench_of(model)))
    prompts = [call.prompt for call in model.calls]
    assert usage.input_tokens == sum(len(prompt.split()) for prompt in prompts)
    return [text[slice(*span)] for span in spans], prompts


def test_sentences_are_added_up_to_a_page_and_the_model_names_its_end():
    text = " ".join(map(sentence, range(7)))
    pages, (first, second, third) = paged(text, ["<2>", "Break at 3", "<2>"])

    # 180, 360, 540, 720 words: 600 are reached with four. As in the notebook, places
    # stand before the parts with which there are 280 words or more, and at the end.
    marked = [f"{sentence(n)}\n<{n + 1}>" for n in range(4)]
    assert "\n".join(marked) in first
    assert "The page before it" not in first
    # <2> is behind the second sentence; of the five left again four are 600 words.
    assert f"The page before it:\n\n{sentence(0)} {sentence(1)}\n\n" in second
    assert f"{sentence(5)}\n<4>" in second
    assert f"{sentence(5)}\n<1>\n{sentence(6)}\n<2>" in third
    # The text after the passage is there, where there is some.
    assert f"It goes on with:\n\n{sentence(4)}\n\n" in first
    assert f"It goes on with:\n\n{sentence(6)}\n\n" in second
    assert "It goes on with" not in third
    assert [page.count("end.") for page in pages] == [2, 3, 2]
    assert "".join(pages) == text


def test_a_short_rest_is_one_page_without_a_question():
    pages, asked = paged(sentence(0, 170) + " " + sentence(1, 170), [])

    assert (len(pages), asked) == (1, [])


@pytest.mark.parametrize("reply", ["", "no idea", "<0>", "<9>", "17"])
def test_an_unusable_reply_ends_the_page_with_the_passage(reply):
    pages, asked = paged(" ".join(map(sentence, range(4))), [reply])

    assert (len(pages), len(asked)) == (1, 1)


def test_nothing_is_asked_where_there_is_one_place():
    pages, asked = paged(f"{sentence(0, 700)} {sentence(1, 700)}", [])

    assert (len(pages), asked) == (2, [])


@given(
    st.lists(st.integers(min_value=2, max_value=400), min_size=1, max_size=12),
    st.lists(st.integers(min_value=-1, max_value=5), min_size=12, max_size=12),
    st.sampled_from(["", " \n", "\n\n"]),
)
def test_pages_are_the_text_whatever_is_replied(sizes, numbers, space):
    text = space + " ".join(sentence(n, size) for n, size in enumerate(sizes)) + space
    pages, _ = paged(text, map(str, numbers))

    assert "".join(pages) == text
    assert all(pages)


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ("[3, 1]", [0, 2]),
        ("I want to look up pages [2] and more.", [1]),
        ("[1, 1, 9, 0, 2]", [0, 1]),  # one that comes twice, two that do not exist
        ("[none] [4]", [3]),
        ("[1, 2, 3, 4]", [0, 1, 2]),  # three at most
        ("1, 2", []),
        ("[]", []),
    ],
)
def test_which_pages_a_reply_names(reply, expected):
    assert named_pages(reply, n_pages=4, most=3) == expected


TEXT = " ".join(sentence(number, 100) for number in range(14))
"""1,400 words: pages of 600, 600 and the 200 that are left."""


def rule(call) -> str:
    if call.kind == "gist":
        return f"gist of {call.facts['text'].split()[0]}"
    return {"page_break": "<5>", "look_up": "[2]"}.get(call.kind, "in May")


def test_looked_up_pages_stand_in_place_of_their_gists():
    model = Replies(rule)
    found = attempt("readagent", model, set_of_one(TEXT))

    # Places behind the second to the sixth sentence: <5> is behind the sixth.
    middle = TEXT[TEXT.index("S6") : TEXT.index("S12")].strip()
    context = model.calls[-1].facts["context"]
    assert context == f"gist of S0\n\n{middle}\n\ngist of S12"
    assert [(p.start, p.end, p.note) for p in found.pieces] == [
        (None, None, "gist"),
        (TEXT.index("S6"), TEXT.index("S12"), ""),
        (None, None, "gist"),
    ]
    assert found.prediction == "in May"


def test_tokens_stand_by_stage_and_are_the_same_from_the_cache(tmp_path):
    first, again = Replies(rule), Replies(rule)
    attempts = [
        attempt("readagent", model, set_of_one(TEXT), cache=tmp_path)
        for model in (first, again)
    ]

    kinds = [call.kind for call in first.calls]
    assert kinds == [*["page_break"] * 2, *["gist"] * 3, "look_up", "answer"]
    assert [call.kind for call in again.calls] == ["look_up", "answer"]
    assert attempts[0] == attempts[1]
    sent = sum(len(call.prompt.split()) for call in first.calls[:5])
    assert attempts[0].usage["index"].input_tokens == sent


@pytest.mark.parametrize("other", [{"max_reply": 3}, {"seed": 7}, {"temperature": 1.0}])
def test_under_other_settings_the_model_is_asked_again(tmp_path, other):
    for settings in ({}, other):
        model = Replies(rule)
        attempt("readagent", model, set_of_one(TEXT), cache=tmp_path, **settings)

        assert [call.kind for call in model.calls].count("gist") == 3


def test_an_empty_gist_is_an_error_and_is_not_kept(tmp_path):
    blank = Replies(lambda _: " ")
    for _ in range(2):
        with pytest.raises(ModelCallError, match="empty gist"):
            attempt("readagent", blank, set_of_one(TEXT), cache=tmp_path)


@pytest.mark.parametrize("model", [Replies(rule), OfflineReader()])
def test_a_blank_document_has_no_pages(model):
    found = attempt("readagent", model, set_of_one("  \n"))

    assert found.pieces == ()
    assert found.usage["index"].input_tokens == 0
