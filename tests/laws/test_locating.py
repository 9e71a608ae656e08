"""Places are proved exactly where no other is possible: by brute force."""

import re
from itertools import pairwise

from hypothesis import example, given
from hypothesis import strategies as st

from oprag.locating import Location, anchors, locate, squeeze
from oprag.locating.seeds import UNKNOWN
from oprag.locating.squeezed_text import SqueezedText

SPACES = " \n\t\u00a0\u2003\u3000\x1c"
"""White space of several kinds; the last is a control character."""


def flat_start(source, location):
    """Where a location starts, counted without white space; it must be true."""
    start, end = location.span
    assert 0 <= start < end <= len(source)
    return len(squeeze(source[:start]))


@st.composite
def splittings(draw, alphabet="ab"):
    """A text and the chunks of it, by their starts and lengths without white space.

    White space is put into source and chunks independently.
    """
    flat = draw(st.text(alphabet, min_size=1, max_size=14))
    places = [(0, draw(st.integers(1, min(6, len(flat)))))]
    while places[-1][1] < len(flat):
        low, high = places[-1]
        start = draw(st.integers(max(low - 1, 0), high))
        least = max(high, start + 1)
        end = draw(st.integers(least, min(least + 4, len(flat))))
        places.append((start, end) if len(places) < 8 else (high, len(flat)))

    def spread(text):
        gaps = st.sampled_from(["", "", " ", "\n", "  \n"])
        return "".join(draw(gaps) + char for char in text) + draw(gaps)

    source = spread(flat)
    if draw(st.booleans()):
        # As most splitters leave it: the source's own white space.
        at = [i for i, char in enumerate(source) if not char.isspace()]
        chunks = [source[at[start] : at[end - 1] + 1] for start, end in places]
    else:
        chunks = [spread(flat[start:end]) for start, end in places]
    return source, chunks, places


def covers(flat, pieces):
    """All the ways to cover a text: the starts of the pieces, by enumeration."""
    ways = [(0,)] if flat.startswith(pieces[0]) else []
    for before, piece in pairwise(pieces):
        ways = [
            (*way, start)
            for way in ways
            for start in range(way[-1] + len(before) + 1)
            if flat.startswith(piece, start)
            and start + len(piece) >= way[-1] + len(before)
        ]
    return [way for way in ways if way[-1] + len(pieces[-1]) == len(flat)]


def orders(flat, pieces, back):
    """All the ways to keep the order: none ends more than `back` before another."""
    ways = [()]
    for piece in pieces:
        ways = [
            (*way, start)
            for way in ways
            for start in occurrences(flat, piece)
            if all(
                start + len(piece) >= other + len(earlier) - back
                for other, earlier in zip(way, pieces, strict=False)
            )
        ]
    return ways


def occurrences(text, piece):
    return [match.start() for match in re.finditer(f"(?={re.escape(piece)})", text)]


def assert_told_apart(source, chunks, places, ways, found):
    """Proved exactly where all ways agree, and then true."""
    assert tuple(start for start, _ in places) in ways
    for number, (location, chunk) in enumerate(zip(found, chunks, strict=True)):
        possible = {way[number] for way in ways}
        if len(possible) > 1:
            assert location == Location(None, "ambiguous")
            continue
        text = source[slice(*location.span)]
        assert flat_start(source, location) == places[number][0]
        assert squeeze(text) == squeeze(chunk)
        assert (text == chunk) == (location.status == "exact")


@given(splittings() | splittings("aab") | splittings("abcde"))
@example(("a a a", ["a", "a a"], [(0, 1), (1, 3)]))
@example(("aab aab", ["aaba", "baab"], [(0, 4), (2, 6)]))
@example(("a  \na", ["a", "a", "a"], [(0, 1), (0, 1), (1, 2)]))
def test_a_chunk_is_proved_exactly_where_all_ways_to_cover_the_text_agree(splitting):
    source, chunks, places = splitting
    pieces = [squeeze(chunk) for chunk in chunks]

    ways = covers(squeeze(source), pieces)

    assert_told_apart(source, chunks, places, ways, locate(source, chunks))


@given(splittings("ab") | splittings("abcde"), st.integers(0, 3), st.data())
def test_order_alone_proves_a_piece_exactly_where_all_orders_agree(
    splitting, back, data
):
    source, chunks, places = splitting
    flat = squeeze(source)
    size = data.draw(st.integers(1, min(4, len(chunks))))
    numbers = sorted(data.draw(st.permutations(range(len(chunks))))[:size])
    pieces = [squeeze(chunks[n]) for n in numbers]

    ways = orders(flat, pieces, back)

    assert tuple(places[n][0] for n in numbers) in ways
    assert anchors._in_order(flat, pieces, [UNKNOWN] * size, back) == [
        (min(starts), max(starts)) for starts in zip(*ways, strict=True)
    ]


