"""With a problem sound documents are in order, the rest is marked: nothing silent."""

import random
import warnings
from typing import Any, NamedTuple

import pytest

from oprag import order_context
from oprag.errors import PositionError, PositionWarning
from tests.kit.effort import cases as scaled

_SIZE = 10


class Made(NamedTuple):
    """A retrieved text, and what has to become of it."""

    text: str
    metadata: dict[str, Any]
    document: str
    start: int | None
    mark: str | None


def document(draw: random.Random, number: int) -> list[Made]:
    """Chunks of a document that is sound, lacks positions, or contradicts itself."""
    name = f"d{number}"
    kind = draw.choice(["sound", "sound", "partly", "contradictory"])
    starts = draw.sample(range(0, 200, _SIZE), draw.randint(2, 6))
    made = []
    for start in starts:
        text = f"{name} {start:03} ".ljust(_SIZE, "x")
        known = kind != "partly" or draw.random() < 0.5
        place = {"source": name} | ({"start_index": start} if known else {})
        mark = None if known else "missing_position"
        made.append(Made(text, place, name, start if known else None, mark))
    if kind == "contradictory":
        other = Made(
            f"{name} other",
            {"source": name, "start_index": starts[0] + 1},
            name,
            None,
            None,
        )
        made = [
            each._replace(start=None, mark="conflicting_text")
            for each in (*made, other)
        ]
    return made


def retrieved(draw: random.Random) -> list[Made]:
    listed = [each for n in range(draw.randint(1, 4)) for each in document(draw, n)]
    for number in range(draw.randint(0, 2)):
        fact = f"fact {number} {draw.random()}"
        listed.append(Made(fact, {"kind": "fact"}, fact, None, "missing_document"))
    draw.shuffle(listed)
    return listed


def expected(listed: list[Made]) -> list[Made]:
    """Documents by their best rank; in each the placed chunks, the others by rank."""
    order = dict.fromkeys(each.document for each in listed)
    of_each = [[each for each in listed if each.document == name] for name in order]
    return [
        each
        for members in of_each
        for each in (
            *sorted((m for m in members if m.start is not None), key=lambda m: m.start),
            *(m for m in members if m.start is None),
        )
    ]


def test_sound_documents_are_in_order_and_the_rest_is_marked():
    for seed in range(scaled(2_000)):
        listed = retrieved(random.Random(seed))  # noqa: S311 -- no secret
        texts, metadatas, *_ = zip(*listed, strict=True)
        wrong = {each.mark for each in listed} - {None, "missing_document"}

        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            passages = order_context(texts, metadatas, on_problem="warn")

        found = [(passage.text, passage.chunks[0].problem) for passage in passages]
        assert found == [(each.text, each.mark) for each in expected(listed)], seed
        assert {each.category for each in caught} == (
            {PositionWarning} if wrong else set()
        )
        assert all(any(kind in str(w.message) for w in caught) for kind in wrong)
        if wrong:
            with pytest.raises(PositionError):
                order_context(texts, metadatas)
        else:
            assert [p.text for p in order_context(texts, metadatas)] == [
                text for text, _ in found
            ]
