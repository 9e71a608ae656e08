"""Which replies decline, and what is shown of them while they come."""

import itertools
import json
import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oprag.calls import declines, strip_reasoning, word_in_reply
from oprag.calls.decline import DeclineDetector
from oprag.errors import InvalidOptionError
from tests.calls.replies import ANSWERS, FURTHER_ANSWERS, FURTHER_REFUSALS, REFUSALS
from tests.kit.growth import LINEAR, time_growth

ROOT = Path(__file__).parents[2]
REAL = json.loads(Path(__file__).with_name("smollm2_replies.json").read_text("utf-8"))
"""Replies of SmolLM2-135M to the built-in prompts, and how they ended."""
WRITTEN = (REFUSALS, ANSWERS, FURTHER_REFUSALS, FURTHER_ANSWERS)
ALL = [*itertools.chain(*(group for w in WRITTEN for group in w.values()), dict(REAL))]
LONGEST = 200


def streamed(detector: DeclineDetector, pieces: Iterable[str], *, cut=False) -> str:
    return "".join(map(detector.feed, pieces)) + detector.finish(cut=cut)


def counted(
    replies: Mapping[str, tuple[str, ...]], rule: Callable[[str], bool]
) -> dict[str, int]:
    return {name: sum(map(rule, group)) for name, group in replies.items()}


def by_tool(reply: str) -> bool:
    return declines(reply, "tool")


# The measurement: see the table in benchmarks/README.md.


def test_what_each_rule_recognises_and_loses():
    assert counted(REFUSALS, declines) == {
        "the word alone": 35,
        "behind a label or reasoning": 18,
        "the word, then a reason": 32,
        "a reason, then the word": 19,
        "in a sentence": 17,
        "as JSON": 7,
        "without the word": 0,
    }
    for answers in (ANSWERS, FURTHER_ANSWERS):
        again = counted(answers, declines)
        assert {name for name, number in again.items() if number} == {"the word inside"}
    sets = (REFUSALS, FURTHER_REFUSALS, ANSWERS, FURTHER_ANSWERS)
    assert [sum(map(len, each.values())) for each in sets] == [150] * 4
    page = (ROOT / "benchmarks/README.md").read_text(encoding="utf-8")
    for name, rule in (('"word"', declines), ("word_in_reply", word_in_reply)):
        a, b, c, d = (sum(counted(each, rule).values()) for each in sets)
        assert f"| `decline={name}` | {a}, {b} | {c}, {d} |" in page
    assert not any(sum(counted(each, by_tool).values()) for each in sets[2:])


def test_what_a_small_model_really_wrote_is_an_answer_however_it_ended():
    for reply, finish in REAL:
        for decline in ("word", "tool"):
            assert not declines(reply, decline, cut=finish == "length")


def test_the_page_says_what_a_refusal_is():
    page = (ROOT / "docs/self_route.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (.+) \| (a refusal|an answer) \|$", page, re.MULTILINE)

    assert {verdict for _, verdict in rows} == {"a refusal", "an answer"}
    for reply, verdict in rows:
        assert declines(reply) == (verdict == "a refusal"), reply


# The rule.


@pytest.mark.parametrize(
    "reply",
    [
        "It does not say. Unanswerable. It was Ann.",
        "Of the text, it is said that this is un-answerable",
        "x" * 188 + "unanswerable questions",  # to the last of 200 characters
        '{"unanswerable": true}',  # JSON without an answer
        '{"answer": "unanswerable", "reason": "It was Ann, says one. Bob, another."}',
    ],
)
def test_two_sentences_are_looked_at(reply):
    assert declines(reply)


@pytest.mark.parametrize(
    "reply",
    [
        "It does not say. It says nothing. Unanswerable.",
        "x" * 189 + "unanswerable questions",  # cut inside the word
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
        ("unanswera", False),
        ("There are three: yes, no, unanswerable", True),
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


@pytest.mark.parametrize("text", ["", " \n", "<think>So be it.</think>\n"])
@pytest.mark.parametrize("final", [False, True])
def test_a_call_without_text_declines(text, final):
    detector = DeclineDetector("tool", final=final)

    assert [*map(detector.feed, text)] == [""] * len(text)
    assert detector.finish(called={"decline"}) == "unanswerable" * final
    assert detector.declined
    assert not declines(text, "tool", called={"search"})
    assert not declines(text, "tool")


def test_a_call_with_text_declines_and_what_was_shown_before_it_stays():
    for reply in filter(str.strip, ALL):
        text = strip_reasoning(reply)
        assert declines(reply, "tool", called={"decline"})
        whole, streamed_ = DeclineDetector("tool"), DeclineDetector("tool")

        assert whole.feed(reply, called={"decline"}) == ""
        assert whole.finish(called={"decline"}) == ""
        assert whole.declined
        assert not whole.shown
        shown = "".join(map(streamed_.feed, reply))
        streamed_.finish(called={"decline"})
        assert streamed_.declined
        assert streamed_.shown == bool(shown)
        # Only what may still become the word is held back.
        assert shown == text or declines(reply) or not any(map(str.isalnum, text))


@pytest.mark.parametrize(
    ("reply", "refused"),
    [
        ("Unanswerable.", True),
        ("**unanswerable**\n", True),
        ("Unanswerable, it seems.", False),
        ("The text does not say. Unanswerable.", False),
        ("Un bel dì", False),
        ("", False),
    ],
)
def test_with_the_tool_the_word_alone_declines_and_all_other_text_flows(reply, refused):
    detector = DeclineDetector("tool")
    shown = [*map(detector.feed, reply)]

    assert declines(reply, "tool") is refused
    assert "".join(shown) + detector.finish() == ("" if refused else reply)
    assert detector.declined is refused
    flowing = DeclineDetector("tool")
    assert [*map(flowing.feed, "In May. Un")] == [*"In May. Un"]


# Streams.


def is_kept(reply: str, pieces: Iterable[str]) -> None:
    """A refusal is not shown, of an answer no character is lost; whole = streamed."""
    detector = DeclineDetector()
    shown = streamed(detector, pieces)

    assert detector.declined == declines(reply), reply
    assert shown == ("" if detector.declined else strip_reasoning(reply)), reply


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
    assert detector.text == strip_reasoning(reply)


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

        assert "".join(shown) + rest == strip_reasoning(reply)
        assert shown == list(reply) or "<" in reply or reply[0] in " \n" or not reply
        assert detector.declined == declines(reply)
        assert detector.finish() == ""


@pytest.mark.parametrize("run", ["-", "*", " ", ".", "x", "<", "{", "```", "a, ", "<|"])
def test_work_grows_with_the_length_of_a_stream_and_no_faster(run):
    def stream(length):
        detector = DeclineDetector()

        def work():
            for character in (run * length)[:length]:
                detector.feed(character)
            detector.finish()

        return work

    assert time_growth(stream, 20_000) < LINEAR
