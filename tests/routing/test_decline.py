"""Which replies decline, and what is shown of them while they come."""

import itertools
import json
import re
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oprag.calls import without_reasoning
from oprag.errors import InvalidOptionError
from oprag.routing import declines, word_in_reply
from oprag.routing.decline import DeclineDetector
from tests.routing.replies import ANSWERS, REFUSALS

ROOT = Path(__file__).parents[2]
REAL = json.loads(Path(__file__).with_name("smollm2_replies.json").read_text("utf-8"))
"""Replies of SmolLM2-135M to the built-in prompts, and how they ended."""
ALL = [*itertools.chain(*REFUSALS.values(), *ANSWERS.values(), dict(REAL))]
LONGEST = 200


def streamed(detector: DeclineDetector, pieces: Iterable[str], *, cut=False) -> str:
    return "".join(map(detector.feed, pieces)) + detector.finish(cut=cut)


def counted(
    replies: Mapping[str, tuple[str, ...]], rule: Callable[[str], bool]
) -> dict[str, int]:
    return {name: sum(map(rule, group)) for name, group in replies.items()}


# The measurement: see the table in docs/self_route.md.


def test_what_each_rule_recognises_and_loses():
    assert sum(map(len, REFUSALS.values())) == 150
    assert sum(map(len, ANSWERS.values())) == 150

    assert counted(REFUSALS, declines) == {
        "the word alone": 35,
        "behind a label or reasoning": 18,
        "the word, then a reason": 26,
        "a reason, then the word": 18,
        "in a sentence": 1,
        "as JSON": 7,
        "without the word": 0,
    }
    assert {n for n, lost in counted(ANSWERS, declines).items() if lost} == {
        "the word inside"
    }
    assert counted(ANSWERS, declines)["the word inside"] == 3
    page = (ROOT / "docs/self_route.md").read_text(encoding="utf-8")
    for name, rule in (('"word"', declines), ("word_in_reply", word_in_reply)):
        found, lost = (
            sum(counted(replies, rule).values()) for replies in (REFUSALS, ANSWERS)
        )
        assert f"| `decline={name}` | {found} | {lost} |" in page


def test_what_a_small_model_really_wrote_is_an_answer_however_it_ended():
    for reply, finish in REAL:
        for decline in ("word", "tool"):
            assert not declines(reply, decline, cut=finish == "length")


def test_the_page_says_what_a_refusal_is():
    page = (ROOT / "docs/self_route.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (.+) \| (a refusal|an answer) \|$", page, re.MULTILINE)

    assert len(rows) == 8
    for reply, verdict in rows:
        assert declines(reply) == (verdict == "a refusal"), reply


# The rule.


@pytest.mark.parametrize(
    "reply",
    [
        "It does not say. Unanswerable. It was Ann.",
        '{"answer": "unanswerable", "reason": "It was Ann, says one. Bob, another."}',
    ],
)
def test_two_sentences_are_looked_at(reply):
    assert declines(reply)


@pytest.mark.parametrize(
    "reply",
    [
        "It does not say. It says nothing. Unanswerable.",
        "x" * 190 + ": unanswerable questions",  # cut at 200 behind the word
        '{"unanswerable": false, "answer": "Ann"}',
    ],
)
def test_what_is_behind_the_opening_changes_nothing(reply):
    assert not declines(reply)


@pytest.mark.parametrize("reply", ["", " \n", None, "<think>So be it.</think>\n"])
def test_an_empty_reply_is_no_refusal(reply):
    assert not declines(reply)
    assert declines(reply, lambda reply: not reply.strip())


@pytest.mark.parametrize(
    ("reply", "refused"),
    [
        ("", False),
        ("unanswerable", False),  # "questions" may have followed
        ("There are three: yes, no, unanswerable", False),
        ("Unanswerable. The text do", True),
    ],
)
def test_a_reply_that_was_cut_declines_only_with_what_it_had_said(reply, refused):
    detector = DeclineDetector()

    assert declines(reply, cut=True) is refused
    assert streamed(detector, reply, cut=True) == ("" if refused else reply)
    assert detector.declined is refused


def test_a_function_is_asked_for_whole_replies_and_no_others():
    def never(reply: str) -> bool:
        raise AssertionError(reply)

    assert declines("Nicht da.", lambda reply: "Nicht" in reply)
    assert not declines("unanswerable", lambda reply: "Nicht" in reply)
    assert declines("<think>a</think>b", lambda reply: reply == "b")
    assert not declines("Nicht d", never, cut=True)
    with pytest.raises(InvalidOptionError, match=r"decline=.* It failed: Assert"):
        declines("", never)


