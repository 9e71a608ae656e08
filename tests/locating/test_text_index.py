"""Some chunks of a text, in any order: found where that is proved, and soon."""

import random

import pytest

from oprag import order_context
from oprag.chunk import Span
from oprag.errors import MissingPositionError
from oprag.locating import place_some, text_index
from tests.locating.comparing import tight
from tests.locating.disguise import Bare, Disguise
from tests.locating.settings import SETTINGS

NAMES = ("lighthouse", "harbour", "winter", "tower", "market")


def searched(text, chunks):
    """`start_index` as LangChain searches for it, the overlap counted in tokens."""
    starts, start, before = [], 0, 0
    for chunk in chunks:
        start = text.find(chunk, max(start + before - 4, 0))
        starts.append(start)
        before = len(chunk)
    return starts


@pytest.mark.parametrize("setting", SETTINGS, ids=lambda setting: setting.name)
def test_no_recorded_place_is_believed_that_the_text_denies(setting):
    draw = random.Random(setting.name)  # noqa: S311 -- a text, no secret
    stock = [f"Item {n} is {draw.choice(['open', 'done'])}." for n in range(12)]
    lines = [f"Day {n}." if n % 9 == 0 else draw.choice(stock) for n in range(300)]
    text = "\n".join(lines)
    disguise = Disguise(text, setting.keep)
    chunks = setting.split(Bare(text))
    truth = [disguise.span(copy) for copy in setting.split(disguise)]
    metadatas = [{"source": "a", "start_index": n} for n in searched(text, chunks)]
    of_each = list(zip(chunks, metadatas, truth, strict=True))

    placed = 0
    for size in [1, 2, 5] * 60:
        asked = [draw.choice(of_each) for _ in range(size)]
        try:
            passages = order_context(
                *([each[i] for each in asked] for i in (0, 1)), documents={"a": text}
            )
        except MissingPositionError:
            continue
        for passage in passages:
            true = asked[passage.rank][2]
            if passage.exact:
                assert text[slice(*passage.spans[0])] == passage.text
            if passage.spans and true is not None:
                placed += tight(text, passage.spans[0]) == true
    assert placed


def test_sentences_that_were_put_in_another_order_are_not_found():
    parts = [" ".join(f"{name} {n}" for n in range(9)) for name in NAMES]
    one, _, three, four, five = parts
    source = " ".join(parts)
    at = Span(source.index(three), source.index(three))

    (found,) = place_some(source, [f"{four} {five} {three}"], None, [at])
    assert found.status == "not_found"
    header, body = f"{three} {four}", f"{three} {four} {five}"
    (found,) = place_some(source, [f"{header}\n{body}"], None, [at])
    assert found == ((at.start, at.start + len(body)), "inside")
    (found,) = place_some(source, [f"{one}\n{three} {four}"], None, [at])
    assert found.span == (at.start, at.start + len(three) + len(four) + 1)


def test_as_many_chunks_as_copies_stand_where_each_is_recorded():
    text = "One.\nTwo.\nOne."
    first, last = Span(0, 4), Span(10, 14)

    found = place_some(text, ["One.", "Two.", "One."], None, [last, None, first])
    assert [location.span for location in found] == [last, Span(5, 9), first]
    for recorded in ([last, None, last], [None, None, first], [first, None, (9, 13)]):
        found = place_some(text, ["One.", "Two.", "One."], None, recorded)
        assert [location.span for location in found] == [None, Span(5, 9), None]


def test_only_so_many_characters_are_kept(monkeypatch):
    monkeypatch.setattr(text_index, "_MOST_KEPT", 1_000)
    for number in range(20):
        place_some(f"{number:03} " * 100, ["x"])
    assert sum(len(text) for text, _ in text_index._kept) <= 1_000

    place_some("long " * 1_000, ["x"])  # alone it is kept, whatever its length
    assert [len(text) for text, _ in text_index._kept] == [5_000]


def test_an_order_that_is_recorded_proves_more():
    text = "Chorus. " + "First verse. " * 1 + "x" * 3_000 + " Chorus. End."
    chunks = ["First verse.", "x" * 3_000, "Chorus.", "End."]

    assert place_some(text, chunks)[2].status == "ambiguous"
    found = place_some(text, chunks, [0, 1, 2, 3])
    assert found[2].span == (len(text) - 12, len(text) - 5)
    # Numbers that contradict the places say nothing.
    assert place_some(text, chunks, [3, 2, 1, 0])[2].status == "ambiguous"


def test_white_space_never_counts():
    ((span, status),) = place_some("a  b\n\nc d", ["b c"])
    assert (span, status) == ((3, 7), "whitespace")


def test_what_is_found_does_not_depend_on_what_was_asked_before():
    rng = random.Random(0)  # noqa: S311 -- a text, no secret
    words = ["".join(rng.choices("abcdefgh", k=rng.randint(2, 6))) for _ in range(60)]
    source = " ".join(rng.choices(words, k=1_500))
    asked = [
        f"A header. {source[at : at + size]}" for at, size in ((900, 90), (40, 500))
    ]
    alone = []
    for text in asked:
        text_index._kept.clear()
        alone.append(place_some(source, [text], recorded=[None]))

    assert [place_some(source, [text], recorded=[None]) for text in asked] == alone
