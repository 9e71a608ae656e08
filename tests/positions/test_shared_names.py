"""A name is a claim: several files under one name, one file under several names."""

import warnings

import pytest

from oprag import order_context
from oprag.context import result_metadata
from oprag.errors import MissingDocumentError, PositionError, PositionWarning
from oprag.metadata import chunk_metadata, document_version

SIZE = 40
"""Characters of a chunk here."""


def text_of(file: str, start: int) -> str:
    return f"{file} says at {start}: ".ljust(SIZE, "x")


def hit(file: str, start: int, **metadata) -> tuple[str, dict]:
    """A chunk of one of several files that are called `report.pdf`."""
    return text_of(file, start), {
        "source": "report.pdf",
        "start_index": start,
        **metadata,
    }


def ordered(hits, **options):
    texts, metadatas = zip(*hits, strict=True)
    return order_context(texts, metadatas, **options)


def read(hits, **options):
    """Order hits, and return the files as they follow one another, and what is said."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        passages = ordered(hits, **options)
    return [passage.text.split()[0] for passage in passages], [
        str(w.message) for w in said
    ]


FACTS = {
    "total_pages": (12, 7),
    "file_size": (1_000, 2_000),
    "etag": ("a1", "b2"),
    "creationdate": ("2026-01-01", "2025-05-05"),
    "moddate": ("2026-01-01", "2025-05-05"),
}


@pytest.mark.parametrize("fact", FACTS)
def test_a_fact_that_a_loader_writes_once_for_a_file_separates_by_itself(fact):
    rent, pets = FACTS[fact]
    hits = [hit("rent", 80, **{fact: rent}), hit("pets", 40, **{fact: pets})]

    files, said = read(hits, merge=True)

    assert files == ["rent", "pets"]
    assert len(said) == 1
    assert "2 chunks under the name 'report.pdf' are of 2 different texts" in said[0]


def names_of(hits):
    with pytest.warns(PositionWarning):
        return {p.text.split()[0]: p.document_name for p in ordered(hits)}


def test_files_that_are_told_apart_are_named_apart_the_same_way_each_time():
    rent, pets = {"total_pages": 12}, {"total_pages": 7}
    hits = [hit("rent", 80, **rent), hit("pets", 40, **pets), hit("pets", 0, **pets)]

    with pytest.warns(PositionWarning):
        names = {p.text.split()[0]: p.citation.split(",")[0] for p in ordered(hits)}
    with pytest.warns(PositionWarning):
        again = {
            p.text.split()[0]: p.citation.split(",")[0] for p in ordered(hits[1::-1])
        }

    assert names == again
    assert len({*names.values()}) == 2
    assert all(name.startswith("report.pdf (") for name in names.values())


@pytest.mark.parametrize("fact", ["title", "author", "last_modified_date", "sha256"])
def test_a_weak_fact_separates_groups_whose_texts_cannot_be_one(fact):
    files = {"rent": {fact: "A"}, "pets": {fact: "B"}}
    hits = [hit(name, start, **files[name]) for start in (40, 0) for name in files]

    found, said = read(hits)

    assert found == ["rent", "rent", "pets", "pets"]
    assert len(said) == 1


@pytest.mark.parametrize("best", ["rent", "pets"])
def test_a_fact_that_only_one_of_the_files_has_separates_them_both_ways(best):
    hits = [hit("rent", start, folder="A") for start in (40, 0)]
    hits += [hit("pets", start) for start in (40, 0)]
    if best == "pets":
        hits.reverse()

    names = names_of(hits)

    assert names["rent"] == "report.pdf (A)"
    assert names["pets"].startswith("report.pdf (")
    assert "None" not in names["pets"]


@pytest.mark.parametrize("best", ["a result", "a chunk"])
def test_a_result_among_chunks_of_another_file_is_kept_apart(best):
    rent, pets = hit("rent", 0, total_pages=12), hit("pets", 0, total_pages=7)
    (result,) = order_context(*map(list, zip(rent, strict=True)))
    hits = [(result.text, result_metadata(result, whole=True)), pets]
    if best == "a chunk":
        hits.reverse()

    _, said = read(hits)

    assert len(said) == 1
    assert "2 chunks under the name 'report.pdf' are of 2 different texts" in said[0]


def test_of_a_folder_the_name_says_which():
    hits = [hit(name, start, folder=name) for start in (40, 0) for name in ("a", "b")]

    with pytest.warns(PositionWarning):
        names = [p.citation.split(",")[0] for p in ordered(hits)]
    assert names == ["report.pdf (a)"] * 2 + ["report.pdf (b)"] * 2


def test_too_few_chunks_to_tell_are_one_document_with_a_doubt():
    hits = [hit("rent", 40, title="A"), hit("pets", 0, title="B")]

    files, said = read(hits)

    assert (files, said) == (["pets", "rent"], [])
    assert ordered(hits).why["doubts"] == {"report.pdf": ("title",)}


def test_chunks_that_only_touch_are_not_joined_where_a_fact_differs():
    hits = [hit("rent", 40, repository="A"), hit("pets", 0, repository="B")]

    assert len(ordered(hits, merge=True)) == 2
    for only in ({"repository": "A"}, {}), ({}, {"repository": "A"}):
        one_has_it = [hit("rent", n * 40, **only[n]) for n in (0, 1)]
        assert len(ordered(one_has_it, merge=True)) == 2
    same = [hit("rent", 40, repository="A"), hit("rent", 0, repository="A")]
    assert len(ordered(same, merge=True)) == 1


def test_a_key_that_varies_from_chunk_to_chunk_never_separates():
    hits = [hit("rent", start, title=f"Section {start}") for start in (80, 0, 40)]

    passages = ordered(hits)

    assert [p.spans[0].start for p in passages] == [0, 40, 80]
    assert len({p.document_key for p in passages}) == 1


def test_what_the_user_says_wins_over_every_stamp():
    hits = []
    for folder in "ab":
        text = "".join(text_of(folder, start) for start in (0, SIZE))
        spans = [(0, SIZE, 5), (SIZE, 2 * SIZE, 5)]
        version = document_version("s", [text])
        (row,) = chunk_metadata("README.md", [spans], "words", version=version)
        hits += [
            (text[start:end], {**written, "folder": folder})
            for (start, end, _), written in zip(spans, row, strict=True)
        ]
    mixed = [hits[3], hits[1], hits[2], hits[0]]

    files, said = read(mixed, document_key="folder")

    assert (files, said) == (["b", "b", "a", "a"], [])


def section(name: str, start: int, **metadata) -> tuple[str, dict]:
    return text_of(name, start), {
        "source": "guide.md",
        "start_index": start,
        **metadata,
    }


@pytest.mark.parametrize("key", ["topic", "Kapitel", "Abschnitt 1"])
def test_sections_under_any_name_are_known_by_what_they_do(key):
    hits = [section(n, start, **{key: n}) for start in (40, 0) for n in ("one", "two")]

    with pytest.raises(PositionError, match=key) as caught:
        ordered(hits)
    assert (caught.value.kind, caught.value.keys) == ("unscoped_position", (key,))
    text = "".join(text_of(n, start) for n in ("one", "two") for start in (0, 40))
    files = read(hits, documents={"guide.md": text})[0]
    assert files == ["one", "one", "two", "two"]


NO_SECTIONS = {
    "two chunk sizes": [
        section("one", 0, size=40),
        section("one", 40, size=40),
        (text_of("one", 0) + text_of("one", 40), section("", 0, size=80)[1]),
        (text_of("one", 80) + text_of("one", 120), section("", 80, size=80)[1]),
    ],
    "levels of a hierarchy": [
        section("one", 0, level=1),
        section("one", 40, level=1),
        (text_of("one", 0) + text_of("one", 40), section("", 0, level=0)[1]),
        (text_of("one", 80) + text_of("one", 120), section("", 80, level=0)[1]),
    ],
    "doubled chunks": [section("one", s, batch=b) for b in (1, 2) for s in (0, 40)],
    "a title per chunk": [section("one", s, title=f"T{s}") for s in (0, 40, 80)],
    "languages of passages": [
        section("one", s, language="de" if s < 80 else "en") for s in (0, 40, 80, 120)
    ],
}


@pytest.mark.parametrize("shape", NO_SECTIONS)
def test_what_is_no_section_stays_one_document_in_order(shape):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        passages = ordered(NO_SECTIONS[shape][::-1])

    starts = [passage.spans[0].start for passage in passages]
    assert starts == sorted(starts)
    assert {passage.citation.split(",")[0] for passage in passages} == {"guide.md"}


@pytest.mark.parametrize("name", ["blob", "None", "", None])
def test_a_word_that_every_file_gets_is_no_name(name):
    hits = [("a", {"source": name, "start_index": 0}), ("b", {"source": name})]

    with pytest.raises(MissingDocumentError):
        ordered(hits)


VIDEO = "https://www.example.com/watch?v=abc"
LINKS = {
    "pages": ["https://e.org/a.pdf#page=3", "https://e.org/a.pdf#page=1"],
    "lines": ["https://e.org/a.py#L30", "https://e.org/a.py#L1-L9"],
    "media fragments": ["https://e.org/a.mp4#t=90", "https://e.org/a.mp4#t=10,20"],
    "composed": ["docs/cafe\u0301.txt", "docs/caf\u00e9.txt"],
    "dot": ["./docs/a.txt", "docs/a.txt"],
}


@pytest.mark.parametrize("kind", LINKS)
def test_addresses_of_places_in_one_file_are_one_document(kind):
    hits = [
        (text_of("one", start), {"source": source, "start_index": start})
        for source, start in zip(LINKS[kind], (40, 0), strict=True)
    ]

    passages = ordered(hits)

    assert [passage.spans[0].start for passage in passages] == [0, 40]
    assert len({passage.document_key for passage in passages}) == 1


def test_seconds_of_a_video_are_one_document_in_the_order_of_the_talk():
    hits = [
        (f"said at {at}", {"source": f"{VIDEO}&t={at}s", "start_seconds": at})
        for at in (600, 0, 300)
    ]

    passages = ordered(hits)

    assert [passage.text for passage in passages] == [
        f"said at {n}" for n in (0, 300, 600)
    ]
    assert passages[0].document_key == VIDEO


DIFFERENT = {
    "routes": ["https://e.org/#/guide", "https://e.org/#/start"],
    "hashbangs": ["https://e.org/#!a", "https://e.org/#!b"],
    "topics of a forum": ["https://f.org/view?t=120", "https://f.org/view?t=7"],
    "posts": ["https://f.org/a#post-3", "https://f.org/a#post-9"],
}


@pytest.mark.parametrize("kind", DIFFERENT)
def test_addresses_of_different_pages_are_different_documents(kind):
    hits = [
        (text_of("one", start), {"source": source, "start_index": start})
        for source, start in zip(DIFFERENT[kind], (40, 0), strict=True)
    ]

    passages = ordered(hits)

    assert [passage.spans[0].start for passage in passages] == [40, 0]
    assert [passage.document_key for passage in passages] == DIFFERENT[kind]


def test_what_was_read_of_one_file_is_not_cut_out_of_another_of_its_name():
    hits = [hit("rent", 0, total_pages=12), hit("pets", 0, total_pages=7)]

    with pytest.warns(PositionWarning):
        rent, pets = ordered(hits)
    with pytest.warns(PositionWarning):
        left = ordered(hits, seen=[[rent.document_key, None, 0, SIZE]])
    assert [passage.text for passage in left] == [pets.text]


def test_one_paragraph_in_two_documents_stays_two():
    metadatas = [{"source": name, "start_index": 0} for name in ("a.txt", "b.txt")]

    assert len(order_context(["The same."] * 2, metadatas, merge=True)) == 2
