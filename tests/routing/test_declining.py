"""What counts as a refusal, and when a stream shows it."""

from __future__ import annotations

import dataclasses
import itertools
import random
from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oprag.calls import ReasoningFilter, without_reasoning
from oprag.errors import InvalidOptionError
from oprag.routing import DeclineDetector, DeclineRules, is_refusal
from oprag.routing.declining import decision_so_far
from tests.routing.refusal_samples import ANSWERS, REFUSALS

TAGS = (("<think>", "</think>"),)


def stream(detector: DeclineDetector, deltas: Iterable[str]) -> str:
    return "".join(map(detector.feed, deltas)) + detector.finish()


def cut(text: str, generator: random.Random) -> list[str]:
    """Cut at random places; equal places give empty pieces."""
    cuts = [generator.randint(0, len(text)) for _ in range(generator.randint(0, 6))]
    places = [0, *sorted(cuts), len(text)]
    return [text[start:end] for start, end in itertools.pairwise(places)]


def first_release(text: str) -> str | None:
    """Give the shortest beginning at which anything is handed on."""
    detector = DeclineDetector()
    for end in range(len(text)):
        if detector.feed(text[end]):
            return text[: end + 1]
    return None


# The verdict on a whole reply.


def test_there_are_fifty_of_each():
    assert len(set(REFUSALS)) >= 50
    assert len(set(ANSWERS)) >= 50


@pytest.mark.parametrize("text", REFUSALS)
def test_refusals_are_recognised(text):
    assert is_refusal(text)


@pytest.mark.parametrize("text", ANSWERS)
def test_answers_that_mention_the_word_are_answers(text):
    assert not is_refusal(text)


def test_a_missing_reply_counts_as_declined():
    assert is_refusal(None)


@pytest.mark.parametrize("follower", [".", ",", ":", ";", "—", "-", "\n", " -", " ."])
def test_anything_may_follow_the_sentinel_and_a_follower(follower):
    assert is_refusal(f"Unanswerable{follower} " + "and so on. Yes! " * 20)


@pytest.mark.parametrize(
    "words",
    [
        *("based on", "given", "from", "according to"),
        *("because", "since", "as", "in", "with"),
    ],
)
def test_anything_may_follow_the_sentinel_and_a_continuation(words):
    assert is_refusal(f"Unanswerable {words} " + "it is. Or not! " * 20)
    assert not is_refusal(f"Unanswerable {words}le it is.")


def test_sixteen_words_are_an_answer_and_fifteen_are_not():
    fifteen = "It is unanswerable because" + " word" * 11

    assert is_refusal(fifteen)
    assert not is_refusal(fifteen + " word")
    assert is_refusal(fifteen + " — ")


def test_words_are_split_at_dashes_too():
    fifteen = "It is unanswerable because" + " word" * 9 + " one—two"

    assert is_refusal(fifteen)
    assert not is_refusal(fifteen + "—three")


@pytest.mark.parametrize(
    "sentinel", ["N/A", "NO_ANSWER", "not in the text", "无法回答"]
)
def test_other_sentinels(sentinel):
    rules = DeclineRules(sentinels=(sentinel,))

    assert is_refusal(f"**{sentinel}**", rules)
    assert is_refusal(f"The answer is {sentinel.upper()}.", rules)
    assert not is_refusal("unanswerable", rules)
    assert not is_refusal(f"{sentinel} arguments", rules)


def test_several_sentinels():
    rules = DeclineRules(sentinels=("unanswerable", "not given"))

    assert is_refusal("Unanswerable.", rules)
    assert is_refusal("Not\ngiven, it seems", rules)


