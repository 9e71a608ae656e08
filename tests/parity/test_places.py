"""Chunks without a true place: found in full texts, alone, or left as retrieved."""

from uuid import UUID

import pytest
from llama_index.core import Document as LlamaDocument

import langchain_oprag
import llamaindex_oprag
import oprag
from oprag.errors import (
    BudgetTooSmallError,
    ConflictingPositionsError,
    InvalidOptionError,
    MissingPositionError,
    PositionWarning,
)
from tests.kit.words import words
from tests.parity.components import COMPONENTS, documents, nodes

TEXT = "One day it rained.\n\nTwo days later it snowed.  And then\tthe sun came out."
TEXTS = [
    "And then the sun came out.",
    "One day it rained.",
    "Two days later it snowed.",
]
IN_ORDER = [TEXTS[1], TEXTS[2], TEXTS[0]]
EVERYWHERE = pytest.mark.parametrize("component", COMPONENTS.values(), ids=COMPONENTS)

STATES = {
    "none": [{}, {}, {}],
    "all zero": [{"start_index": 0}] * 3,
    "not found": [{"start_index": -1}, {"start_index": 0}, {"start_index": 20}],
    "wrong": [{"start_index": 3}, {"start_index": 40}, {"start_index": 20}],
    "wrong, and in a believable order": [
        {"start_index": 0},
        {"start_index": 30},
        {"start_index": 60},
    ],
    "restarting": [
        {"start_index": 0, "Header 1": "B"},
        {"start_index": 0, "Header 1": "A"},
        {"start_index": 20, "Header 1": "A"},
    ],
    "negative": [{"char_start": -3, "char_end": 2}, {}, {}],
    "pages without offsets": [{"page": 1}, {"page": 0}, {"page": 0}],
}


def stored(state):
    return [{"source": "a.txt", **metadata} for metadata in STATES[state]]


@EVERYWHERE
@pytest.mark.parametrize("state", STATES)
def test_chunks_are_found_in_their_full_text(component, state):
    result = component(TEXTS, stored(state), documents={"a.txt": TEXT})
    assert result.texts == IN_ORDER


@EVERYWHERE
def test_what_oprag_wrote_counts_where_the_text_has_copies(component):
    twice = "It rained. It snowed. It rained."
    own = {"source": "a", "doc_key": "k", "doc_uri": "a", "n_chunks": 3}
    places = {"chunk_index": 2, "char_start": 22, "char_end": 32}
    metadatas = [{**own, **places}, {**own, "chunk_index": 1}]
    texts = ["It rained.", "It snowed."]
    asked = {"documents": {"a": twice}}

    assert component(texts, metadatas, **asked).texts == texts[::-1]
    metadatas[1] |= {"char_start": 11, "char_end": 21}
    assert component(texts, metadatas, **asked).texts == texts[::-1]
    del metadatas[0]["source"], metadatas[0]["doc_uri"]  # the other names the text
    assert component(texts, metadatas, **asked).texts == texts[::-1]


@EVERYWHERE
def test_a_line_that_the_text_repeats_is_where_the_other_children_of_its_parent_say(
    component,
):
    text = "A begins.\n\nTotal: 5.\n\nB begins.\n\nTotal: 5.\n\nB ends."
    children = [("Total: 5.", "b", 11), ("B begins.", "b", 0), ("A begins.", "a", 0)]
    metadatas = [
        {"source": "a.txt", "doc_id": str(UUID(parent * 32)), "start_index": start}
        for _, parent, start in children
    ]

    texts = [child for child, *_ in children]
    for number in (2, 3):  # the children of one parent alone, and of two
        full = {"documents": {"a.txt": text}}
        result = component(texts[:number], metadatas[:number], **full)
        assert result.texts == texts[:number][::-1]


@EVERYWHERE
def test_what_cannot_be_proved_is_an_error_with_the_facts(component):
    twice = "It rained. It snowed. It rained."
    with pytest.raises(MissingPositionError) as caught:
        component(
            ["It snowed.", "It rained.", "It hailed."],
            [{"source": "a", "start_index": 0}] * 3,
            documents={"a": twice},
        )
    assert (caught.value.document, caught.value.rank) == ("a", 1)
    assert "2 of its 3 retrieved chunks" in caught.value.message
    assert "rank 1 is more than once in its text" in caught.value.message
    assert "rank 2 is not in its text" in caught.value.message


