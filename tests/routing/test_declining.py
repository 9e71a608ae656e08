"""What counts as a refusal, and when a stream shows it."""

from __future__ import annotations

import functools
import itertools
import random
import re
import time
import unicodedata
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oprag.calls import ReasoningFilter, without_reasoning
from oprag.errors import InvalidOptionError
from oprag.routing import DeclineDetector, DeclineRules, as_decline_rules, is_refusal
from oprag.routing.refusal_words import _words, grammar_of
from oprag.routing.refusals import judge
from tests.routing.refusal_samples import (
    ANSWERS,
    ANSWERS_BY_TONE,
    LENIENT_REFUSALS,
    REFUSALS,
    REFUSALS_BY_TONE,
)

ROOT = Path(__file__).parents[2]
TAGS = (("<think>", "</think>"),)
LENIENT = DeclineRules(lenient=True)
ALL = (*REFUSALS, *ANSWERS, *LENIENT_REFUSALS)


def stream(detector: DeclineDetector, deltas: Iterable[str]) -> str:
    return "".join(map(detector.feed, deltas)) + detector.finish()


def cut(text: str, generator: random.Random) -> list[str]:
    """Cut at random places; equal places give empty pieces."""
    cuts = [generator.randint(0, len(text)) for _ in range(generator.randint(0, 6))]
    places = [0, *sorted(cuts), len(text)]
    return [text[start:end] for start, end in itertools.pairwise(places)]


def first_release(text: str, rules: DeclineRules | None = None) -> str | None:
    """Give the shortest beginning at which anything is handed on."""
    detector = DeclineDetector(rules=rules)
    for end in range(len(text)):
        if detector.feed(text[end]):
            return text[: end + 1]
    return None


# The verdict on a whole reply.


def test_there_are_enough_of_each():
    new_refusals = {*itertools.chain(*REFUSALS_BY_TONE.values())}
    new_answers = {*itertools.chain(*ANSWERS_BY_TONE.values())}

    assert len(new_refusals) >= 150
    assert len(new_answers) >= 150
    assert len(REFUSALS) == 647
    assert len(ANSWERS) == 533
    assert len(LENIENT_REFUSALS) == 34


def test_refusals_are_recognised():
    assert [text for text in REFUSALS if not is_refusal(text)] == []
    assert [text for text in REFUSALS if not is_refusal(text, LENIENT)] == []


def test_answers_are_answers_whatever_words_they_hold():
    assert [text for text in ANSWERS if is_refusal(text)] == []
    assert [text for text in ANSWERS if is_refusal(text, LENIENT)] == []


def test_that_nothing_was_found_is_an_answer_unless_the_rules_are_lenient():
    assert [text for text in LENIENT_REFUSALS if is_refusal(text)] == []
    assert [text for text in LENIENT_REFUSALS if not is_refusal(text, LENIENT)] == []


def test_the_page_says_what_a_refusal_is():
    page = (ROOT / "docs/self_route.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (.+) \| (a refusal|an answer)(.*) \|$", page, re.MULTILINE)

    assert len(rows) == 10
    for reply, verdict, unless in rows:
        assert is_refusal(reply) == (verdict == "a refusal"), reply
        assert is_refusal(reply, LENIENT) == (verdict == "a refusal" or bool(unless))


def test_lenient_rules_count_two_sentences_and_no_more():
    assert is_refusal("The text does not say. No year is given.", LENIENT)
    assert not is_refusal("The text does not say. " * 3, LENIENT)
    assert not is_refusal("The text does not say " + "so " * 100 + ".", LENIENT)


def test_a_missing_reply_counts_as_declined():
    assert is_refusal(None)


@pytest.mark.parametrize("end", [".", ",", ":", ";", "—", " -", "\n", "\n\n", " ("])
def test_a_reason_may_follow_the_sentinel_and_anything_else_may_not(end):
    assert is_refusal(f"Unanswerable{end} the text names no year")
    assert not is_refusal(f"Unanswerable{end} Ann did it")


def test_what_stands_behind_two_sentences_changes_nothing():
    rest = " It was Ann, said Holmes. " * 20

    assert is_refusal("Unanswerable. The text does not say." + rest)
    assert is_refusal("The text does not say. Unanswerable." + rest)
    assert not is_refusal("The text does not say. Nor does he. Unanswerable.")