def test_another_language():
    german = DeclineRules(
        sentinels=("unbeantwortbar",),
        labels=("antwort",),
        continuations=("anhand", "aus", "weil", "da"),
        introductions=("leider",),
        qualifiers=("die", "diese"),
        subjects=("frage", "das", "sie"),
        predicates=("ist", "bleibt"),
        contractions=(),
        adverbs=("daher",),
        reasons=(),
    )

    assert is_refusal("Antwort: unbeantwortbar", german)
    assert is_refusal("Unbeantwortbar anhand des Textes.", german)
    assert is_refusal("Die Frage ist daher unbeantwortbar, da das Jahr fehlt.", german)
    assert not is_refusal("Die Frage ist unbeantwortbar geblieben.", german)
    assert not is_refusal("The question is unbeantwortbar.", german)
    assert decision_so_far("Diese Frage ", german) == "undecided"
    assert decision_so_far("The", german) == "answering"


def test_without_sentence_words_only_the_sentinel_itself_declines():
    rules = DeclineRules(subjects=(), contractions=(), followers="")

    assert is_refusal("unanswerable", rules)
    assert not is_refusal("It is unanswerable.", rules)
    assert not is_refusal("Unanswerable. The text is short.", rules)
    assert decision_so_far("It", rules) == "answering"


@pytest.mark.parametrize("sentinels", [(), ("",), ("unanswerable", " ** ")])
def test_a_sentinel_that_would_match_everything_is_rejected(sentinels):
    with pytest.raises(InvalidOptionError, match="at least one letter") as caught:
        DeclineRules(sentinels=sentinels)

    assert caught.value.option == "sentinels"


def test_one_string_is_no_list_of_words():
    with pytest.raises(InvalidOptionError, match="must be a tuple"):
        DeclineRules(subjects="question")  # type: ignore[arg-type] # the point


# Streams.


@pytest.mark.slow
def test_ten_thousand_random_cuts_lose_and_leak_nothing():
    generator = random.Random(20240917)  # noqa: S311 - cuts, no secrets
    texts = [*REFUSALS, *ANSWERS]
    for number in range(10_000):
        text = texts[number % len(texts)]
        detector = DeclineDetector()
        given_out = stream(detector, cut(text, generator))

        refused = text in REFUSALS
        assert detector.decision == ("declined" if refused else "answering"), text
        expected = "" if refused else without_reasoning(text, TAGS)
        assert given_out == expected, text


@given(st.data())
def test_any_cut_of_any_words_gives_the_verdict_on_the_whole(data):
    words = ["the", "question", "it", "is", "unanswerable", "un", "from", "Answer", "x"]
    marks = [" ", " ", "\n", ".", ",", ":", "**", '"', "—", "!", "?", "<think>", "</"]
    text = "".join(data.draw(st.lists(st.sampled_from([*words, *marks]), max_size=14)))
    generator = data.draw(st.randoms(use_true_random=False))
    detector = DeclineDetector()

    given_out = stream(detector, cut(text, generator))

    assert (detector.decision == "declined") == is_refusal(text)
    if detector.decision == "answering":
        assert given_out == detector.text == without_reasoning(text, TAGS)
    else:
        assert given_out == ""


@pytest.mark.slow
@given(st.data())
def test_no_beginning_contradicts_the_whole(data):
    rules = DeclineRules()
    words = [*rules.subjects, *rules.predicates, *rules.continuations, *rules.adverbs]
    words += ["unanswerable"] * 12 + ["based", "on", "the", "it's", "Paris", "not"]
    gaps = [" ", " ", " ", ", ", ". ", "\n", ": "]
    pieces = data.draw(
        st.lists(st.tuples(st.sampled_from(words), st.sampled_from(gaps)), max_size=8)
    )
    text = "".join(word + gap for word, gap in pieces)

    impossible = "answering" if is_refusal(text) else "declined"
    for end in range(len(text) + 1):
        assert decision_so_far(text[:end]) != impossible, text[:end]


TINY = DeclineRules(
    sentinels=("u",),
    marks="*",
    bullets="-",
    labels=("l",),
    followers=".:",
    continuations=("k k",),
    introductions=("i",),
    qualifiers=("q",),
    subjects=("s",),
    predicates=("v",),
    contractions=("c",),
    adverbs=("a",),
    reasons=("r",),
    max_words=4,
    reasoning_tags=(),
)


