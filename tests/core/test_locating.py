"""Where chunks stand in their source: proved, or reported."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from oprag._locating import anchoring
from oprag._locating.chaining import chain
from oprag._locating.contiguity import cover
from oprag._locating.seeding import ABSENT, UNKNOWN, Seeds
from oprag._locating.squeezing import SqueezedText, squeeze
from oprag.chunk import Span
from oprag.locating import Location, locate

SPACES = " \n\t\u00a0\u2003\u3000\x1c"
"""White space of several kinds; the last is a control character."""


def spans(source, chunks, **options):
    return [location.span for location in locate(source, chunks, **options)]


def statuses(source, chunks, **options):
    return [location.status for location in locate(source, chunks, **options)]


def flat_start(source, location):
    """Where a location starts, counted without white space; it must be true."""
    start, end = location.span
    assert 0 <= start < end <= len(source)
    return len(squeeze(source[:start]))


# --- By hand --------------------------------------------------------------------


def test_chunks_that_follow_each_other_are_exact():
    source = "One fine day. It rained.  The end."

    assert locate(source, ["One fine day.", "It rained.", "The end."]) == [
        Location(Span(0, 13), "exact"),
        Location(Span(14, 24), "exact"),
        Location(Span(26, 34), "exact"),
    ]


def test_chunks_that_overlap_are_exact():
    assert spans("a b c d e f", ["a b c", "c d", "d e f"]) == [(0, 5), (4, 7), (6, 11)]


def test_white_space_may_differ_anywhere():
    # As CharacterTextSplitter re-joins lines and NLTKTextSplitter sentences.
    source = "aaa\n\n\nbbb\n\nccc\nddd. Eee."

    assert locate(source, ["aaa\nbbb\nccc", "ddd.\n\nEee."]) == [
        Location(Span(0, 14), "whitespace"),
        Location(Span(15, 24), "whitespace"),
    ]


def test_white_space_around_a_chunk_counts_where_the_source_has_it():
    source = "  one two\nthree "

    assert locate(source, ["  one", " two\n", "three"]) == [
        Location(Span(0, 5), "exact"),
        Location(Span(5, 10), "exact"),
        Location(Span(10, 15), "exact"),
    ]
    assert locate(source, ["\n one", " two ", "three\n\n"]) == [
        Location(Span(2, 5), "whitespace"),
        Location(Span(6, 9), "whitespace"),
        Location(Span(10, 15), "whitespace"),
    ]


@pytest.mark.parametrize("space", SPACES)
def test_every_kind_of_white_space_is_white_space(space):
    source = f"eins{space}{space}zwei{space}drei é"

    assert spans(source, ["eins zwei", "zwei\ndrei", "dreié"]) == [
        (0, 10),
        (6, 15),
        (11, 17),
    ]


def test_lone_surrogates_and_joined_emoji_are_characters_like_others():
    source = "\ud800x 👩‍🚀 \udfffy"

    assert spans(source, ["\ud800x", "👩‍🚀", "\udfffy"]) == [(0, 2), (3, 6), (7, 9)]


def test_nothing_to_locate_is_no_error():
    assert locate("", []) == locate("some text", []) == []
    assert statuses("", ["", " "]) == ["blank", "blank"]
    assert statuses("", ["a"]) == ["not_found"]


def test_a_blank_chunk_is_reported_and_disturbs_nothing():
    source = "one \n\n two"

    assert locate(source, ["one", "\n\n", "", "two"]) == [
        Location(Span(0, 3), "exact"),
        Location(None, "blank"),
        Location(None, "blank"),
        Location(Span(7, 10), "exact"),
    ]


def test_periodic_text_without_overlap_has_one_way_only():
    # 300 words of 5 characters, 79 in a chunk: 0, 395, 790, 1185.
    source = "word " * 300
    chunks = [("word " * n).strip() for n in (79, 79, 79, 63)]

    assert spans(source, chunks) == [(0, 394), (395, 789), (790, 1184), (1185, 1499)]


def test_periodic_text_with_overlap_is_ambiguous_but_at_its_ends():
    source = "word " * 10
    chunks = ["word word word"] * 4  # 12 words on 10: two overlap, no telling which

    assert locate(source, chunks) == [
        Location(Span(0, 14), "exact"),
        Location(None, "ambiguous"),
        Location(None, "ambiguous"),
        Location(Span(35, 49), "exact"),
    ]


def test_a_chunk_that_also_stands_inside_the_one_before_is_told_apart():
    # Inside "No, no, no." it would end where that does, and leave a gap after it.
    source = "No, no, no. no. Yes."

    assert spans(source, ["No, no, no.", "no.", "Yes."]) == [
        (0, 11),
        (12, 15),
        (16, 20),
    ]


def test_a_chunk_equal_to_the_end_of_the_one_before_is_placed_there():
    # A splitter with overlap may end on white space alone.
    assert spans("one two three \n", ["one two three", "three"]) == [(0, 13), (8, 13)]


def test_a_chunk_may_start_where_the_one_before_it_starts():
    assert spans("\n\n deep indent line", ["deep", "deep indent", "line"]) == [
        (3, 7),
        (3, 14),
        (15, 19),
    ]


def test_duplicates_next_to_each_other_share_their_place():
    assert spans("one two three", ["one", "two", "two", "three"]) == [
        (0, 3),
        (4, 7),
        (4, 7),
        (8, 13),
    ]


def test_a_duplicate_out_of_its_place_is_placed_where_its_text_is_unique():
    sentences = [f"This is sentence number {n}, and no other." for n in range(9)]
    source = " ".join(sentences)
    chunks = [*sentences[:7], sentences[2], *sentences[7:]]

    found = locate(source, chunks)

    assert [source[slice(*location.span)] for location in found] == chunks


@pytest.mark.parametrize(
    "alter",
    [
        str.lower,
        lambda text: "##" + text,
        lambda text: text.replace("number", "no."),
        lambda text: text[:20] + text[30:],
        lambda text: text + " \N{REPLACEMENT CHARACTER}",
    ],
)
def test_an_altered_chunk_is_reported_and_the_others_are_found(alter):
    sentences = [f"This is Sentence number {n}, and no other. Yes." for n in range(9)]
    chunks = [*sentences[:3], alter(sentences[3]), *sentences[4:]]

    found = locate(" ".join(sentences), chunks)

    assert found[3] == Location(None, "not_found")
    assert [location.span for location in found[:3] + found[4:]] == [
        (46 * n, 46 * n + 45) for n in (0, 1, 2, 4, 5, 6, 7, 8)
    ]


def test_every_chunk_altered_is_every_chunk_reported():
    source = "One Two Three"

    assert statuses(source, ["one", "##wo", "THREE"]) == ["not_found"] * 3


def test_beside_an_altered_chunk_a_repeated_one_is_told_by_its_neighbours():
    # Both "Yes." stand between chunks whose places are known: contiguity tells.
    first, second, third = (f"Sentence {n} stands here and nowhere." for n in "abc")
    source = f"{first} Yes. {second} Yes. {third} The very end."

    assert spans(source, [first, "Yes.", second, "Yes.", third, "altered"]) == [
        (0, 35),
        (36, 40),
        (41, 76),
        (77, 81),
        (82, 117),
        None,
    ]


def test_where_text_is_lost_contiguity_proves_nothing():
    # As MarkdownHeaderTextSplitter drops the headings. "Yes." may stand twice.
    first, second = (f"Sentence {n} stands here and nowhere." for n in "ab")
    source = f"# A\n{first}\nYes.\n# B\nYes.\n{second}\n# C\nThe end."

    assert locate(source, [first, "Yes.", second, "The end."]) == [
        Location(Span(4, 39), "exact"),
        Location(None, "ambiguous"),
        Location(Span(54, 89), "exact"),
        Location(Span(94, 102), "exact"),
    ]


def test_a_sample_is_placed_by_uniqueness_and_order():
    # Far apart, so that no splitter can have stepped back over the distance.
    far = "-" * 1500
    source = f"a {far} x {far} b {far} x {far} c {far} x d"

    assert spans(source, ["x", "b", "x", "c", "x"], complete=False) == [
        (1503, 1504),
        (3006, 3007),
        (4509, 4510),
        (6012, 6013),
        (7515, 7516),
    ]
    assert statuses(source, ["x", "d"], complete=False) == ["ambiguous", "exact"]


def test_a_sample_does_not_trust_the_order_of_what_is_close():
    # Split once: the x after b. Split twice, the outer chunks "axb" and "bxc"
    # overlapping, it may as well be the x before b: a, b, x, c can be a sample.
    assert statuses("a x b x c", ["a", "b", "x", "c"], complete=False) == [
        "exact",
        "exact",
        "ambiguous",
        "exact",
    ]


def test_of_a_sample_contiguity_is_no_proof():
    # The chunks touch at 0 and 2; as a sample they may be any two of the three.
    source = "ab ab ab"

    assert statuses(source, ["ab", "ab"], complete=False) == ["ambiguous"] * 2
    assert spans(source, ["ab"] * 3, complete=True) == [(0, 2), (3, 5), (6, 8)]


def test_a_splitter_applied_after_another_may_step_back():
    # Outer chunks "… three four five" and "four five six …" overlap by two words.
    words = [f"word{n:02}" for n in range(12)]
    outer = [words[:6], words[4:]]
    chunks = [
        " ".join(part[n : n + 1]) for part in outer for n in range(0, len(part), 1)
    ]

    found = spans(" ".join(words), chunks)

    assert found == [(7 * n, 7 * n + 6) for n in [*range(6), *range(4, 12)]]


def test_after_a_stretch_that_is_all_alike_places_are_proved_again():
    ruler = "-" * 5000
    words = " ".join(f"word{n:03}" for n in range(100))
    source = f"{words} {ruler} {words[::-1]}"
    # The overlaps differ, so that none of them is known from the others.
    starts = [
        start for start in range(0, len(source) - 70, 10) if start % 70 in (0, 50)
    ]
    places = [(start, start + 70) for start in starts[:-1]]
    places.append((starts[-1], len(source)))

    found = spans(source, [source[start:end].strip() for start, end in places])

    assert None in found
    for (start, end), span in zip(places, found, strict=True):
        text = source[start:end].strip()
        if span is None:
            assert set(text) == {"-"}
        else:
            assert start <= span[0] <= span[1] <= end
            assert source[slice(*span)] == text


def test_a_long_text_of_one_line_with_altered_chunks_comes_to_an_end():
    line = "This is the one line that the whole text is made of.\n"
    source = line * 20_000
    chunks = [line * 10] * 2000
    chunks[::10] = [chunk.replace("whole", "WHOLE", 1) for chunk in chunks[::10]]

    found = statuses(source, chunks)

    assert found[::10] == ["not_found"] * 200
    assert "exact" not in found


def test_inputs_are_left_as_they_are():
    chunks = ["one ", "", "two"]

    locate("one two", chunks)

    assert chunks == ["one ", "", "two"]


# --- By brute force -------------------------------------------------------------


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
    assert anchoring._in_order(flat, pieces, [UNKNOWN] * size, back) == [
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


@given(splittings() | splittings("abcde"))
def test_a_chain_is_found_only_where_no_other_exists(splitting):
    source, chunks, _ = splitting
    bodies = [chunk.strip() for chunk in chunks]

    starts = chain(source, bodies)

    if starts is not None:
        ways = covers(squeeze(source), [squeeze(body) for body in bodies])
        assert ways == [tuple(len(squeeze(source[:start])) for start in starts)]


def test_a_chain_with_overlap_is_found_at_once():
    words = [f"word{n}" for n in range(200)]
    source = " ".join(words)
    bodies = [" ".join(words[n : n + 30]) for n in range(0, 200, 20)]

    assert chain(source, bodies) == [source.index(body) for body in bodies]


@given(splittings("ab"))
def test_pieces_may_step_back_where_that_is_allowed(splitting):
    source, _, places = splitting
    flat = squeeze(source)
    # An outer splitter's overlap: the last of the chunks comes again, in full.
    twice = [*places, *places[-2:]]
    pieces = [flat[start:end] for start, end in twice]

    ranges = cover(flat, pieces, 0, twice[-1][0], back=len(flat))

    assert ranges is not None
    for (first, last), (start, _) in zip(ranges, twice, strict=True):
        assert first <= start <= last


def test_pieces_that_do_not_reach_the_end_cover_nothing():
    assert cover("abcd", ["ab", "cd"], 0, 2) == [(0, 0), (2, 2)]
    assert cover("abcde", ["ab", "cd"], 0, 3) is None
    assert cover("abxcd", ["ab", "cd"], 0, 3) is None
    assert cover("abab", ["ab", "ba"], 0, 2) is None


@given(st.text(SPACES + "abc漢é", max_size=80), st.integers(1, 40))
def test_what_is_squeezed_is_found_again(text, times):
    text *= times
    squeezed = SqueezedText(text)

    offsets = [squeezed.offset(index) for index in range(len(squeezed.flat))]

    assert squeezed.flat == squeeze(text) == "".join(text.split())
    assert offsets == [i for i, char in enumerate(text) if not char.isspace()]


@given(
    st.lists(st.sampled_from(["lorem", "ipsum", "dolor", "¤"]), max_size=60),
    st.integers(0, 200),
    st.integers(1, 200),
    st.booleans(),
)
def test_seeds_tell_what_occurs_once_or_nowhere(words, start, size, alter):
    text = "".join(words)
    piece = text[start : start + size] or "lorem"
    if alter:
        piece = piece[: len(piece) // 2] + "x" + piece[len(piece) // 2 :]

    only = Seeds(text, [piece]).only(piece)

    found = occurrences(text, piece)
    assert only == UNKNOWN or [only] == (found or [ABSENT])


def test_seeds_tell_a_unique_piece_from_a_repeated_and_a_missing_one():
    text = "".join(f"{n:04}" for n in range(1000)) * 2 + "".join(
        f"{n:04}" for n in range(5000, 6000)
    )
    pieces = [text[100:300], text[9000:9200], "x" + text[9000:9200]]
    seeds = Seeds(text, pieces)

    assert [seeds.only(piece) for piece in pieces] == [UNKNOWN, 9000, ABSENT]