@given(splittings("ab") | splittings("abcde"), st.data())
def test_among_altered_chunks_none_is_placed_wrongly(splitting, data):
    source, chunks, places = splitting
    altered = data.draw(st.sets(st.integers(0, len(chunks) - 1), max_size=3))
    given_chunks = [
        chunk + "X" if number in altered else chunk
        for number, chunk in enumerate(chunks)
    ]

    for number, location in enumerate(locate(source, given_chunks)):
        if number in altered:
            assert location == Location(None, "not_found")
        elif location.span is None:
            assert location.status == "ambiguous"
        else:
            assert flat_start(source, location) == places[number][0]


@st.composite
def long_splittings(draw):
    """Many chunks of a text whose words repeat, by the numbers of their words."""
    rng = draw(st.randoms(use_true_random=True))
    vocabulary = ["lorem", "ipsum", "dolor", "sit", "amet", "a"][: rng.randrange(1, 7)]
    new = rng.choice([0, 0.01, 0.1])
    words = [
        f"{rng.randrange(900):03}" if rng.random() < new else rng.choice(vocabulary)
        for _ in range(rng.randrange(50, 300))
    ]
    overlap = rng.choice([0, 0, 2, 5, 15])
    places, first = [], 0
    while not places or places[-1][1] < len(words):
        last = min(first + rng.randrange(overlap + 1, overlap + 20), len(words))
        places.append((first, last))
        first = last - rng.randrange(overlap + 1)
    return words, places


def possible(flat, pieces):
    """The starts of each piece in all ways to cover a text, without listing these.

    And the most that one of them has when the end is not looked at.
    """
    ways = [{0}]
    for before, piece in pairwise(pieces):
        ends = {start + len(before) for start in ways[-1]}
        fits = [
            start
            for start in occurrences(flat, piece)
            if any(start <= end <= start + len(piece) for end in ends)
        ]
        ways.append(set(fits))
    most = max(map(len, ways))
    ways[-1] &= {len(flat) - len(pieces[-1])}
    for i in range(len(pieces) - 2, -1, -1):
        size = len(pieces[i])
        ways[i] = {
            start
            for start in ways[i]
            if any(
                after <= start + size <= after + len(pieces[i + 1])
                for after in ways[i + 1]
            )
        }
    return ways, most


@given(long_splittings())
def test_in_a_long_repetitive_text_too_the_proved_are_those_with_one_way(splitting):
    words, places = splitting
    source = " ".join(words)
    chunks = [" ".join(words[first:last]) for first, last in places]
    starts = [len("".join(words[:first])) for first, _ in places]
    ways, most = possible("".join(words), [squeeze(chunk) for chunk in chunks])

    for location, way, start in zip(locate(source, chunks), ways, starts, strict=True):
        assert start in way
        if location.span is None:
            # Of more than 64 starts only the first and the last are kept.
            assert len(way) > 1 or most > 64
        else:
            assert flat_start(source, location) == start
            assert way == {start}


@given(long_splittings(), st.data())
def test_in_a_long_repetitive_text_altered_chunks_put_no_other_in_a_wrong_place(
    splitting, data
):
    words, places = splitting
    numbers = st.integers(0, len(places) - 1)
    altered = data.draw(st.sets(numbers, min_size=1, max_size=5))
    chunks = [" ".join(words[first:last]) for first, last in places]
    for number in altered:
        middle = len(chunks[number]) // 2
        chunks[number] = f"{chunks[number][:middle]}¤{chunks[number][middle:]}"
    source = " ".join(words)

    for number, location in enumerate(locate(source, chunks)):
        if number in altered:
            assert location == Location(None, "not_found")
        elif location.span is None:
            assert location.status == "ambiguous"
            assert len(occurrences(source, chunks[number])) > 1
        else:
            start = len("".join(words[: places[number][0]]))
            assert flat_start(source, location) == start


# --- The parts ------------------------------------------------------------------


@given(st.text(SPACES + "abc漢é", max_size=80), st.integers(1, 40))
def test_what_is_squeezed_is_found_again(text, times):
    text *= times
    squeezed = SqueezedText(text)

    offsets = [squeezed.offset(index) for index in range(len(squeezed.flat))]

    assert squeezed.flat == squeeze(text) == "".join(text.split())
    assert offsets == [i for i, char in enumerate(text) if not char.isspace()]
