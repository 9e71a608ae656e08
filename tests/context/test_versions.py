"""Of two versions that `index_documents` left one stays: a whole one, or the best."""

import warnings

import pytest

from oprag import order_context
from oprag.chunk import Hit
from oprag.context import ContextOptions, arrange
from oprag.errors import PositionWarning
from oprag.metadata import chunk_metadata, document_version, make_indexed_id
from oprag.splitting import split_tokens
from tests.kit.words import words

OLD = "one two three four five six seven eight"
NEW = "one two three 4 five six seven eight nine"


def chunks(text, size=2, name="a.txt"):
    """Texts and metadata of a document that was split."""
    spans = split_tokens(text, chunk_size=size, tokenizer=words)
    version = document_version(f"words {size}", [text])
    (written,) = chunk_metadata(name, [spans], "words", version=version)
    return [(text[s.start : s.end], m) for s, m in zip(spans, written, strict=True)]


def ordered(hits, **options):
    texts, metadatas = zip(*hits, strict=True)
    passages = order_context(texts, metadatas, token_counter=words, **options)
    return [passage.text for passage in passages]


def indexed(hits):
    """Hits with the ids that `index_documents` gives to chunks."""
    return [
        Hit(text, metadata, id=make_indexed_id(metadata, metadata["chunk_index"]))
        for text, metadata in hits
    ]


@pytest.mark.parametrize("options", [{}, {"merge": True}, {"token_budget": 50}])
def test_what_is_not_of_the_best_hits_version_is_left_out_and_that_is_said(options):
    old, new = chunks(OLD), chunks(NEW)
    hits = indexed([new[3], old[0], new[1], old[2]])
    given = ContextOptions(token_counter=words, **options)

    with pytest.warns(PositionWarning, match="2 retrieved chunks of 'a.txt'"):
        arranged = arrange(hits, given)
    texts = [passage.text for passage in arranged.passages]
    assert "".join(texts).split() == [*new[1][0].split(), *new[3][0].split()]
    assert arranged.why["dropped"] == {"version": [1, 3]}


@pytest.mark.parametrize("best", [0, 1, 2])
def test_a_version_that_was_found_whole_goes_before_a_part_of_another(best):
    old, new = chunks(OLD), chunks(NEW)[:best]
    hits = indexed([*new, *reversed(old)])

    with pytest.warns(PositionWarning) if best else warnings.catch_warnings():
        arranged = arrange(hits, ContextOptions(token_counter=words))

    assert "".join(passage.text for passage in arranged.passages) == OLD
    assert arranged.why["dropped"].get("version", []) == [*range(best)]


def test_a_document_that_the_user_names_is_of_one_version_too():
    old, new = chunks(OLD), chunks(NEW)
    options = ContextOptions(token_counter=words, document_key="doc_uri")

    with pytest.warns(PositionWarning, match="1 retrieved chunks of 'a.txt'"):
        arranged = arrange(indexed([new[3], old[0], new[1]]), options)

    assert arranged.why["dropped"] == {"version": [1]}


def test_documents_that_the_user_takes_for_one_keep_their_versions():
    first, second = chunks(OLD), chunks(NEW, name="b.txt")
    for each in (*first, *second):
        each[1]["work"] = "both"
    options = ContextOptions(
        token_counter=words, document_key="work", position_keys=["chunk_index"]
    )

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        arranged = arrange(indexed([first[0], second[2]]), options)

    assert len(arranged.passages) == 2


@pytest.mark.parametrize("options", [{}, {"merge": True}, {"token_budget": 50}])
def test_two_texts_that_nobody_replaced_are_two_documents(options):
    old, new = chunks(OLD), chunks(NEW)
    hits = [new[3], old[0], new[1], old[2]]

    with pytest.warns(PositionWarning, match="4 chunks under the name 'a.txt'") as said:
        texts = ordered(hits, **options)
    assert len(said) == 1
    assert "".join(texts).split() == [
        word for hit in (new[1], new[3], old[0], old[2]) for word in hit[0].split()
    ]


def test_chunks_of_two_sizes_of_one_text_stay_together():
    hits = [chunks(OLD)[3], chunks(OLD, size=3)[0]]

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert ordered(hits) == [hits[1][0], hits[0][0]]


@pytest.mark.parametrize("own", [{}, {"doc_key": ["k"]}])
def test_a_doc_version_of_the_application_says_nothing(own):
    hits = [
        (text, {"source": text, "doc_version": version, **own})
        for text, version in (("One.", "2023-01"), ("Two.", "2024-02"))
    ]

    assert ordered(hits) == ["One.", "Two."]


def test_documents_with_the_same_text_have_versions_of_their_own():
    first, second = chunks(OLD), chunks(OLD, name="b.txt")

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(ordered([first[0], second[0], first[2]])) == 3