PAGES = ["Total: 5.\n\nRent is due.", "Water.\n\nTotal: 5.", "Total: 5. Total: 5."]
ON_PAGES = pytest.mark.parametrize("name", [*COMPONENTS][1:])


def located_on_pages(name, texts, pages, key="page", first=0):
    """Texts found in `PAGES`, which are given one by one."""
    numbers = [str(n + first) if first else n for n in range(len(PAGES))]
    given = [{"source": "a.pdf", key: number} for number in numbers]
    full = documents(PAGES, given)
    if name.startswith("llamaindex"):
        full = [LlamaDocument(text=d.page_content, metadata=d.metadata) for d in full]
    return COMPONENTS[name](texts, [given[page] for page in pages], documents=full)


@ON_PAGES
@pytest.mark.parametrize(("key", "first"), [("page", 0), ("page_label", 1)])
def test_a_line_that_several_pages_have_is_found_on_its_own(name, key, first):
    texts = ["Total: 5.", "Water.", "Rent is due.", "Total: 5."]

    result = located_on_pages(name, texts, [1, 1, 0, 0], key, first)

    assert result.texts == ["Total: 5.", "Rent is due.", "Water.", "Total: 5."]
    places = result.places()
    if places[0] is not None:
        whole = "\n\n".join(PAGES)
        for text, place in zip(result.texts, places, strict=True):
            assert whole[place.start : place.end] == text


@EVERYWHERE
def test_a_text_that_is_fetched_is_read_where_a_place_is_missing_alone(component):
    asked = []

    def fetched(name):
        asked.append(name)
        return TEXT

    sound = [{"source": "a", "start_index": i} for i in (60, 0, 20)]
    assert component(TEXTS, sound, documents=fetched).texts == IN_ORDER
    assert asked == []
    result = component(TEXTS, [{"source": "a"}] * 3, documents=fetched)
    assert result.texts == IN_ORDER
    assert {*asked} == {"a"}


@EVERYWHERE
@pytest.mark.parametrize("merge", [False, True])
def test_a_place_that_a_text_in_memory_denies_is_found_or_refused(component, merge):
    metadatas = [{"source": "a", "start_index": i} for i in (60, 0, 20)]
    options = {"merge": merge, "documents": {"a": TEXT}}
    if not merge:
        assert component(TEXTS, metadatas, **options).texts == IN_ORDER
    with pytest.raises(MissingPositionError, match="is not in its text"):
        component([TEXTS[1], "Hail.", "Fog."], metadatas, **options)
    with pytest.warns(PositionWarning, match="missing_position"):
        result = component(
            [TEXTS[1], "Hail."], metadatas[:2], on_problem="warn", **options
        )
    assert result.texts == [TEXTS[1], "Hail."]
    assert result.problems() == [None, "missing_position"]


@EVERYWHERE
def test_a_budget_an_option_and_a_document_are_no_problems_of_order(component):
    metadatas = [{"source": name} for name in "aab"]
    with pytest.raises(BudgetTooSmallError):
        component(
            TEXTS, metadatas, on_problem="warn", token_budget=1, token_counter=words
        )
    with pytest.raises(InvalidOptionError):
        component(
            TEXTS,
            [{"source": name, "page": 0} for name in "abc"],
            on_problem="warn",
            sort_documents=lambda chunks: chunks[0].metadata["year"],
        )

    def damaged(name):
        raise ConflictingPositionsError("damaged", document=name, chunks=())

    sound = [{"source": "a", "start_index": i} for i in (90, 0, 19)]
    with pytest.raises(ConflictingPositionsError):
        component(TEXTS, sound, on_problem="warn", merge=True, documents=damaged)


def test_a_warning_names_the_users_line_and_says_the_problem_once():
    given = ["a", "b"], [{"source": "a"}] * 2
    compressor = langchain_oprag.OrderPreservingCompressor(on_problem="warn")
    postprocessor = llamaindex_oprag.OrderPreservingPostprocessor(on_problem="warn")
    calls = (
        lambda: oprag.order_context(*given, on_problem="warn"),
        lambda: compressor.compress_documents(documents(*given), ""),
        lambda: postprocessor.postprocess_nodes(nodes(*given)),
    )

    for call in calls:
        with pytest.warns(PositionWarning) as caught:
            call()
        assert [warning.filename for warning in caught] == [__file__]
        assert str(said := caught[0].message).count(said.__cause__.message) == 1