def test_what_stands_behind_300_characters_changes_nothing():
    long = "The text does not say " + "so " * 92
    assert len(long) == 298

    assert is_refusal("Unanswerable, as no passage names it" + " or her" * 40 + " Ann.")
    assert not is_refusal(f"{long}; unanswerable")
    assert not is_refusal(" " * 20 + f"{long}; unanswerable")
    assert is_refusal(long[: 300 - len("; unanswerable")] + "; unanswerable")


@pytest.mark.parametrize(
    "sentinel", ["N/A", "NO_ANSWER", "not in the text", "无法回答", "no-answer", "N.A."]
)
def test_other_sentinels(sentinel):
    rules = DeclineRules(sentinels=(sentinel,))

    assert is_refusal(sentinel, rules)
    assert is_refusal(f"**{sentinel}**.", rules)
    assert is_refusal(f"The answer is {sentinel.upper()}.", rules)
    assert not is_refusal("unanswerable", rules)
    assert not is_refusal(f"{sentinel} arguments", rules)


def test_several_sentinels():
    rules = DeclineRules(sentinels=("unanswerable", "not given"))

    assert is_refusal("Unanswerable.", rules)
    assert is_refusal("Not\ngiven, it seems", rules)


@pytest.mark.parametrize("reply", ["Unbeantwortbar", "„unbeantwortbar.“", "无法回答。"])
def test_a_sentinel_of_another_language_is_recognised_in_its_bare_form(reply):
    rules = DeclineRules(sentinels=("unbeantwortbar", "无法回答"))

    assert is_refusal(reply, rules)


@pytest.mark.parametrize(
    "reply",
    ["Die Frage ist unbeantwortbar.", "Unbeantwortbar, weil das Jahr fehlt.", "Die"],
)
def test_sentences_of_another_language_are_answers(reply):
    rules = DeclineRules(sentinels=("unbeantwortbar",))

    assert not is_refusal(reply, rules)


@pytest.mark.parametrize("sentinels", [(), ("",), ("unanswerable", " ** "), ("...",)])
def test_a_sentinel_that_would_match_everything_is_rejected(sentinels):
    with pytest.raises(InvalidOptionError, match="needs a letter") as caught:
        DeclineRules(sentinels=sentinels)

    assert caught.value.option == "sentinels"


def test_one_string_is_no_list_of_sentinels():
    with pytest.raises(InvalidOptionError, match="must be a tuple"):
        DeclineRules(sentinels="unanswerable")  # type: ignore[arg-type] # the point


def test_rules_are_named_or_given():
    given = DeclineRules(sentinels=("n/a",))

    assert as_decline_rules(None, None) == DeclineRules()
    assert as_decline_rules(None, "lenient") == DeclineRules(lenient=True)
    assert as_decline_rules(None, given) is given
    assert as_decline_rules(["a", "b"], "lenient") == DeclineRules(("a", "b"), True)
    with pytest.raises(InvalidOptionError, match='"lenient" or None') as caught:
        as_decline_rules(None, "strict")  # type: ignore[arg-type] # the point
    assert caught.value.option == "decline_rules"


# Streams.


def shown_of(text: str) -> str:
    """What is to be seen of an answer."""
    return without_reasoning(text, DeclineRules().reasoning_tags)


def is_kept(text: str, rules: DeclineRules, pieces: Iterable[str]) -> None:
    """Whether no character of a refusal is shown and none of an answer lost."""
    detector = DeclineDetector(rules=rules)
    given_out = stream(detector, pieces)

    refused = text in REFUSALS or (rules.lenient and text in LENIENT_REFUSALS)
    assert detector.decision == ("declined" if refused else "answering"), text
    assert given_out == ("" if refused else shown_of(text)), text


@pytest.mark.slow
@pytest.mark.parametrize("rules", [DeclineRules(), LENIENT], ids=["default", "lenient"])
def test_character_by_character_nothing_leaks_and_nothing_is_lost(rules):
    for text in ALL:
        is_kept(text, rules, text)


@pytest.mark.slow
def test_nor_at_any_single_cut():
    for text in ALL:
        rules = LENIENT if text in LENIENT_REFUSALS else DeclineRules()
        for place in range(len(text) % 3, len(text), 3):
            is_kept(text, rules, [text[:place], text[place:]])


