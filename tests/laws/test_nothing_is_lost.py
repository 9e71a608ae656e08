"""Nothing that was retrieved is dropped on a guess, whatever it is called."""

import random
import warnings
from collections.abc import Sequence
from typing import Any

from oprag.chunk import Hit
from oprag.context import ContextOptions, arrange
from oprag.errors import PositionError
from oprag.metadata import chunk_metadata, document_version, make_indexed_id
from tests.kit.effort import cases

_SIZE = 30
_NAMES = {
    "one name": ["report.pdf"],
    "places in a file": ["https://e.org/a.pdf#page=3", "https://e.org/a.pdf"],
    "spellings": ["./docs/a.txt", "docs/a.txt"],
}


def words(draw: random.Random, file: int) -> str:
    return "".join(draw.choices(f"abc{file} ", k=draw.randint(3, 9) * _SIZE))


def split(
    draw: random.Random, text: str, metadata: dict[str, Any], how: str
) -> list[Hit]:
    """Cut a text as a splitter of its own, ours, or `index_documents`."""
    starts = range(0, len(text), _SIZE)
    pieces = [(text[at : at + _SIZE], at) for at in starts]
    if how == "foreign":
        return [Hit(piece, {**metadata, "start_index": at}) for piece, at in pieces]
    spans = [(at, at + len(piece), 5) for piece, at in pieces]
    version = document_version("s", [text])
    (row,) = chunk_metadata(metadata["source"], [spans], "words", version=version)
    hits = [
        Hit(piece, {**metadata, **own})
        for (piece, _), own in zip(pieces, row, strict=True)
    ]
    if how == "indexed":
        hits = [
            hit._replace(id=make_indexed_id(hit.metadata, hit.metadata["chunk_index"]))
            for hit in hits
        ]
    return hits


def retrieved(draw: random.Random) -> list[Hit]:
    """Chunks of several files of one name, of versions, and doubled ones."""
    kind = draw.choice([*_NAMES])
    facts = draw.choice(["total_pages", "title", "folder", "sha256", "nothing"])
    how = draw.choice(["foreign", "split", "indexed"])
    hits: list[Hit] = []
    for file in range(draw.randint(1, 3)):
        metadata: dict[str, Any] = {"source": draw.choice(_NAMES[kind])}
        if facts != "nothing":
            metadata[facts] = file
        chunks = split(draw, words(draw, file), metadata, how)
        hits += draw.sample(chunks, draw.randint(1, min(5, len(chunks))))
    hits += draw.choices(hits, k=draw.randint(0, 2))
    draw.shuffle(hits)
    return hits


def missing(hits: Sequence[Hit], options: ContextOptions) -> list[int]:
    """Ranks of hits that are neither read nor named with a reason."""
    arranged = arrange(hits, options)
    read = [chunk for passage in arranged.passages for chunk in passage.chunks]
    dropped = {**arranged.why["dropped"]}
    duplicates = dropped.pop("duplicate", [])
    found = {chunk.rank for chunk in read}.union(*dropped.values())
    texts = {hits[rank].text for rank in found}
    found |= {rank for rank in duplicates if hits[rank].text in texts}
    named = [*arranged.why["kept"]]
    for ranks in arranged.why["dropped"].values():
        named += ranks
    assert sorted(named) == [*range(len(hits))]  # each once
    return [rank for rank in range(len(hits)) if rank not in found]


def test_texts_that_are_one_once_their_place_is_dropped_are_named():
    hits = [Hit("one", {"start_index": at}) for at in (0, 50, 90)]
    assert missing(hits, ContextOptions(on_problem="warn")) == []


def test_every_hit_is_in_a_passage_or_is_left_out_for_a_reason():
    refused = 0
    for seed in range(cases(500)):
        draw = random.Random(seed)  # noqa: S311 -- the same cases each time
        hits = retrieved(draw)
        options = ContextOptions(
            merge=draw.random() < 0.5, on_problem=draw.choice(["error", "warn"])
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                assert missing(hits, options) == [], seed
            except PositionError:
                assert options.on_problem == "error", seed
                refused += 1
    assert refused < cases(500) / 2
