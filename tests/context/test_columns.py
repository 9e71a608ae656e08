"""The usual case in columns gives what the steps give, or nothing."""

from __future__ import annotations

import dataclasses

import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

from oprag.chunk import Hit
from oprag.context import Columns, ContextOptions, arrange, columns
from oprag.context.columns import sent_behind
from oprag.errors import ConflictingTextError, OpragError
from oprag.metadata import document_key
from oprag.splitting import split_tokens
from oprag.tokens import resolve_token_counter
from tests.effort import cases

COUNTER = resolve_token_counter("cl100k_base")
WORDS = ["word", " and", " the", ". ", "\n\n", '"', "漢", ",", " x", "\n", "/", "’"]
bodies = st.lists(st.sampled_from(WORDS), min_size=1, max_size=40).map("".join)


ONE_TO_EIGHT = "one two three four five six seven eight"
TOLD = [{"token_counter": COUNTER.name}, {"doc_version": "123456-123456789012"}]
"""What tells whose counts they are."""


def stored(name, text, size, overlap, told):
    """A document's chunks as oprag's splitters write them."""
    chunks = split_tokens(
        text, chunk_size=size, chunk_overlap=overlap, tokenizer=COUNTER
    )
    return [
        (
            text[chunk.start : chunk.end],
            {
                "doc_key": document_key(name),
                "doc_uri": name,
                "chunk_index": index,
                "char_start": chunk.start,
                "char_end": chunk.end,
                "token_count": chunk.token_count,
                **told,
            },
        )
        for index, chunk in enumerate(chunks)
    ]


@st.composite
def retrieved(draw):
    """Chunks of up to three documents, some of them changed, in any order."""
    found, told = [], draw(st.sampled_from(TOLD))
    for name in ("a.txt", "b.txt", "c.txt")[: draw(st.integers(1, 3))]:
        overlap = draw(st.sampled_from([0, 0, 0, 1]))
        found += stored(name, draw(bodies), draw(st.integers(2, 6)), overlap, told)
    found = draw(st.permutations(found))[: draw(st.integers(1, 30))]
    changes = [None] * 11 + [
        *({"char_start": 0}, {"part_index": 1}, {"token_counter": "other"}),
        *({"doc_version": "1"}, {"doc_uri": "d.txt"}, {"source": "b.txt"}),
        *({"source": ["a.txt"]}, {"token_counter": "unknown"}),
        *({"token_count": 2.0}, {"char_end": True}, {"doc_key": ""}, {"doc_key": 7}),
        *({"char_spans": "0-1,3-4"}, {"char_start": -1}, {"token_count": None}),
        *({"part_index": [1]}, {"token_counter": []}, {"doc_key": []}),
    ]
    change = draw(st.sampled_from(changes))
    if change is not None:
        place = draw(st.integers(0, len(found) - 1))
        text, metadata = found[place]
        found[place] = (text, {**metadata, **change})
    if draw(st.booleans()):
        found.append(found[0])
    return handed_out(found, draw) if draw(st.integers(0, 3)) == 0 else found


def handed_out(found, draw):
    """The same as another component hands it out, perhaps with some taken out."""
    placed = [
        (text, {**metadata, "rank": rank, "citation": f"{rank}"})
        for rank, (text, metadata) in enumerate(found)
    ]
    best = {m["doc_uri"]: m["rank"] for _, m in placed[::-1]}
    placed.sort(key=lambda each: (best[each[1]["doc_uri"]], each[1]["chunk_index"]))
    taken_out = draw(st.sets(st.integers(1, len(found)), max_size=3))
    return [each for number, each in enumerate(placed) if number not in taken_out]


options = st.builds(
    dict,
    top_n=st.none() | st.integers(1, 20),
    token_budget=st.none() | st.integers(1, 120),
    merge=st.booleans(),
    max_gap=st.sampled_from([0, 8]),
    order=st.sampled_from(["document", "document", "document", "score"]),
    overflow=st.sampled_from(["stop", "stop", "stop", "skip"]),
    selection=st.sampled_from(["budget", "budget", "top_k"]),
    separator=st.sampled_from(["\n\n", "\n", " | ", ""]),
)


heads = st.none() | st.lists(
    st.sampled_from(["", "file: a.txt", "file: b.txt", "title: “A” /", "n: 1"]),
    min_size=31,
    max_size=31,
)


def in_columns(found, chosen, before=None, sent_text=None):
    """What is made in columns, if it is, with what the steps make of the same hits."""
    hits = [Hit(text, metadata, rank) for rank, (text, metadata) in enumerate(found)]
    heads = before and (lambda count: before[:count])
    texts, metadatas, objects = zip(*(hit[:3] for hit in hits), strict=True)
    given = Columns(objects, texts, metadatas, heads)
    short = arrange(hits, chosen, sent_text=sent_text, columns=given)
    if not isinstance(short, columns.InColumns):
        return None
    return short, arrange(hits, chosen, sent_text=sent_text)


@settings(max_examples=cases(1_500), deadline=None)
@given(retrieved(), options, heads, st.booleans())
def test_what_is_made_in_columns_is_what_the_steps_make(
    found, given_options, heads, rescored
):
    chosen = ContextOptions(**given_options, token_counter=COUNTER)
    before = heads and heads[: len(found)]
    sent_text = before and (lambda chunk, text: sent_behind(before[chunk.source], text))

    try:
        made = in_columns(found, chosen, before, sent_text)
    except OpragError:  # not the usual case, so that the steps were asked
        made = None
    event(f"in columns: {made is not None}")
    if made is None:
        return
    short, steps = made
    assert short.used_all == steps.used_all
    assert short.passages() == steps.passages()
    ranks = short.written or range(len(found))
    event(f"ranks last: {short.written is not None}")
    assert [[ranks[place] for place in run] for run in short.runs] == [
        [chunk.rank for chunk in passage.chunks] for passage in steps.passages()
    ]

    made, by_steps = (
        way.results(fields_of, rescored=rescored) for way in (short, steps)
    )
    assert made == by_steps


def fields_of(result):
    """The values of a `Result`, with sequences of one kind."""
    return [
        list(value) if isinstance(value, (list, tuple)) else value
        for value in dataclasses.astuple(result)
    ]


def test_the_usual_case_is_made_in_columns():
    # Chunks 2, 0 and 3 of one document; 2 and 3 touch.
    stored_chunks = stored("a.txt", ONE_TO_EIGHT, 2, 0, TOLD[0])
    found = [stored_chunks[number] for number in (2, 0, 3)]
    texts = [text for text, _ in found]

    apart, _ = in_columns(found, ContextOptions())
    merged, _ = in_columns(found, ContextOptions(merge=True))
    assert (apart.runs, apart.texts) == ([(1,), (0,), (2,)], [texts[1], *texts[::2]])
    assert (merged.runs, merged.texts) == (
        [[1], [0, 2]],
        [texts[1], texts[0] + texts[2]],
    )


def test_contradictions_are_left_to_the_steps():
    found = stored("a.txt", "one two three four", 2, 0, TOLD[1])
    text, metadata = found[0]
    contradicting = [(text, metadata), ("ten" + text[3:], metadata)]

    with pytest.raises(ConflictingTextError):
        in_columns(contradicting, ContextOptions())