@pytest.mark.slow
def test_nor_at_ten_thousand_random_cuts():
    generator = random.Random(20240917)  # noqa: S311 - cuts, no secrets
    for number in range(10_000):
        text = ALL[number % len(ALL)]
        is_kept(text, DeclineRules(), cut(text, generator))


WORDS = (
    *("the", "this", "question", "it", "is", "unanswerable", "un", "from", "answer"),
    *("not", "text", "passages", "says", "mention", "sorry", "so", "based", "on"),
    *("since", "as", "after", "reading", "well", "hmm", "ok", "so no", "the passages"),
    *("passage 1", "2", "sure", "in short", "still", "verdict", "while", "does"),
    *("i", "cannot", "because", "but", "Kant", "there", "no", "yes", "an", "Mr.", "x"),
)
MARKS = (
    *(" ", " ", " ", "\n", "\n\n", ". ", ".", ",", ":", "; ", "**", '"', "—", "-", "!"),
    *(
        "[1]",
        "1. ",
        "😞",
        "\u00ad",
        "\\boxed{",
        "= ",
        "n/a",
        "<|channel|>final",
        "none",
    ),
    *("? ", "(", "<think>", "</", "</s>", "```", "```json\n", "。"),
)


@pytest.mark.parametrize("text", ["unanswerable? unanswerable", "Unanswerable? **No**"])
def test_a_sentinel_with_a_question_mark_behind_it_is_judged_the_same_at_any_cut(text):
    for place in range(len(text)):
        detector = DeclineDetector()
        given_out = stream(detector, [text[:place], text[place:]])

        assert (detector.decision, given_out) == ("answering", text)
    assert not is_refusal(text)


@given(st.data())
def test_any_cut_of_any_words_gives_the_verdict_on_the_whole(data):
    pieces = st.lists(st.sampled_from([*WORDS, *MARKS]), max_size=24)
    text = "".join(data.draw(pieces))
    rules = data.draw(st.sampled_from([DeclineRules(), LENIENT]))
    generator = data.draw(st.randoms(use_true_random=False))
    detector = DeclineDetector(rules=rules)

    cuts = data.draw(st.sampled_from([text, cut(text, generator)]))
    given_out = stream(detector, cuts)

    assert (detector.decision == "declined") == is_refusal(text, rules)
    if detector.decision == "answering":
        assert given_out == detector.text == shown_of(text)
    else:
        assert given_out == ""


ENDINGS = (
    *(" not in the text: unanswerable.", "question is unanswerable.", "unanswerable."),
    *(" question is unanswerable.", " is unanswerable.", " unanswerable.", "able."),
    *(" it is unanswerable.", " to the text: unanswerable.", " on it: unanswerable."),
    *(" ai: unanswerable.", " apologies: unanswerable.", " the text: unanswerable."),
    *(" like it is unanswerable.", " information: unanswerable.", " in: unanswerable."),
    *(" an ai: unanswerable.", " would seem so: unanswerable.", "", " yes"),
    *(" answer: unanswerable.", "answer: unanswerable.", " on the text: unanswerable."),
    *("on the text: unanswerable.", "t say: unanswerable.", "say: unanswerable."),
    *(" say: unanswerable.", " cannot say: unanswerable.", "cannot say: unanswerable."),
    *("hinking>unanswerable.", "\nunanswerable.", " of the text: unanswerable."),
    *("text: unanswerable.", "of the text: unanswerable.", "ai: unanswerable."),
    *("not in the text: unanswerable.", "x not in the text: unanswerable."),
    *("an ai cannot say: unanswerable.", " an ai cannot say: unanswerable."),
    *("able question.", " question.", "unanswerable question."),
    *('" is unanswerable.', "e not found it: unanswerable."),
    *(" unanswerable question.", "n ai cannot say: unanswerable."),
    *(" ai cannot say: unanswerable.", "s an ai cannot say: unanswerable."),
    *(" reading it: unanswerable.", "reading it: unanswerable.", ", unanswerable."),
    *("text does not say: unanswerable.", " text does not say: unanswerable."),
    *(" that the text does not say: unanswerable.", "read it: unanswerable."),
    *(
        " read it: unanswerable.",
        " do not say: unanswerable.",
        "do not say: unanswerable.",
    ),
    *(" not say: unanswerable.", "not say: unanswerable.", " short: unanswerable."),
    *(" honest: unanswerable.", " be honest: unanswerable.", " review: unanswerable."),
    *(
        " with unanswerable.",
        " going with unanswerable.",
        " is the answer: unanswerable.",
    ),
    *("the text does not say it. unanswerable.", "short: unanswerable."),
    *("to be honest: unanswerable.", " as unanswerable.", "boxed{unanswerable}"),
    "a: unanswerable.",
)
"""One of these, behind the rest of a word, makes a refusal of a text held back."""


