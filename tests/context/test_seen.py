"""Text that the reader has read is cut out before anything is selected."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oprag import order_context
from oprag.agents import write_new_passages
from oprag.chunk import Hit
from oprag.context import CandidateTail, CitationNumbers, ContextOptions, Seen, arrange
from oprag.errors import InvalidOptionError
from oprag.metadata import document_key

pytestmark = pytest.mark.filterwarnings("ignore::oprag.errors.PositionWarning")

TEXT = "".join(chr(ord("a") + n % 26) for n in range(400))


def hit(start, end, source="a.txt", text=TEXT, **metadata):
    return Hit(text[start:end], {"source": source, "start_index": start, **metadata})


def ordered(hits, seen, **options):
    texts = [each.text for each in hits]
    return order_context(texts, [each.metadata for each in hits], seen=seen, **options)


def text_of(hits, seen=(), **options):
    options = ContextOptions(merge=True, token_counter=len, **options)
    return write_new_passages(hits, options, Seen(seen)).text


def read_before(*hits):
    """Passages with their numbers, best first."""
    found = ordered(hits, None, on_problem="warn", order="rank")
    return CitationNumbers().assign(found)


def test_top_n_counts_texts_that_have_something_left():
    hits = [hit(0, 50), hit(100, 150), hit(200, 250)]

    found = ordered(hits, [["a.txt", None, 0, 60], ["a.txt", None, 110, 120]], top_n=1)

    assert [passage.spans for passage in found] == [((100, 110),), ((120, 150),)]


def test_what_top_n_leaves_out_was_not_left_out_for_being_seen_before():
    beside = hit(300, 350)
    hits = [hit(0, 50), hit(100, 150), hit(200, 250), beside]
    options = ContextOptions(top_n=1)

    found = arrange(
        hits,
        options,
        seen=Seen([["a.txt", None, 200, 250]]),
        neighbours=CandidateTail(length=1),
    )

    assert [passage.spans for passage in found.passages] == [((0, 50),), ((300, 350),)]
    assert found.seen_before == []


def test_slices_of_white_space_are_left_out():
    text = "one two   three"
    found = ordered([hit(0, 15, text=text)], [["a.txt", None, 0, 7]])
    assert [passage.text for passage in found] == ["   three"]

    found = ordered([hit(0, 10, text=text)], [["a.txt", None, 0, 7]])
    assert found == []


@pytest.mark.parametrize("document", ["a.txt", document_key("a.txt")])
def test_a_document_is_known_by_its_name_and_by_its_key(document):
    own = {"doc_key": document_key("a.txt"), "doc_uri": "a.txt", "char_start": 0}
    texts, metadatas = [TEXT[:50]], [{**own, "char_end": 50}]

    (passage,) = order_context(texts, metadatas, seen=[[document, None, 0, 20]])

    assert passage.spans == ((20, 50),)


def test_pages_have_characters_of_their_own():
    hits = [hit(0, 50, page=3), hit(0, 50, page=4)]

    (passage,) = ordered(hits, [["a.txt", 3, 0, 50]])

    assert passage.part == 4


def test_characters_of_another_version_were_not_read():
    old, new = ({"doc_version": f"set-{name}"} for name in ("old", "new"))
    read = ordered([hit(0, 50, **old)], None)

    assert ordered([hit(0, 60, **old)], read)[0].spans == ((50, 60),)
    assert ordered([hit(0, 60, **new)], read)[0].spans == ((0, 60),)
    # Where a version is not known, it may be any.
    assert ordered([hit(0, 60)], read)[0].spans == ((50, 60),)
    assert ordered([hit(0, 60, **new)], [["a.txt", None, 0, 50]])[0].spans == (
        (50, 60),
    )


def test_a_text_without_a_place_was_read_where_the_same_was():
    def page(text, number, source="a.pdf"):
        return Hit(text, {"source": source, "page": number})

    read = ordered([page("one", 1), page("two", 2)], None)
    again = [page("two", 2), page("three", 3), page("two", 2, "b.pdf")]

    assert [p.text for p in ordered(again, read)] == ["three", "two"]


def test_a_text_of_another_page_was_not_read():
    one, other = (Hit("Total: 5", {"source": "a.pdf", "page": n}) for n in (1, 2))
    read = ordered([one], None)

    (passage,) = ordered([one, other], read)

    assert passage.citation == "a.pdf, page 3"


NUMBERS = " ".join(map(str, range(100)))


def numbers(start, end, source="a.txt", *, placed=True):
    place = {"start_index": start} if placed else {}
    return Hit(NUMBERS[start:end], {"source": source, **place})


def without(start, end, source="a.txt"):
    return numbers(start, end, source, placed=False)


def apart(hits, seen):
    return ordered(hits, seen, on_problem="warn")


@pytest.mark.parametrize(
    ("shown", "found"),
    [
        (numbers(0, 100), without(20, 80)),
        (without(100, 200), numbers(120, 180)),
        (without(100, 200), without(140, 190)),
    ],
    ids=["no place here", "none there", "no place"],
)
def test_a_text_that_stands_within_one_that_was_read_comes_once(shown, found):
    assert apart([found], apart([shown], None)) == []
    assert [p.text for p in apart([shown, found], [])] == [shown.text]


@pytest.mark.parametrize(
    "found",
    [without(104, 110), without(80, 140), without(104, 190, "b.txt")],
    ids=["too short to be sure", "a part of it is new", "another document"],
)
def test_a_text_without_a_place_is_never_cut(found):
    (passage,) = apart([found], apart([numbers(100, 200)], None))

    assert passage.text == found.text


def test_a_text_without_a_place_is_named_by_the_number_of_what_holds_it():
    placed, bare = numbers(100, 200), without(120, 180)

    assert text_of([bare], read_before(placed), on_problem="warn") == "[see above: [1]]"
    assert text_of([numbers(130, 170)], read_before(bare)) == "[see above: [1]]"


@pytest.mark.parametrize(
    "seen",
    [
        [["a.txt", None, 9, 5]],
        [["a.txt", None, 0]],
        [["a.txt", "3", 0, 5]],
        [["a.txt", None, 0, 5, 1]],
        ["a.txt"],
        [3],
        "a.txt",
        3,
    ],
)
def test_what_is_no_span_is_refused_by_name(seen):
    with pytest.raises(
        InvalidOptionError, match=r"seen.* is .*\[document, part, start"
    ):
        ordered([hit(0, 10)], seen)


_SPANS = st.tuples(
    st.sampled_from(["a.txt", "b.txt"]), st.integers(0, 60), st.integers(1, 25)
)
_SEARCHES = st.lists(
    st.lists(_SPANS, min_size=1, max_size=6, unique=True), min_size=1, max_size=5
)
_TEXT = "".join(" " if n % 7 == 0 else chr(ord("a") + n % 26) for n in range(100))


def _places(passage):
    return [
        (passage.document_key, n)
        for start, end in passage.spans
        for n in range(start, end)
    ]


@given(_SEARCHES, st.booleans(), st.sampled_from(["budget", "recall"]), st.booleans())
def test_of_many_searches_each_character_is_sent_once_in_order_and_none_is_lost(
    searches, merge, selection, full_texts
):
    """Against the plainest oracle: a set of characters."""
    options = {"token_budget": 10_000, "token_counter": len, "selection": selection}
    if full_texts:
        options["documents"] = {"a.txt": _TEXT, "b.txt": _TEXT}
    sent, found, seen = set(), set(), []
    for search in searches:
        hits = [hit(start, start + n, source, _TEXT) for source, start, n in search]
        passages = ordered(hits, seen, merge=merge or selection == "recall", **options)
        new = [place for passage in passages for place in _places(passage)]
        for document in {document for document, _ in new}:
            places = [n for name, n in new if name == document]
            assert places == sorted(set(places))
        assert not sent & {*new}
        for passage in passages:
            characters = "".join(_TEXT[n] for _, n in _places(passage))
            assert "".join(passage.text.split()) == "".join(characters.split())
        sent |= {*new}
        found |= {
            (s, n) for s, start, size in search for n in range(start, start + size)
        }
        assert all(_TEXT[n].isspace() for _, n in found - sent)
        seen = [*seen, *passages]


def test_evidence_names_the_numbers_of_what_holds_the_rest():
    above = (hit(20, 40), hit(70, 80, "b.txt"), hit(0, 10, "b.txt"), hit(200, 240))

    text = text_of([hit(25, 60), hit(0, 9, "b.txt"), hit(90, 95)], read_before(*above))

    assert text == "\n\n".join(
        [
            f"[1] a.txt, characters 40-60\n{TEXT[40:60]}",
            "[…]",
            f"[2] a.txt, characters 90-95\n{TEXT[90:95]}",
            "[see above: [1], [3]]",
        ]
    )


def test_the_line_for_what_is_above_counts_towards_the_budget():
    hits = [hit(start, start + 30) for start in range(0, 390, 40)]
    above = read_before(*(hit(n, n + 20) for n in (80, 40, 0)))

    texts = {b: text_of(hits, above, token_budget=b) for b in range(40, 900, 10)}

    assert all(len(text) <= budget for budget, text in texts.items())
    # A quarter of it at most; the numbers of the worst are left out.
    assert "see above" not in texts[50]
    assert texts[60].endswith("[see above: [3]]")
    assert texts[90].endswith("[see above: [2], [3]]")
    assert texts[140].endswith("[see above: [1], [2], [3]]")


def test_evidence_that_was_all_read_is_never_empty():
    hits, above = [hit(30, 40), hit(0, 10)], read_before(hit(0, 20), hit(30, 60))

    assert text_of(hits, above, token_budget=30) == "[see above: [1], [2]]"
    assert text_of(hits, above, token_budget=20) == "[see above: [2]]"
    assert text_of(hits, above, token_budget=9) == "[see above]"


def test_what_does_not_fit_and_has_no_name_is_named_by_how_it_begins():
    found = [Hit(f"It is\nsaid {TEXT}", {})]

    said = text_of(found, token_budget=20, on_problem="warn")

    assert said == f'[too long to show: "It is said {TEXT[:49]}…"]'


def test_what_does_not_fit_is_passed_over_or_named():
    found = [hit(0, 100)._replace(source="1"), hit(200, 205)._replace(source="2")]

    assert text_of(found, token_budget=40) == (
        f"[1] a.txt, characters 200-205\n{TEXT[200:205]}"
    )
    assert text_of([hit(0, 100)], token_budget=20) == (
        "[too long to show: a.txt, characters 0-100]"
    )


OTHER = TEXT[::-1]


def test_another_text_of_the_same_name_and_numbers_was_not_read():
    read = ordered([hit(0, 50)], None)

    for start, end in [(0, 50), (10, 40), (30, 80)]:
        (passage,) = ordered([hit(start, end, text=OTHER)], read)
        assert passage.text == OTHER[start:end]
    other = ordered([hit(0, 50, text=OTHER)], read)
    both = [*ordered([hit(0, 50)], None), *other]
    assert ordered([hit(10, 40)], both) == []
    assert ordered([hit(20, 50, text=OTHER)], both) == []
