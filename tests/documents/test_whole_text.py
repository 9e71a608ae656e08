"""A document comes back whole out of its chunks, or an error says what is missing."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oprag.documents import rebuild
from oprag.errors import DocumentNotFoundError, IncompleteDocumentError
from oprag.metadata import (
    TEXT_HASH,
    chunk_metadata,
    document_key,
    document_version,
    text_stamp,
)
from oprag.splitting import TextChunk, split_sentences, split_tokens
from oprag.stores import StoredChunk
from tests.kit.strategies import awkward_texts, counter

NAME = "o'brien \\ ünï'; DROP TABLE chunks; --.txt"


def stored(name, *parts, exact=True, settings="s"):
    """Chunks of texts with spans, as an offset-exact splitter writes them."""
    written = chunk_metadata(
        name,
        [spans for _, spans in parts],
        "characters" if exact else "",
        version=document_version(settings, [text for text, _ in parts]),
    )
    for (text, _), row in zip(parts, written, strict=True):
        row[0].update(text_stamp(text, exact=exact))
    return [
        StoredChunk(text[span.start : span.end], metadata, "")
        for (text, spans), row in zip(parts, written, strict=True)
        for span, metadata in zip(spans, row, strict=True)
    ]


def annotated(name, *parts):
    """The same of a splitter that drops white space."""
    return stored(name, *parts, exact=False)


def inexact(name, chunks):
    """The document, as far as it can be had."""
    return rebuild(name, chunks, exact=False)


def at(*spans):
    return [TextChunk(start, end, end - start) for start, end in spans]


def placed(*chunks, of):
    """Chunks by hand from texts and spans, of a text cut by another splitter."""
    made = []
    for index, (text, start, end) in enumerate(chunks):
        numbers = {"chunk_index": index, "n_chunks": len(chunks)}
        place = {"doc_key": document_key(NAME), "char_start": start, "char_end": end}
        made.append(StoredChunk(text, {**numbers, **place}, ""))
    made[0].metadata.update(text_stamp(of, exact=False))
    return made


# By hand


def test_integral_floats_are_integers():
    chunks = [
        c._replace(
            metadata={
                k: float(v) if isinstance(v, int) else v for k, v in c.metadata.items()
            }
        )
        for c in stored(NAME, ("one two", at((0, 4), (4, 7))), ("3", at((0, 1))))
    ]

    assert rebuild(NAME, chunks).text == "one two\n\n3"


def test_a_blank_chunk_needs_no_place():
    source = "one" + " " * 21 + "two"
    chunks = placed(("one", 0, 3), ("  \n" * 7, None, None), ("two", 24, 27), of=source)

    found = inexact(NAME, chunks)

    assert found.text.split() == ["one", "two"]
    assert not found.exact


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (("One  two three", 0, 12), ("two three four", 4, 18)),
        (("One two three", 0, 13), ("two  three four", 4, 18)),
        (("One two three", 0, 13), ("two\nthree\n\nfour", 4, 18)),
    ],
)
def test_one_altered_side_of_an_overlap_is_measured_by_the_other(left, right):
    # The source is "One two three four": each side is 4-13 of it, one was altered.
    left = (left[0], 0, 13)

    found = inexact(NAME, placed(left, right, of="One two three four"))

    assert "".join(found.text.split()) == "Onetwothreefour"
    assert found.exact == (found.text == "One two three four")


# What is refused


def test_missing_chunks_are_named_as_ranges():
    text = "0123456789"
    chunks = stored(NAME, (text, at(*((i, i + 1) for i in range(10)))))
    kept = [chunks[i] for i in (1, 2, 6, 8)]

    with pytest.raises(IncompleteDocumentError, match=r"0, 3-5, 7, 9\.") as caught:
        rebuild(NAME, kept)

    error = caught.value
    assert isinstance(error, LookupError)
    assert (error.document, error.found, error.expected) == (NAME, 4, 10)
    assert error.missing == (range(1), range(3, 6), range(7, 8), range(9, 10))
    assert error.gap is None


@pytest.mark.parametrize("exact", [True, False])
def test_a_gap_that_white_space_does_not_explain_is_an_error(exact):
    source = "one       a two    three"
    spans = at((0, 3), (12, 15), (19, 24))

    chunks = annotated(NAME, (source, spans))

    with pytest.raises(IncompleteDocumentError, match="no chunk holds characters 3-12"):
        rebuild(NAME, chunks, exact=exact)
    gap = "one" + " " * 9 + "two    three"
    assert inexact(NAME, annotated(NAME, (gap, spans))).text.split() == gap.split()


# Laws


@pytest.mark.parametrize("exact", [True, False])
@pytest.mark.parametrize("spans", [[(0, 3), (4, 7)], [(1, 7)], [(0, 6)]])
def test_chunks_of_our_own_splitters_leave_no_gap(spans, exact):
    chunks = stored(NAME, ("one two", at(*spans)))

    with pytest.raises(IncompleteDocumentError, match="no chunk holds characters"):
        rebuild(NAME, chunks, exact=exact)
    assert chunks[0].metadata.get(TEXT_HASH)


@st.composite
def split_documents(draw):
    """Texts of one document, cut by a splitter of ours, and their chunks."""
    texts = draw(st.lists(awkward_texts.filter(bool), min_size=1, max_size=3))
    size = draw(st.integers(1, 12))
    tokens = counter(draw(st.sampled_from(["cl100k_base", "characters", "words"])))
    if draw(st.booleans()):
        overlap = draw(st.integers(0, size - 1))
        rows = [
            split_tokens(t, chunk_size=size, chunk_overlap=overlap, tokenizer=tokens)
            for t in texts
        ]
    else:
        rows = [
            split_sentences(
                text,
                chunk_size=size,
                tokenizer=tokens,
                sentence_spans=lambda text: [(0, len(text))],
            )
            for text in texts
        ]
    return texts, stored(NAME, *zip(texts, rows, strict=True))


@given(split_documents(), st.randoms(use_true_random=False), st.data())
def test_any_document_comes_back_identical(split, rng, data):
    texts, chunks = split
    doubled = data.draw(st.lists(st.sampled_from(chunks), max_size=5))
    foreign = stored("other", ("foreign text", at((0, 7), (7, 12))))
    nameless = [c._replace(metadata={}) for c in chunks[:2]]
    given_ = [*chunks, *doubled, *foreign, *nameless]
    rng.shuffle(given_)

    found = rebuild(NAME, given_)

    assert found[:3] == ("\n\n".join(texts), True, tuple(texts))
    pages = tuple(found.text[slice(*span)] for _, span in found.pages)
    assert pages == (found.parts if len(texts) > 1 else ())


@given(split_documents(), st.data())
def test_a_document_that_lacks_any_chunk_is_never_given(split, data):
    _, chunks = split
    lost = data.draw(st.sets(st.integers(0, len(chunks) - 1), min_size=1))
    kept = [c for i, c in enumerate(chunks) if i not in lost]

    expected = DocumentNotFoundError if not kept else IncompleteDocumentError
    with pytest.raises(expected) as caught:
        rebuild(NAME, kept)
    if kept:
        named = [i for indexes in caught.value.missing for i in indexes]
        assert named == sorted(lost) or (
            len(caught.value.missing) == 10 and named == sorted(lost)[: len(named)]
        )


@given(st.text(alphabet="ab \n\t", max_size=80), st.randoms(use_true_random=False))
def test_words_whose_white_space_was_stripped_come_back_in_place(text, rng):
    begins = [i for i in range(len(text)) if not text[i].isspace()]
    if not begins:
        return
    cuts = sorted({begins[0], *rng.sample(begins, len(begins) // 3), len(text)})
    spans = []
    for start, end in itertools.pairwise(cuts):
        spans.append((start, start + len(text[start:end].rstrip())))

    found = inexact(NAME, annotated(NAME, (text, at(*spans))))

    assert found.text.split() == text.split()
    assert [found.text[a:b] for a, b in spans] == [text[a:b] for a, b in spans]
    assert len(found.text) == len(text)
    assert found.exact == (found.text == text)