@pytest.mark.parametrize(
    ("alphabet", "depth", "longest_way"),
    [
        ("usv ", 7, 6),  # " s v u"
        ("qsvu ", 7, 6),
        ("icu .", 6, 4),  # " c u"
        ("cau r", 6, 4),
        ("uxk \n", 6, 3),  # "k k"
        ("lu:*x", 6, 2),
        ("u!-.x", 6, 2),
        ("cu. x", 6, 4),
    ],
)
def test_text_is_held_back_exactly_while_some_continuation_refuses(
    alphabet, depth, longest_way
):
    refuses = {
        text: is_refusal(text, TINY)
        for size in range(depth + 1)
        for text in map("".join, itertools.product(alphabet, repeat=size))
    }
    some, every = dict(refuses), dict(refuses)
    for text in sorted(refuses, key=len, reverse=True)[:-1]:
        some[text[:-1]] |= some[text]
        every[text[:-1]] &= every[text]

    for text in [text for text in refuses if len(text) <= depth - 2]:
        decision = decision_so_far(text, TINY)
        if some[text]:
            assert decision != "answering", text
        elif len(text) <= depth - longest_way:
            assert decision == "answering", text
        if not every[text]:
            assert decision != "declined", text
        elif "x" in alphabet and len(text) <= depth - 3:
            assert decision == "declined", text


def test_words_that_no_longer_fit_the_limit_are_not_waited_for():
    assert decision_so_far("i i c", TINY) == "undecided"
    assert decision_so_far("i i ", TINY) == "undecided"  # "c u" still fits
    assert decision_so_far("i i i", TINY) == "answering"
    assert decision_so_far("s q v", TINY) == "undecided"
    assert decision_so_far("s q q v", TINY) == "answering"


@pytest.mark.parametrize(
    ("text", "beginning"),
    [
        ("Paris is the capital.", "Par"),  # "pa" may become "passages"
        ("1912", "1"),
        ("Un answerable case", "Un "),
        ("Unanswerable arguments", "Unanswerable ar"),  # "a" may become "as"
        ("The capital", "The ca"),  # "c" may become "content"
        ("The question is hard", "The question is ha"),
        ("It is unanswerable. That", "It is unanswerable. T"),
        ("According to Burke", "According to Bur"),  # "bu" may become "but"
        ("<think>unanswerable</think>Lima", "<think>unanswerable</think>L"),
    ],
)
def test_held_back_text_is_released_at_the_first_possible_character(text, beginning):
    assert first_release(text) == beginning


def test_release_hands_on_all_that_was_held_back():
    detector = DeclineDetector()

    assert [detector.feed(delta) for delta in ["un", "answer", "ing ", "it"]] == [
        "",
        "",
        "unanswering ",
        "it",
    ]


def test_declined_is_known_before_the_end_and_swallows_the_rest():
    detector = DeclineDetector()

    assert detector.feed("Unanswerable") == ""
    assert detector.decision == "undecided"
    assert detector.feed(". The") == ""
    assert detector.decision == "declined"
    assert detector.feed(" text does not say.") == ""
    assert detector.finish() == ""
    assert detector.text == "Unanswerable. The text does not say."


def test_a_stream_that_ends_inside_the_sentinel_is_an_answer():
    detector = DeclineDetector()

    assert stream(detector, ["unan", "swer"]) == "unanswer"
    assert detector.decision == "answering"


@pytest.mark.parametrize("deltas", [[], [""], [" ", "\n"], ["**", "**"]])
def test_an_empty_reply_is_declined_and_says_so(deltas):
    detector = DeclineDetector()

    assert stream(detector, deltas) == ""
    assert detector.decision == "declined"
    assert detector.empty


def test_a_refusal_in_words_is_not_empty():
    detector = DeclineDetector()
    stream(detector, ["Unanswerable"])

    assert not detector.empty


