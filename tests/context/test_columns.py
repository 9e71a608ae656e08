"""The short way gives what the long way gives, or nothing."""

from __future__ import annotations

import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

from oprag.chunk import Hit
from oprag.context import ContextOptions, assemble, plain_case
from oprag.context.columns import sent_behind
from oprag.errors import ConflictingTextError
from oprag.metadata import document_key
from oprag.splitting import split_tokens
from oprag.tokens import resolve_token_counter
from tests.effort import cases

COUNTER = resolve_token_counter("cl100k_base")
WORDS = ["word", " and", " the", ". ", "\n\n", '"', "漢", ",", " x", "\n", "/", "’"]
bodies = st.lists(st.sampled_from(WORDS), min_size=1, max_size=40).map("".join)


def stored(name, text, size, overlap):
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
                "token_counter": COUNTER.name,
            },
        )
        for index, chunk in enumerate(chunks)
    ]


@st.composite
def retrieved(draw):
    """Chunks of up to three documents, some of them changed, in any order."""
    found = []
    for name in ("a.txt", "b.txt", "c.txt")[: draw(st.integers(1, 3))]:
        overlap = draw(st.sampled_from([0, 0, 0, 1]))
        found += stored(name, draw(bodies), draw(st.integers(2, 6)), overlap)
    found = draw(st.permutations(found))[: draw(st.integers(1, 30))]
    changes = [None] * 11 + [
        *({"char_start": 0}, {"part_index": 1}, {"token_counter": "other"}),
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
    return found


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


@settings(max_examples=cases(1_500), deadline=None)
@given(retrieved(), options, heads)
def test_the_short_way_gives_what_the_long_way_gives(found, given_options, heads):
    chosen = ContextOptions(**given_options, token_counter=COUNTER)
    texts = [text for text, _ in found]
    metadatas = [metadata for _, metadata in found]
    before = heads and heads[: len(found)]

    told = before and (lambda count: before[:count])
    short = plain_case(texts, metadatas, chosen, heads=told)
    event(f"short way: {short is not None}")
    if short is None:
        return
    hits = [
        Hit(text, metadata, rank)
        for rank, (text, metadata) in enumerate(zip(texts, metadatas, strict=True))
    ]
    sent_text = before and (lambda chunk, text: sent_behind(before[chunk.source], text))
    passages, used_all = assemble(hits, chosen, sent_text=sent_text)
    assert short.used_all == used_all
    assert [list(run) for run in short.runs] == [
        [chunk.rank for chunk in passage.chunks] for passage in passages
    ]
    assert list(short.texts) == [passage.text for passage in passages]


def test_the_usual_case_goes_the_short_way():
    # Chunks 2, 0 and 3 of one document; 2 and 3 touch.
    found = stored("a.txt", "one two three four five six seven eight", 2, 0)
    texts, metadatas = zip(*(found[number] for number in (2, 0, 3)), strict=True)

    apart = plain_case(texts, metadatas, ContextOptions())
    merged = plain_case(texts, metadatas, ContextOptions(merge=True))
    assert apart == ([(1,), (0,), (2,)], [texts[1], texts[0], texts[2]], True)
    assert merged == ([[1], [0, 2]], [texts[1], texts[0] + texts[2]], True)


def test_what_the_long_way_refuses_the_short_way_leaves_to_it():
    found = stored("a.txt", "one two three four", 2, 0)
    text, metadata = found[0]
    contradicting = [(text, metadata), ("ten" + text[3:], metadata)]
    hits = [Hit(text, metadata) for text, metadata in contradicting]

    with pytest.raises(ConflictingTextError):
        assemble(hits, ContextOptions())
    texts, metadatas = zip(*contradicting, strict=True)
    assert plain_case(texts, metadatas, ContextOptions()) is None
