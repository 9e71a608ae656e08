"""One question, step by step, without any model: requests answered by hand."""

import itertools
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oprag.calls import CallModel, Ledger, PromptSize, ReadDocuments, Reply, TokenUsage
from oprag.chunk import FullText, Hit
from oprag.context import ContextOptions
from oprag.effects import Finished, advance
from oprag.errors import ContextWindowError, InvalidOptionError, ModelCallError
from oprag.routing import RouteOptions, read_steps, route

WORDS = [f"word{number}" for number in range(60)]
TEXT = " ".join(WORDS)
TEXTS = {"a": TEXT, "b": TEXT.upper(), "c~": TEXT}
PROMPT = 5


def hit(first: int, last: int, document: str = "a") -> Hit:
    """Words `first` to `last` of a document."""
    text = TEXTS[document]
    start = len(" ".join(WORDS[:first])) + bool(first)
    end = len(" ".join(WORDS[: last + 1]))
    return Hit(text[start:end], {"source": document, "start_index": start})


class Words:
    """Models whose tokens are words, and whose prompt has five besides."""

    def __init__(self, window: int | None = None, reserved: int = 0) -> None:
        self.window = window
        self.reserved = reserved

    def measure_prompt(self, prompt: str) -> PromptSize:
        def tokens(values: Mapping[str, str]) -> int:
            return PROMPT + len(values["context"].split())

        return PromptSize(tokens, self.window, self.reserved)

    def name_model(self, prompt: str) -> str | None:
        return "long" if prompt == "full" else "short"


def reply(text: str, *, declined: bool = False) -> Reply:
    return Reply(text, declined, TokenUsage(10, 1), 0.5)


REFUSAL = reply("unanswerable", declined=True)


class Driven:
    """The events on the way of one question."""

    def __init__(
        self,
        replies: list[Reply | Exception],
        *hits: Hit,
        model: Words | None = None,
        **options: Any,
    ) -> None:
        settings: dict[str, Any] = {
            "steps": ("retrieved", "full"),
            "named": False,
            **options,
        }
        context = settings.pop("context", {})
        self.ledger = Ledger()
        self.read: list[tuple[str, ...]] = []
        self.asked: list[CallModel] = []
        steps = route(
            hits,
            RouteOptions(
                steps=read_steps(settings.pop("steps")),
                context=ContextOptions(token_counter=count, **context),
                **settings,
            ),
            model or Words(),
            ledger=self.ledger,
        )
        given = iter(replies)
        request = advance(steps)
        while not isinstance(request, Finished):
            if isinstance(request, ReadDocuments):
                self.read.append(request.names)
                request = advance(steps, [self.full(name) for name in request.names])
                continue
            self.asked.append(request)
            answer = next(given)
            error = answer if isinstance(answer, Exception) else None
            request = advance(steps, None if error else answer, error)
        assert next(given, None) is None
        self.outcome = request.result
        self.context = request.result.context

    @staticmethod
    def full(name: str) -> FullText:
        return FullText(TEXTS[name], exact=not name.endswith("~"))

    @property
    def decisions(self) -> list[tuple[str, str]]:
        return [(entry.step, entry.decision) for entry in self.ledger.entries]


def count(text: str) -> int:
    return len(text.split())


def test_an_answer_from_the_chunks_reads_no_document():
    driven = Driven([reply("yes")], hit(4, 5), hit(1, 1))

    assert driven.asked[0].context.text == "word1\n\nword4 word5"
    assert driven.asked[0].purpose == "attempt"
    assert driven.read == []
    assert driven.outcome.text == "yes"
    assert driven.context is driven.asked[0].context


def test_after_a_refusal_the_documents_are_read_in_reading_order():
    driven = Driven([REFUSAL, reply("yes")], hit(9, 9, "b"), hit(3, 4), hit(1, 1, "b"))

    assert driven.read == [("b", "a")]
    assert driven.asked[1].context.text == f"{TEXTS['b']}\n\n{TEXT}"
    assert driven.asked[1].purpose == "answer"
    assert driven.decisions == [("retrieved", "declined"), ("full", "answered")]


def test_by_score_each_stands_behind_its_number():
    driven = Driven([reply("yes")], hit(5, 6), hit(0, 1), context={"order": "rank"})

    numbered = driven.asked[0].context.text.split("\n\n")
    assert [text.split("] ")[1] for text in numbered] == ["word5 word6", "word0 word1"]
    assert all(text.startswith("[Chunk ") for text in numbered)