def test_finishing_twice_gives_nothing_twice():
    detector = DeclineDetector()
    detector.feed("un")

    assert detector.finish() == "un"
    assert detector.finish() == ""


@pytest.mark.parametrize("text", [*REFUSALS, *ANSWERS])
def test_a_final_reply_is_handed_on_at_once_and_judged_all_the_same(text):
    detector = DeclineDetector(final=True, rules=DeclineRules(reasoning_tags=()))

    assert [detector.feed(character) for character in text] == list(text)
    assert detector.finish() == ""
    assert (detector.decision == "declined") == is_refusal(text, detector.rules)


def test_the_sentinel_option_replaces_that_of_the_rules():
    one, several = DeclineDetector("n/a"), DeclineDetector(["n/a", "none"])

    assert stream(one, ["N/A"]) == ""
    assert stream(one, []) == ""
    assert one.decision == "declined"
    assert stream(several, ["None", "."]) == ""
    assert stream(DeclineDetector("n/a"), ["Unanswerable"]) == "Unanswerable"


# Reasoning blocks.


@pytest.mark.parametrize(
    ("text", "rest"),
    [
        ("<think>a</think>b", "b"),
        ("\n <think>a</think>\n\nb", "\n\nb"),
        ("<think></think><think>a</think> b", " b"),
        ("<think>a", ""),
        ("<think>a</thin", ""),
        ("<thin", "<thin"),
        (" <b>", " <b>"),
        ("b <think>a</think>", "b <think>a</think>"),
        ("<think>a<think>b</think>c", "c"),
        ("  b", "  b"),
        ("", ""),
    ],
)
def test_reasoning_is_taken_off_the_front_however_it_is_cut(text, rest):
    assert without_reasoning(text, TAGS) == rest
    block = ReasoningFilter(TAGS)
    assert "".join(map(block.feed, text)) + block.finish() == rest


def test_without_tags_reasoning_is_text_as_any_other():
    rules = DeclineRules(reasoning_tags=())

    assert not is_refusal("<think>well</think>unanswerable", rules)
    assert ReasoningFilter(()).feed("<think>") == "<think>"


@dataclasses.dataclass(frozen=True)
class CountingRules(DeclineRules):
    """Rules that note how many characters are looked at."""

    looked_at: list[int] = dataclasses.field(default_factory=list, hash=False)

    def fold(self, text: str) -> str:
        self.looked_at.append(len(text))
        return super().fold(text)


@pytest.mark.parametrize("pause", ["-", "- ", ",-", "*", ".-", "!", "\n"])
@pytest.mark.parametrize("begun", ["The ", "It is", "Sorry, it is unanswerable", ""])
def test_work_grows_with_the_length_of_a_stream_and_no_faster(begun, pause):
    """Long runs of punctuation leave the verdict open: 16,000 dashes, one by one."""

    def looked_at(length: int) -> int:
        rules = CountingRules()
        detector = DeclineDetector(rules=rules)
        for character in begun + (pause * length)[:length]:
            detector.feed(character)
        detector.finish()
        return sum(rules.looked_at)

    looked_at(1)  # the words of the rules are read once
    assert looked_at(8000) < 4 * looked_at(4000)


@pytest.mark.parametrize(
    "run", ["-", ",", "- ", ".", "!", ". ", ", -", "!.", "-.", "…"]
)
@pytest.mark.parametrize("length", [3, 4, 5, 6, 7, 8, 15, 16, 17, 18, 30, 31])
@pytest.mark.parametrize(
    "frame",
    [
        "the{}question is unanswerable",
        "it is{}unanswerable",
        "it is unanswerable{}",
        "it is unanswerable{}the",
        "unanswerable{}",
        "sorry{}it is unanswerable because",
    ],
)
def test_a_long_run_is_judged_as_a_longer_one(frame, length, run):
    """At no length does it matter that a run was shortened."""
    text = frame.format(run * length)
    longer = frame.format(run * (length + 24))

    assert is_refusal(text) == is_refusal(longer)