def test_a_call_instead_of_text_declines_and_text_is_an_answer():
    for text in ("", " \n", "<think>So be it.</think>\n"):
        for final in (False, True):
            detector = DeclineDetector("tool", final=final)

            assert [*map(detector.feed, text)] == [""] * len(text)
            assert detector.finish(called={"decline"}) == "unanswerable" * final
            assert detector.declined
        assert not declines(text, "tool", called={"search"})
        assert not declines(text, "tool")
    for reply in filter(str.strip, ALL):
        detector = DeclineDetector("tool")
        shown = [detector.feed(character) for character in reply]

        assert not declines(reply, "tool", called={"decline"})
        text = "".join(shown) + detector.finish(called={"decline"})
        assert text == without_reasoning(reply)
        assert shown == list(reply) or reply[0] in "< \n"


# Streams.


def is_kept(reply: str, pieces: Iterable[str]) -> None:
    """A refusal is not shown, of an answer no character is lost; whole = streamed."""
    detector = DeclineDetector()
    shown = streamed(detector, pieces)

    assert detector.declined == declines(reply), reply
    assert shown == ("" if detector.declined else without_reasoning(reply)), reply


def test_no_refusal_is_shown_and_no_character_lost_at_any_cut():
    for reply in ALL:
        is_kept(reply, reply)
        for place in range(len(reply)):
            is_kept(reply, [reply[:place], reply[place:]])


WORDS = ("unanswerable", "un", "answerable", "It", "does", "not", "Dr.", "say", "日本")
MARKS = (*("  \n{。"), ". ", ".", ", ", ": ", "**", '"', " — ", "! ", "</s>")
MARKS += ("<think>", "</think>", '"answer": "', "}", "```json\n", "<|end|>", "x" * 60)


@given(st.data())
def test_any_cut_of_any_words_gives_the_verdict_on_the_whole(data):
    parts = data.draw(st.lists(st.sampled_from([*WORDS, *MARKS]), max_size=30))
    reply = "".join(parts)
    places = data.draw(st.lists(st.integers(0, len(reply)), max_size=6).map(sorted))
    cut = data.draw(st.booleans())
    bounds = [0, *places, len(reply)]
    detector = DeclineDetector()

    shown = streamed(
        detector, [reply[a:b] for a, b in itertools.pairwise(bounds)], cut=cut
    )

    assert detector.declined == declines(reply, cut=cut)
    assert shown == ("" if detector.declined else detector.text)
    assert detector.text == without_reasoning(reply)


def test_two_sentences_or_200_characters_are_held_back_and_then_it_flows():
    sentences, long = DeclineDetector(), DeclineDetector()
    text = "It rained. We left. And"

    assert [sentences.feed(c) for c in text] == [*[""] * 19, text[:20], *" And"[1:]]
    assert "".join(long.feed("x") for _ in range(LONGEST)) == ""
    assert long.feed("y") == "x" * LONGEST + "y"
    assert long.feed("z") == "z"


def test_with_a_function_all_is_held_back():
    answer, refusal = (DeclineDetector(word_in_reply), DeclineDetector(word_in_reply))

    assert answer.feed("It rained. We left. " * 50) == ""
    assert answer.finish() == "It rained. We left. " * 50
    assert streamed(refusal, ["It is an un", "answerable question."]) == ""


def test_a_final_reply_is_shown_at_once_and_judged_all_the_same():
    for reply in ALL:
        detector = DeclineDetector(final=True)
        shown = [detector.feed(character) for character in reply]
        rest = detector.finish()

        assert "".join(shown) + rest == without_reasoning(reply)
        assert shown == list(reply) or "<" in reply or reply[0] in " \n" or not reply
        assert detector.declined == declines(reply)
        assert detector.finish() == ""


@pytest.mark.parametrize("run", ["-", "*", " ", ".", "x", "<", "{", "```", "a, ", "<|"])
def test_work_grows_with_the_length_of_a_stream_and_no_faster(run):
    detector = DeclineDetector()
    began = time.process_time()
    for character in (run * 50_000)[:50_000]:
        detector.feed(character)
    detector.finish()

    assert time.process_time() - began < 2