@pytest.mark.slow
def test_text_is_held_back_only_while_both_verdicts_are_possible():
    rules = DeclineRules(reasoning_tags=())
    vocabulary = grammar_of(rules.folded_sentinels).words

    @functools.cache
    def continued(begun: str) -> list[str]:
        return [word for word in vocabulary if word.startswith(begun)]

    def rests(part: str) -> Iterator[str]:
        yield ""
        begun = re.split(r"[\W_]", unicodedata.normalize("NFKC", part))[-1].casefold()
        for word in continued(begun) if begun else ():
            yield word[len(begun) :]

    for text in ALL[::4]:
        parts = (text[:end] for end in range(1, min(len(text), 200)))
        for part in parts:
            if (
                re.search(r"<|\[\d+\Z", part)
                or judge(part, rules, ended=False) != "undecided"
            ):
                continue
            assert not is_refusal(part + "zz; Ann did.", rules), part
            assert any(
                is_refusal(part + rest + ending, rules)
                for ending in ENDINGS
                for rest in rests(part)
            ), part


FIRST_WORDS = {
    *("the", "this", "that", "these", "those", "your", "our", "my", "it", "its"),
    *("thats", "ones", "question", "questions", "query", "request", "answer"),
    *("response", "final", "short", "correct", "so", "therefore", "thus", "hence"),
    *("there", "theres", "no", "not", "nothing", "none", "neither", "insufficient"),
    *("i", "im", "id", "ive", "we", "cannot", "cant", "unable", "sorry", "apologies"),
    *("unfortunately", "regrettably", "based", "according", "given", "from", "as"),
    *("since", "because", "seeing", "after", "having", "well", "hmm", "hm"),
    *("ok", "okay", "yes", "alright", "understood", "a", "sure", "certainly", "n"),
    *("unclear", "unknown", "while", "although", "though", "upon", "on", "in", "to"),
    *("here", "heres", "ill", "and", "do", "does", "did", "dont", "doesnt", "didnt"),
    *_words("PIECE|ADVERB|LABEL"),
    "unanswerable",
}
"""With these a refusal may begin."""


def first_word(text: str) -> str:
    found = re.match(r"(?:\d[.)]\s?)?(?:\d[\d.,]*|[\w'’]+)", text)
    return re.sub(r"['’]", "", found[0]).casefold() if found else ""


def test_of_an_answer_that_begins_otherwise_nothing_is_held_beyond_the_first_word():
    words = {text: first_word(text) for text in ANSWERS}
    otherwise = [
        text
        for text, word in words.items()
        if word.rpartition(" ")[2] not in FIRST_WORDS
    ]
    assert len([text for text in otherwise if words[text]]) > 60

    for text in otherwise:
        if word := words[text]:
            assert len(first_release(text) or word) <= len(word) + 1, text


@given(st.from_regex(r"[A-Za-z]{1,12}[ ,.;:!?]", fullmatch=True), st.text(max_size=40))
def test_nor_of_any_other_text(first, rest):
    detector = DeclineDetector()
    shown = detector.feed(first) + detector.feed(rest)

    if first[:-1].casefold() not in FIRST_WORDS:
        assert shown == first + rest


@given(st.data())
def test_no_more_than_300_characters_or_two_sentences_are_held_back(data):
    pieces = st.lists(st.sampled_from([*WORDS, *MARKS[:16]]), max_size=400)
    text = "unanswerable " + "".join(data.draw(pieces))
    rules = data.draw(st.sampled_from([DeclineRules(), LENIENT]))
    detector = DeclineDetector(rules=rules)

    for end, character in enumerate(text, start=1):
        detector.feed(character)
        if detector.decision != "undecided":
            break
        assert end <= 300
        assert len(re.findall(r"[a-z]{3}\. +(?=[^.\s]*\w)", text[:end])) < 3


