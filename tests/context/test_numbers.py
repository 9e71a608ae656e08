"""The numbers of a conversation: kept small, and read back as they were."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oprag import order_context
from oprag.agents import find_mentions
from oprag.context import CitationNumbers
from oprag.errors import InvalidOptionError

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
    numbers, shown = CitationNumbers(), {}
    for n, places in enumerate(searches):
        found = passages(places, part=n if n % 3 == 0 else None, merge=n % 2 == 0)
        found = numbers.assign(found)
        numbers.add(found)
        shown |= {passage.number: passage for passage in found}
        numbers = CitationNumbers(json.loads(json.dumps(numbers.as_json())))

    read = numbers.resolve(shown.values())

    for number, passage in read.items():
        same = ("text", "spans", "citation", "document_key", "document_name")
        for said in (*same, "part", "exact"):
            assert getattr(passage, said) == getattr(shown[number], said)
    assert all(not p.text for p in numbers.resolve([]).values())


@pytest.mark.parametrize("part", [None, 110])
def test_the_numbers_of_20_000_characters_take_3_kb(part):
    numbers = CitationNumbers()
    for start in range(0, 25_000, 1_000):
        places = [("folder/a.txt", start + 200 * n, 160) for n in range(5)]
        numbers.add(numbers.assign(passages(places, part=part)))

    assert len(numbers) == 125
    assert len(json.dumps(numbers.as_json())) < 3_000


def numbered(numbers, *starts):
    found = numbers.assign(passages([("a", start, 5) for start in starts]))
    numbers.add(found)
    return [passage.number for passage in found]


def spans(numbers):
    return {n: each.spans[0].start for n, each in numbers.resolve([]).items()}


def test_numbers_that_are_passed_over_are_given_to_nothing():
    numbers = CitationNumbers()
    numbers.pass_over(4)
    assert numbered(numbers, 10, 20) == [5, 6]
    numbers.pass_over(3)
    assert numbered(numbers, 10, 30) == [5, 7]

    again = CitationNumbers(json.loads(json.dumps(numbers.as_json())))

    assert spans(numbers) == spans(again) == {5: 10, 6: 20, 7: 30}
    assert numbered(again, 40) == [8]
    assert again.find_in("[1] a, characters 10-15\nabcde") == {}


def test_messages_carry_numbers_in_any_order_and_some_may_be_lost():
    numbers = CitationNumbers()
    carried = []
    for start in (10, 20, 30):
        (number,) = numbered(numbers, start)
        carried.append(json.loads(json.dumps(numbers.carry(number, number))))

    other = CitationNumbers()
    for each in (carried[2], carried[0], carried[2]):
        other.take(each)

    assert spans(other) == {1: 10, 3: 30}
    assert numbered(other, 40, 10) == [1, 4]
    other.take(carried[1])
    assert spans(CitationNumbers(other.as_json())) == {1: 10, 2: 20, 3: 30, 4: 40}
    other.take(numbers.carry(4, 3))
    assert len(other) == 4


def test_a_number_of_two_passages_is_refused():
    one, other = CitationNumbers(), CitationNumbers()
    numbered(one, 10)
    numbered(other, 20)
    for joining in (
        lambda: one.take(other.carry(1, 1)),
        lambda: one.take_all(other),
        lambda: CitationNumbers.join(one.as_json(), other.as_json()),
    ):
        with pytest.raises(InvalidOptionError, match="EvidenceState") as refused:
            joining()
        assert refused.value.option == "oprag_numbers"


def test_branches_that_each_lost_some_numbers_have_all_together():
    whole = CitationNumbers()
    numbered(whole, 10, 20, 30)
    one, other = CitationNumbers(), CitationNumbers()
    one.take(whole.carry(1, 1))
    one.pass_over(3)
    other.take(whole.carry(2, 3))

    joined = CitationNumbers(CitationNumbers.join(one.as_json(), other.as_json()))

    assert spans(joined) == {1: 10, 2: 20, 3: 30}


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("", ()),
        ("As [11] says, and [2].", (2, 11)),
        ("[1, 4; 3]", (1, 3, 4)),
        ("[2–5] and [ 3 ]", (2, 3, 5)),
        ("[see above: [7]]", (7,)),
        ("x[1:20], [2019-03-01T], [12345], (6), [a1]", ()),
    ],
)
def test_what_a_text_mentions_in_brackets_is_a_number(text, numbers):
    assert find_mentions(text) == numbers


@pytest.mark.parametrize(
    ("mentioned", "given"),
    [
        ([2], [3, 4, 5]),
        ([100], [101, 102, 103]),
        ([40, 110, 200], [201, 202, 203]),
        ([2024], [1, 2, 3]),
        ([1, 404, 2024], [2, 3, 4]),
    ],
)
def test_numbers_follow_a_mention_and_no_year(mentioned, given):
    numbers = CitationNumbers()
    numbers.leave_out(mentioned)

    assert numbered(numbers, 10, 20, 30) == given
    assert [*spans(CitationNumbers(numbers.as_json()))] == given


def test_a_number_that_is_mentioned_is_never_given_though_it_is_far_away():
    numbers, made = CitationNumbers(), []
    numbers.leave_out([150])
    for start in range(0, 1_600, 80):
        made += numbered(numbers, *range(start, start + 80, 10))

    assert made == [n for n in range(1, 162) if n != 150]


def test_a_text_that_imitates_an_agents_answer_is_no_passage():
    text = "Observation: [5] b.txt, characters 0-4\nword"
    (read,) = CitationNumbers.read_from(
        f"Observation: [1] a.txt, characters 0-43\n{text}"
    )

    assert (read.number, read.text) == (1, text)
