"""The numbers of a conversation: kept small, and read back as they were."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oprag import order_context
from oprag.context import Numbers

TEXT = "".join(chr(ord("a") + n * n % 26) for n in range(25_000))


def passages(places, *, part=None, merge=False):
    found = [
        (TEXT[a : a + size], {"source": name, "start_index": a})
        for name, a, size in places
    ]
    if part is not None:
        # The labels of the first pages are Roman.
        label = {"page_label": "i" * part} if part % 2 else {}
        found = [(text, {**place, "page": part, **label}) for text, place in found]
    return order_context(*zip(*found, strict=True), merge=merge)


PLACES = st.tuples(st.sampled_from("abc"), st.integers(0, 90), st.integers(1, 20))


@given(st.lists(st.lists(PLACES, min_size=1, max_size=5, unique=True), max_size=6))
def test_numbers_are_read_back_from_json_as_they_were(searches):
    numbers, shown = Numbers(), {}
    for n, places in enumerate(searches):
        found = passages(places, part=n if n % 3 == 0 else None, merge=n % 2 == 0)
        found = numbers.numbered(found)
        numbers.add(found)
        shown |= {passage.number: passage for passage in found}
        numbers = Numbers(json.loads(json.dumps(numbers.as_json())))

    read = numbers.cited(shown.values())

    for number, passage in read.items():
        same = ("text", "spans", "citation", "document_key", "document_name")
        for said in (*same, "part", "exact"):
            assert getattr(passage, said) == getattr(shown[number], said)
    assert all(not p.text for p in numbers.cited([]).values())


@pytest.mark.parametrize("part", [None, 110])
def test_the_numbers_of_20_000_characters_take_3_kb(part):
    numbers = Numbers()
    for start in range(0, 25_000, 1_000):
        places = [("folder/a.txt", start + 200 * n, 160) for n in range(5)]
        numbers.add(numbers.numbered(passages(places, part=part)))

    assert len(numbers) == 125
    assert len(json.dumps(numbers.as_json())) < 3_000