@pytest.mark.parametrize(
    ("text", "beginning"),
    [
        ("Lima is the capital.", "Lim"),
        ("1912", "19"),  # "1" may become "1."
        ("Un answerable case", "Un "),
        ("Unanswerable arguments", "Unanswerable ar"),  # "a" may become "as"
        ("The capital", "The ca"),  # "c" may become "context"
        ("The text names Ann", "The text names An"),
        ("It was built", "It was bu"),
        ("No, she said", "No, she"),  # "sh" may become "short"
        ("Because he was ill.", "Because h"),
        ("Since 1807.", "Since 1"),
        ("As the treaty of 1807 says", "As the tre"),  # "tr" may become "transcript"
        ("As the text says, it", "As the text says, it"),
        ("After reading the letter, Ann", "After reading the letter, Ann"),
        ("Well water", "Well "),
        ("Yes, it is unanswerable.", "Yes, it"),
        ("It is unanswerable, he said. That", "It is unanswerable, he said. "),
        ("According to Burke", "According to Bu"),
        ("```python\nx = 1", "```python\nx"),
        ("<think>unanswerable</think>Kiel", "<think>unanswerable</think>K"),
        ("<thinking>a</thinking>Kiel", "<thinking>a</thinking>K"),
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


def test_declined_is_known_after_two_sentences_and_swallows_the_rest():
    detector = DeclineDetector()

    assert detector.feed("Unanswerable. The text does not say.") == ""
    assert detector.decision == "undecided"
    assert detector.feed(" It") == ""
    assert detector.decision == "declined"
    assert detector.feed(" names no one.") == ""
    assert detector.finish() == ""
    assert detector.text == "Unanswerable. The text does not say. It names no one."


def test_a_stream_that_ends_inside_the_sentinel_is_an_answer():
    detector = DeclineDetector()

    assert stream(detector, ["unan", "swer"]) == "unanswer"
    assert detector.decision == "answering"


@pytest.mark.parametrize("deltas", [[], [""], [" ", "\n"], ["**", "**"], ["<", "/s>"]])
def test_an_empty_reply_is_declined(deltas):
    detector = DeclineDetector()

    assert stream(detector, deltas) == ""
    assert detector.decision == "declined"


def test_finishing_twice_gives_nothing_twice():
    detector = DeclineDetector()
    detector.feed("un")

    assert detector.finish() == "un"
    assert detector.finish() == ""


@pytest.mark.slow
def test_a_final_reply_is_handed_on_at_once_and_judged_all_the_same():
    for text in ALL:
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


RUNS = ["-", "- ", ",-", "*", ".-", "!", "\n", " ", "x", "so ", "<", "the "]
RUNS += ["so well, ", "no. ", "hmm... ", "after reading it, ", "n/a - ", "none. "]
RUNS += ["unanswerable ", "in short, ", "[1]", "1. ", "passages 1 and 2 ", "😞"]
RUNS += ["\\boxed{", "\u200b", "probably ", "result: "]


def seconds(text: str) -> float:
    detector = DeclineDetector()
    start = time.process_time()
    for character in text:
        detector.feed(character)
    detector.finish()
    return time.process_time() - start


@pytest.mark.parametrize("begun", ["The ", "It is", "Sorry, it is unanswerable", ""])
def test_work_grows_with_the_length_of_a_stream_and_no_faster(begun):
    # A run of 16,000 dashes, one by one, once took seconds. Now it may take as long as
    # an answer of that length, and what the first 300 characters take.
    plain = seconds("Paris " + "x" * 16_000)

    for run in RUNS:
        assert seconds(begun + (run * 16_000)[:16_000]) < 4 * plain + 1, run


@pytest.mark.parametrize("run", RUNS)
def test_a_long_run_is_one_answer_however_it_comes(run):
    text = "The " + run * 16_000 + " unanswerable"
    detector = DeclineDetector()

    assert not is_refusal(text)
    assert stream(detector, text) == text


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
