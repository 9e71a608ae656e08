"""Damaged documents in real stores: however they are read, no wrong text comes."""

import os
import random
import re
from collections.abc import Iterator
from contextlib import suppress

import pytest

from oprag.errors import OpragError, UnfitIndexError
from tests.documents.damages import DAMAGES, Damaged, bit_turned, damaged
from tests.kit.frameworks import Held
from tests.real_stores.everywhere import everywhere, opened

MANY = int(os.environ.get("OPRAG_DAMAGES", "0"))
"""How many documents to damage for each store; 0: as many as one store holds."""
BATCH = 40

pytestmark = [
    pytest.mark.filterwarnings("ignore::oprag.errors.PositionWarning"),
    pytest.mark.filterwarnings("ignore:Payload indexes have no effect"),
]


def documents(place: str) -> Iterator[list[Damaged]]:
    """For one store after another. Of every other document bits were turned."""
    rng = random.Random(place)  # noqa: S311 -- any will do
    for _ in range(0, MANY or BATCH, BATCH):
        yield [
            damaged(
                f"o'brien {number}.txt",
                rng,
                foreign=number % 3 == 0,
                times=1 if number % 2 else 3,
                damages=(bit_turned,) if number % 2 else DAMAGES,
            )
            for number in range(BATCH)
        ]


@pytest.mark.parametrize("place", everywhere(lambda place: not place.slow))
def test_nothing_comes_that_was_not_indexed_whichever_way_it_is_read(place, request):
    for given in documents(place.id):
        check(opened(place, request), given)


def check(held: Held, given: list[Damaged]) -> None:
    held.add([chunk for case in given for chunk in case.chunks])
    outcomes = [
        case.check(held.package.document_source(held.documents).read) for case in given
    ]
    wholes = {text for case in given for text in case.texts}
    stored = {
        (c.metadata.get("doc_key"), c.metadata.get("doc_version"), c.text)
        for c in held.chunks.read()
    }
    one, warned = held.search(1), {"on_problem": "warn"}
    refusing = held.routed(held.ordered(one, **warned), "unanswerable", **warned)
    widened = held.ordered(one, widen=2, **warned)
    for case in given:
        query = next((chunk.text for chunk in case.chunks if chunk.text), "?")
        with suppress(OpragError):
            assert "".join(held.ask(refusing, query).texts) in wholes, case
        for chunk in held.find(widened, query):
            of = chunk.metadata.get("doc_key"), chunk.metadata.get("doc_version")
            assert (*of, chunk.text) in stored, case
    assert held.package.diagnose(held.documents).verdict != "ordered"
    with pytest.raises(UnfitIndexError) as unfit:
        refusing.verify(None)
    (refused,) = re.findall(r"(\d+) of \d+ documents", str(unfit.value))
    unread = [
        each for each in outcomes if each not in ("whole", "DocumentNotFoundError")
    ]
    assert int(refused) >= len(unread)