def test_a_text_that_is_not_proved_is_read_and_marked():
    driven = Driven([REFUSAL, reply("y")], hit(3, 4, "c~"))

    assert driven.outcome.described()["exact"] is False
    assert [excerpt.exact for excerpt in driven.context.excerpts] == [False]


def test_a_window_cuts_chunks_and_says_so():
    model = Words(window=PROMPT + 7 + 1, reserved=1)
    driven = Driven([reply("y")], hit(20, 24), hit(0, 4), model=model)

    assert driven.asked[0].context.text.split() == WORDS[20:25]
    assert driven.ledger.entries[0].note == "cut to the window"


def test_a_window_cuts_documents_and_says_so():
    model = Words(window=40, reserved=5)
    driven = Driven([REFUSAL, reply("y")], hit(20, 24), model=model)

    read = driven.asked[1].context
    assert len(read.text.split()) <= 40 - 5 - PROMPT
    assert set(WORDS[20:25]) <= set(read.text.split())
    assert not read.whole
    assert driven.ledger.entries[1].note == ("cut to the window")


def test_nothing_retrieved_is_nothing_to_read():
    nothing = Driven([])

    assert nothing.outcome.step is None
    assert nothing.outcome.text is None
    assert not nothing.outcome.answered
    assert nothing.context.text == ""


def test_blank_chunks_are_nothing_to_read():
    blank = Hit(" \n", {"source": "a", "start_index": 0})
    driven = Driven([reply("y")], blank)

    assert driven.decisions[0] == ("retrieved", "skipped")


def test_a_context_is_compared_with_all_before_it():
    hits = hit(0, 4), hit(10, 14)
    driven = Driven([REFUSAL, REFUSAL], *hits, steps=("retrieved", 5, 100))

    assert [entry.decision for entry in driven.ledger.entries] == [
        *("declined", "declined", "skipped")
    ]
    assert driven.outcome.step.name == "5"
    assert not driven.outcome.answered


def test_a_reply_that_was_cut_is_an_answer_and_says_so():
    cut = Reply("It was bu", False, TokenUsage(10, 3), 0.5, finish="length")
    driven = Driven([cut], hit(0, 4))

    assert driven.outcome.described() == {
        "step": "retrieved",
        "answered": True,
        "finish": "length",
    }


def test_a_failure_carries_what_went_before():
    with pytest.raises(ModelCallError, match="failed at step 'full'") as error:
        Driven([REFUSAL, TimeoutError("too slow")], hit(0, 1))

    assert isinstance(error.value.__cause__, TimeoutError)
    steps = error.value.usage["steps"]
    assert [step["decision"] for step in steps] == ["declined", "failed"]
    assert steps[1]["model"] == "long"


def test_a_failure_of_the_window_names_the_option():
    refused = ValueError("This model's maximum context length is 10 tokens.")
    with pytest.raises(ContextWindowError, match="max_context_tokens=") as error:
        Driven([REFUSAL, refused], hit(0, 1))

    assert error.value.needed == PROMPT + 60
    assert isinstance(error.value.__cause__, ModelCallError)
    assert error.value.__cause__.__cause__ is refused


def test_an_error_of_our_own_stays_as_it_is():
    own = InvalidOptionError("no", option="x", value=1)
    with pytest.raises(InvalidOptionError) as error:
        Driven([own], hit(0, 1))

    assert error.value is own


@given(st.lists(st.booleans(), min_size=1, max_size=4), st.booleans())
def test_the_first_reply_that_does_not_decline_is_final(declining, last):
    """Every step before it declined; none after it is asked; the last one counts."""
    budgets = [5 * (number + 1) for number in range(len(declining))]
    verdicts = [*declining, last]
    answered = list(itertools.takewhile(bool, verdicts[:-1]))
    calls = len(answered) + 1
    replies = [
        REFUSAL if declines else reply(f"answer {number}")
        for number, declines in enumerate(verdicts[:calls])
    ]
    hits = [hit(10 * number, 10 * number + 4) for number in range(5)]

    driven = Driven(list(replies), *hits, steps=(*budgets, "full"))

    assert len(driven.asked) == calls
    assert driven.outcome.text == replies[-1].text
    assert driven.outcome.answered == (not replies[-1].declined)
    lengths = [len(ask.context.text) for ask in driven.asked]
    assert lengths == sorted(lengths)
