"""Where chunks stand in their source: proved, or reported."""

from oprag.chunk import Span
from oprag.locating import Location, locate


def spans(source, chunks, **options):
    return [location.span for location in locate(source, chunks, **options)]


def statuses(source, chunks, **options):
    return [location.status for location in locate(source, chunks, **options)]


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


def test_a_duplicate_out_of_its_place_is_placed_where_its_text_is_unique():
    sentences = [f"This is sentence number {n}, and no other." for n in range(9)]
    source = " ".join(sentences)
    chunks = [*sentences[:7], sentences[2], *sentences[7:]]

    found = locate(source, chunks)

    assert [source[slice(*location.span)] for location in found] == chunks


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
