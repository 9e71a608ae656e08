"""A repair writes true places only, whatever repeats itself and however it lies."""

import random
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oprag.diagnosing import diagnose, plan_repair
from oprag.stores import StoredChunk
from tests.kit.effort import cases
from tests.locating.repeating import cut_text


def false_places(seed: int) -> tuple[int, int, int]:
    """Chunks in a store that keeps no order; places that are written; false ones.

    Chunks of equal text may stand for one another: nothing tells them apart.
    """
    rng = random.Random(seed)  # noqa: S311 -- a text and an order, no secret
    cut = cut_text(rng)
    pieces = list(zip(cut.texts, cut.spans, strict=True))
    one_size = rng.random() < 0.75
    if not one_size:
        size = rng.randint(1, 9)
        spans = [
            (at, min(at + size, len(cut.source)))
            for at in range(0, len(cut.source), size)
        ]
        # One split twice may read as one whose chunks overlap.
        if spans != [*cut.spans]:
            pieces += [(cut.source[slice(*span)], span) for span in spans]
    order = list(range(len(pieces)))
    lies = rng.choice(["kept", "shuffled", "neighbours exchanged"])
    if lies == "shuffled":
        rng.shuffle(order)
    elif lies == "neighbours exchanged" and len(order) > 1:
        at = rng.randrange(len(order) - 1)
        order[at : at + 2] = order[at + 1], order[at]
    if rng.random() < 0.2:  # a splitter that alters white space
        pieces = [(" ".join(text.split()), span) for text, span in pieces]
    chunks = [StoredChunk(pieces[i][0], {"source": "a"}, str(i)) for i in order]

    plan = plan_repair(chunks, {"a": cut.source})

    return len(chunks), *_compared(cut.source, pieces, plan, in_order=one_size)


def _compared(source, pieces, plan, *, in_order: bool) -> tuple[int, int]:
    true = Counter((text.strip(), tight(source, span)) for text, span in pieces)
    written: Counter[tuple[str, tuple[int, int]]] = Counter()
    numbered = []
    for change in plan.changes:
        text, update = pieces[int(change.id)][0].strip(), change.update
        if text and update.get("char_start") is not None:
            span = update["char_start"], update["char_end"]
            written[text, tight(source, span)] += 1
        if text and update.get("chunk_index") is not None:
            numbered.append((update["chunk_index"], text))
    wrong = sum((written - true).values())
    if in_order and numbered:
        read = [text for _, text in sorted(numbered)]
        wrong += read != [text.strip() for text, _ in pieces if text.strip()]
    return sum(written.values()), wrong


def tight(source: str, span: tuple[int, int]) -> tuple[int, int]:
    found = source[slice(*span)]
    left = len(found) - len(found.lstrip())
    return span[0] + left, span[0] + len(found.rstrip())


@settings(max_examples=cases(150))
@given(seed=st.integers(0, 2**32))
def test_no_place_that_a_repair_writes_is_false(seed):
    assert false_places(seed)[2] == 0


def test_an_order_that_another_fits_as_well_is_said_to_be_ambiguous():
    texts = ["word", "word word", "word word"]
    chunks = [StoredChunk(t, {"source": "a"}, str(i)) for i, t in enumerate(texts)]
    documents = {"a": "word word word word word"}

    plan = plan_repair(chunks, documents)

    assert not any("char_start" in change.update for change in plan.changes)
    (_, found) = diagnose(chunks, documents=documents).problems
    assert (found.kind, found.chunks) == ("ambiguous_place", 3)


@pytest.mark.parametrize(
    ("source", "texts"),
    [
        ("ab \nc \nabc", ["\nabc", "ab \nc "]),
        ("a b c\na b c", ["ab c", "a bc"]),  # both were altered
    ],
)
def test_chunks_that_differ_in_white_space_alone_stand_where_theirs_is(source, texts):
    chunks = [StoredChunk(t, {"source": "a"}, str(i)) for i, t in enumerate(texts)]

    plan = plan_repair(chunks, {"a": source})

    assert not any("char_start" in change.update for change in plan.changes)
    assert {chunk.detail for chunk in plan.unproved} == {"ambiguous"}


def test_where_no_source_is_found_both_names_are_told():
    chunk = StoredChunk("One.", {"source": "/data/days.txt"}, "a")
    nameless = StoredChunk("Two.", {"seq": 1}, "b")
    there = dict.fromkeys(["nights.txt", "weeks.txt", "x.txt", "y.txt"], "Three.")

    *_, found = diagnose([chunk, nameless], documents=there).problems

    given_are = "given are 'nights.txt', 'weeks.txt', 'x.txt' and 1 more"
    assert [example.detail for example in found.examples] == [
        f"looked for '/data/days.txt'; {given_are}",
        f"names no document; {given_are}",
    ]


def recorded_truly(seed: int) -> tuple[list[StoredChunk], dict[str, str]]:
    """Chunks that all have their true places, in a store that keeps no order."""
    rng = random.Random(seed)  # noqa: S311 -- a text and an order, no secret
    cut = cut_text(rng)
    spans = list(cut.spans)
    how = rng.choice(["all", "some lost", "two sizes"])
    if how == "some lost":
        spans = [span for span in spans if rng.random() < 0.8]
    elif how == "two sizes":
        size, length = rng.randint(1, 9), len(cut.source)
        spans += [(at, min(at + size, length)) for at in range(0, length, size)]
    spans = list(dict.fromkeys(spans))
    if rng.random() < 0.7:
        rng.shuffle(spans)
    ours = rng.random() < 0.5
    chunks = []
    for number, (start, end) in enumerate(spans):
        place = {"char_start": start, "char_end": end}
        metadata = {"source": "a", **(place if ours else {"start_index": start})}
        chunks.append(StoredChunk(cut.source[start:end], metadata, str(number)))
    return chunks, {"a": cut.source}


@settings(max_examples=cases(150))
@given(seed=st.integers(0, 2**32))
def test_true_places_stay_whatever_the_order_of_the_store(seed):
    chunks, documents = recorded_truly(seed)
    true = {
        chunk.id: chunk.metadata.get("start_index", chunk.metadata.get("char_start"))
        for chunk in chunks
    }
    alone = diagnose(chunks)

    compared = diagnose(chunks, documents=documents)
    plan = plan_repair(chunks, documents)

    assert (compared.verdict, compared.healthy) == (alone.verdict, alone.healthy)
    for change in plan.changes:
        starts = {change.update.get(key) for key in ("start_index", "char_start")}
        keys_removed = {"start_index", "char_start"} & {
            key for key, value in change.update.items() if value is None
        }
        assert starts <= {None, true[change.id]}
        assert not keys_removed
