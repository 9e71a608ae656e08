"""Chunks without a true place: found in full texts, alone, or left as retrieved."""

from __future__ import annotations

import asyncio
import logging
import warnings

import pytest
from langchain_core.messages import AIMessage
from llama_index.core import Document as LlamaDocument

import langchain_oprag
import llamaindex_oprag
from oprag import order_context, render
from oprag.errors import (
    BudgetTooSmallError,
    InconsistentChunksError,
    InvalidOptionError,
    InvalidSpanError,
    MissingDocumentError,
    MissingPositionError,
    PositionWarning,
)
from tests.langchain.corpus import words
from tests.langchain.recording import RecordingChatModel
from tests.llamaindex.recording import RecordingLLM
from tests.parity.components import (
    COMPONENTS,
    documents,
    langchain_retriever,
    llamaindex_retriever,
    nodes,
)

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
    result = component(
        TEXTS, stored(state), missing_position="locate", documents={"a.txt": TEXT}
    )
    assert result.texts == IN_ORDER


@EVERYWHERE
def test_positions_that_the_text_confirms_stay_as_they_are(component):
    twice = "It rained. It snowed. It rained."
    metadatas = [{"source": "a", "start_index": start} for start in (22, 0, 11)]

    result = component(
        ["It rained.", "It rained.", "It snowed."],
        metadatas,
        missing_position="locate",
        documents={"a": twice},
    )
    assert result.texts == ["It rained.", "It snowed.", "It rained."]


@EVERYWHERE
def test_a_place_that_the_text_has_elsewhere_too_is_not_proved(component):
    twice = "It rained. It snowed. It rained."
    asked = {"missing_position": "locate", "documents": {"a": twice}}
    with pytest.raises(MissingPositionError, match="rank 0 stands in its text more"):
        component(
            ["It rained.", "It snowed."],
            [{"source": "a", "start_index": start} for start in (0, 11)],
            **asked,
        )
    alone = component(["It rained."], [{"source": "a", "start_index": 0}], **asked)
    assert "char_start" not in alone.metadatas[0]


@EVERYWHERE
@pytest.mark.parametrize("numbers", [(0, 1, 2), (2, 0, 1)])
def test_the_text_places_chunks_that_have_numbers(component, numbers):
    metadatas = [{"source": "a.txt", "chunk_index": number} for number in numbers]
    asked = {"missing_position": "locate", "documents": {"a.txt": TEXT}}

    result = component(TEXTS, metadatas, **asked)
    assert result.texts == IN_ORDER
    if component is not COMPONENTS["order_context"]:
        starts = [metadata["char_start"] for metadata in result.metadatas]
        assert starts == [0, 20, 47]
    (alone,) = component(TEXTS[2:], metadatas[2:], **asked).metadatas
    assert alone.get("char_start", 20) == 20


@EVERYWHERE
def test_what_oprag_wrote_counts_where_the_text_has_copies(component):
    twice = "It rained. It snowed. It rained."
    own = {"source": "a", "doc_key": "k", "doc_uri": "a", "n_chunks": 3}
    places = {"chunk_index": 2, "char_start": 22, "char_end": 32}
    metadatas = [{**own, **places}, {**own, "chunk_index": 1}]
    texts = ["It rained.", "It snowed."]
    asked = {"missing_position": "locate", "documents": {"a": twice}}

    assert component(texts, metadatas, **asked).texts == texts[::-1]
    metadatas[1] |= {"char_start": 11, "char_end": 21}
    assert component(texts, metadatas, **asked).texts == texts[::-1]


@EVERYWHERE
def test_what_cannot_be_proved_is_an_error_with_the_facts(component):
    twice = "It rained. It snowed. It rained."
    with pytest.raises(MissingPositionError) as caught:
        component(
            ["It snowed.", "It rained.", "It hailed."],
            [{"source": "a", "start_index": 0}] * 3,
            missing_position="locate",
            documents={"a": twice},
        )
    assert (caught.value.document, caught.value.rank) == ("a", 1)
    assert "2 of its 3 retrieved chunks" in caught.value.message
    assert "rank 1 stands in its text more than once" in caught.value.message
    assert "rank 2 does not stand in its text" in caught.value.message


@EVERYWHERE
def test_a_text_that_is_not_there_is_named(component):
    with pytest.raises(
        MissingPositionError, match=r"no exact text by the name 'a.txt'"
    ):
        component(
            TEXTS,
            stored("all zero"),
            missing_position="locate",
            documents={"b.txt": TEXT},
        )


@EVERYWHERE
def test_locating_needs_texts_and_says_so_at_once(component):
    with pytest.raises(ValueError, match="Give them as documents="):
        component([], [], missing_position="locate")


@EVERYWHERE
def test_chunk_numbers_tell_equal_places_apart(component):
    text = "A b c. " * 2 + "Middle. " + "A b c. " * 2
    metadatas = [{"source": "a", "start_index": 0, "chunk_index": n} for n in (2, 0)]

    with pytest.raises(MissingPositionError):
        component(
            ["Middle.", "b c. A"],
            [{"source": "a", "start_index": 0}] * 2,
            missing_position="locate",
            documents={"a": text},
        )
    # The order is known, and still not which of the two places it is.
    with pytest.raises(MissingPositionError):
        component(
            ["Middle.", "A b c."],
            metadatas,
            missing_position="locate",
            documents={"a": text},
        )


PAGES = ["Total: 5.\n\nRent is due.", "Water.\n\nTotal: 5.", "Total: 5. Total: 5."]
ON_PAGES = pytest.mark.parametrize(
    "component", [COMPONENTS[name] for name in COMPONENTS if name != "order_context"]
)


def located_on_pages(component, texts, pages, key="page", first=0):
    """Texts found in `PAGES`, which are given one by one."""
    langchain = component in [
        each for name, each in COMPONENTS.items() if name.startswith(("lang", "compr"))
    ]
    given = [{"source": "a.pdf", key: key_of(n, first)} for n in range(len(PAGES))]
    full = documents(PAGES, given) if langchain else llama_documents(PAGES, given)
    return component(
        texts,
        [{"source": "a.pdf", key: key_of(n, first)} for n in pages],
        missing_position="locate",
        documents=full,
    )


def key_of(number, first):
    return str(number + first) if first else number


def llama_documents(texts, metadatas):
    pairs = zip(texts, metadatas, strict=True)
    return [LlamaDocument(text=text, metadata=metadata) for text, metadata in pairs]


@ON_PAGES
@pytest.mark.parametrize(("key", "first"), [("page", 0), ("page_label", 1)])
def test_a_line_that_several_pages_have_is_found_on_its_own(component, key, first):
    texts = ["Total: 5.", "Water.", "Rent is due.", "Total: 5."]

    result = located_on_pages(component, texts, [1, 1, 0, 0], key, first)

    assert result.texts == ["Total: 5.", "Rent is due.", "Water.", "Total: 5."]
    if "char_start" in result.metadatas[0]:
        whole = "\n\n".join(PAGES)
        for text, metadata in zip(result.texts, result.metadatas, strict=True):
            assert whole[metadata["char_start"] : metadata["char_end"]] == text


@ON_PAGES
@pytest.mark.parametrize(
    ("texts", "pages"),
    [
        (["Total: 5.", "Water.", "Total: 5. Total: 5."], [2, 1, 2]),  # twice on it
        (["Total: 5.", "Water."], [7, 7]),  # there is no such page
        (["Total: 5.", "Total: 5.", "Water.", "Rent is due."], [0, 1, 2, 0]),  # wrong
    ],
)
def test_a_page_that_proves_nothing_leaves_the_error(component, texts, pages):
    with pytest.raises(MissingPositionError, match="stands in its text more than once"):
        located_on_pages(component, texts, pages)


@EVERYWHERE
def test_chunks_that_are_alone_in_their_documents_need_no_position(component):
    metadatas = [{"source": name} for name in "abc"]

    result = component(TEXTS, metadatas)
    assert result.texts == TEXTS
    assert all("char_start" not in metadata for metadata in result.metadatas)


PROBLEMS = {
    "missing_position": [{"source": "a"}, {"source": "a"}, {"source": "b"}],
    "missing_document": [{"start_index": 9}, {"start_index": 0}, {"source": "b"}],
    "conflicting_text": [{"source": "a", "start_index": i} for i in (5, 0, 2)],
    "unscoped_position": [
        {"source": "a", "start_index": i, "Header 1": str(i)} for i in (5, 0, 2)
    ],
    "ambiguous_position": [{"source": "a", "chunk_index": i} for i in (1, 1, 0)],
    "invalid_span": [{"source": "a", "char_start": 9, "char_end": 2}] * 3,
}


@EVERYWHERE
@pytest.mark.parametrize(
    ("problem", "selection"),
    [
        *((problem, "budget") for problem in PROBLEMS),
        ("missing_position", "segments"),
        ("missing_document", "expand"),
        ("conflicting_text", "recall"),
    ],
)
def test_with_a_problem_the_order_as_retrieved_is_kept(component, problem, selection):
    with pytest.warns(PositionWarning, match=rf"\({problem}\)") as caught:
        result = component(
            [*TEXTS, TEXTS[0]],
            [*PROBLEMS[problem], PROBLEMS[problem][0]],
            on_problem="warn",
            selection=selection,
            token_budget=13,
            token_counter=words,
        )
    assert result.texts == TEXTS[:2]  # 6 and 4 words; 4 more do not fit
    assert [m["problem"] for m in result.metadatas] == [problem] * 2
    assert len(caught) == 1
    assert caught[0].message.__cause__ is not None


@pytest.mark.filterwarnings("ignore::oprag.errors.PositionWarning")
def test_room_for_marks_is_left_where_the_order_as_retrieved_is_kept():
    texts = ["x0", "xx1"]
    metadatas = [{"source": "a"}, {"source": "a", "start_index": 0}]
    marked = {"gap_mark": "[…]"}
    options = {**marked, "token_budget": 10, "token_counter": len, "on_problem": "warn"}

    passages = order_context(texts, metadatas, **options)
    compressor = langchain_oprag.OrderPreservingCompressor(**options)
    found = compressor(documents(texts, metadatas))
    postprocessor = llamaindex_oprag.OrderPreservingPostprocessor(**options)
    ordered = postprocessor.postprocess_nodes(nodes(texts, metadatas))

    # "[…]" would make 12 of both.
    assert render(passages, **marked) == "x0"
    marked["citations"] = False
    assert langchain_oprag.format_documents(found, **marked) == "x0"
    assert llamaindex_oprag.format_nodes(ordered, **marked) == "x0"


@EVERYWHERE
def test_the_warning_points_at_the_users_code(component):
    with pytest.warns(PositionWarning) as caught:
        component(TEXTS, PROBLEMS["missing_position"], on_problem="warn")
    assert caught[0].filename.endswith("tests/parity/components.py")


@EVERYWHERE
def test_what_can_be_put_in_order_is_not_touched(component):
    metadatas = [{"source": "a", "start_index": i} for i in (90, 0, 40)]

    result = component(TEXTS, metadatas, on_problem="warn")
    assert result.texts == IN_ORDER
    assert all("problem" not in metadata for metadata in result.metadatas)


@EVERYWHERE
def test_one_document_with_a_problem_keeps_all_as_retrieved(component):
    texts = ["a2", "b2", "a1", "b1"]
    metadatas = [
        {"source": "a", "start_index": 9},
        {"source": "b"},
        {"source": "a", "start_index": 0},
        {"source": "b"},
    ]

    with pytest.warns(PositionWarning):
        result = component(texts, metadatas, on_problem="warn")
    assert result.texts == texts


@EVERYWHERE
def test_what_cannot_be_proved_is_a_problem_too(component):
    with pytest.warns(PositionWarning, match="more than once"):
        result = component(
            ["snow", "rain"],
            [{"source": "a"}] * 2,
            missing_position="locate",
            documents={"a": "rain snow rain"},
            on_problem="warn",
        )
    assert result.texts == ["snow", "rain"]


@EVERYWHERE
def test_a_budget_an_option_and_a_document_are_no_problems_of_order(component):
    metadatas = PROBLEMS["missing_position"]
    with pytest.raises(BudgetTooSmallError):
        component(
            TEXTS, metadatas, on_problem="warn", token_budget=1, token_counter=words
        )
    with pytest.raises(InvalidOptionError):
        component(TEXTS, metadatas, on_problem="warn", document_order="year")

    def damaged(name):
        raise InconsistentChunksError("damaged", document=name, chunks=())

    sound = [{"source": "a", "start_index": i} for i in (90, 0, 19)]
    with pytest.raises(InconsistentChunksError):
        component(TEXTS, sound, on_problem="warn", merge=True, documents=damaged)


@EVERYWHERE
@pytest.mark.parametrize("merge", [False, True])
def test_a_position_that_a_text_in_memory_denies_is_an_error(component, merge):
    metadatas = [{"source": "a", "start_index": i} for i in (60, 0, 20)]
    options = {"merge": merge, "documents": {"a": TEXT}}
    with pytest.raises(InvalidSpanError, match="where the text differs"):
        component([TEXTS[1], "A", "B"], metadatas, **options)
    with pytest.warns(PositionWarning, match="invalid_span"):
        result = component(["A", "B"], metadatas[1:], on_problem="warn", **options)
    assert not any("char_start" in metadata for metadata in result.metadatas)


@EVERYWHERE
def test_a_text_that_has_to_be_fetched_is_not_where_no_option_uses_it(component):
    def fetched(name):
        raise AssertionError(name)

    metadatas = [{"source": "a", "start_index": i} for i in (60, 0, 20)]
    assert component(TEXTS, metadatas, documents=fetched).texts == IN_ORDER


@EVERYWHERE
def test_a_position_that_the_text_denies_is_a_problem_of_order(component):
    metadatas = [{"source": "a", "start_index": i} for i in (60, 0, 19)]
    options = {"merge": True, "max_gap": 30, "documents": {"a": TEXT}}
    with pytest.warns(PositionWarning, match="invalid_span"):
        result = component(TEXTS, metadatas, on_problem="warn", **options)
    assert result.texts == TEXTS


@pytest.mark.parametrize(
    "retrieve",
    [
        lambda **options: (
            langchain_retriever(TEXTS, PROBLEMS["missing_position"], **options).invoke
        ),
        lambda **options: (
            llamaindex_retriever(
                TEXTS, PROBLEMS["missing_position"], **options
            ).retrieve
        ),
    ],
    ids=["langchain", "llamaindex"],
)
def test_one_warning_a_component_and_a_line_in_the_log_a_question(retrieve, caplog):
    ask = retrieve(on_problem="warn")
    with (
        caplog.at_level(logging.INFO, "oprag"),
        warnings.catch_warnings(record=True) as caught,
    ):
        warnings.simplefilter("always")
        ask("one?")
        ask("another?")
    assert [w.category for w in caught] == [PositionWarning]
    assert len([r for r in caplog.records if r.name == "oprag"]) == 2


def test_a_node_does_not_show_its_problem_to_the_model():
    found = nodes(TEXTS, PROBLEMS["missing_position"])
    postprocessor = llamaindex_oprag.OrderPreservingPostprocessor(on_problem="warn")
    with pytest.warns(PositionWarning):
        result = postprocessor.postprocess_nodes(found)
    assert all("problem" not in node.get_content("llm") for node in result)
    assert [n.node.node_id for n in result] == [n.node.node_id for n in found]
    assert all("problem" not in node.node.metadata for node in found)


def test_results_keep_their_ids_and_all_metadata():
    given = documents(TEXTS, [{"source": "a", "token_count": 3}] * 3)
    for number, document in enumerate(given):
        document.id = str(number)
    compressor = langchain_oprag.OrderPreservingCompressor(on_problem="warn")
    with pytest.warns(PositionWarning):
        result = compressor(given)
    assert [d.id for d in result] == ["0", "1", "2"]
    place = {"rank": 0, "citation": "a", "problem": "missing_position"}
    assert result[0].metadata == {**given[0].metadata, **place}


@pytest.mark.parametrize("way", list(COMPONENTS)[1:])
def test_scores_fall_in_the_order_as_retrieved(way):
    with pytest.warns(PositionWarning):
        result = COMPONENTS[way](
            TEXTS, PROBLEMS["missing_position"], on_problem="warn", rescore="mine"
        )
    assert [m["mine"] for m in result.metadatas] == [1, 2 / 3, 1 / 3]


@EVERYWHERE
def test_what_came_twice_is_one_as_far_as_that_can_be_told(component):
    metadatas = [{"source": "a"}, {"source": "a"}, {"source": "a"}]
    with pytest.warns(PositionWarning):
        result = component(["one", "two", "one"], metadatas, on_problem="warn")
    assert result.texts == ["one", "two"]


# Self-Route


REPLIES = ("It rained.",)


def chain(metadatas, **options):
    base = langchain_retriever(TEXTS, metadatas, missing_position="rank")
    return langchain_oprag.SelfRouteChain(
        llm=RecordingChatModel(replies=[AIMessage(reply) for reply in REPLIES]),
        retriever=base.base_retriever,
        token_counter=words,
        **options,
    )


def engine(metadatas, **options):
    base = llamaindex_retriever(TEXTS, metadatas, missing_position="rank")
    return llamaindex_oprag.SelfRouteQueryEngine.from_args(
        base.base_retriever,
        llm=RecordingLLM(replies=list(REPLIES)),
        token_counter=words,
        **options,
    )


def asked_chain(metadatas, **options):
    context = chain(metadatas, **options).invoke({"input": "?"})["context"]
    return [d.page_content for d in context], [d.metadata for d in context]


def aasked_chain(metadatas, **options):
    made = chain(metadatas, **options)
    context = asyncio.run(made.ainvoke({"input": "?"}))["context"]
    return [d.page_content for d in context], [d.metadata for d in context]


def asked_engine(metadatas, **options):
    found = engine(metadatas, **options).query("?").source_nodes
    return [n.node.text for n in found], [n.node.metadata for n in found]


def aasked_engine(metadatas, **options):
    made = engine(metadatas, **options)
    found = asyncio.run(made.aquery("?")).source_nodes
    return [n.node.text for n in found], [n.node.metadata for n in found]


ASKED = pytest.mark.parametrize(
    "ask", [asked_chain, aasked_chain, asked_engine, aasked_engine]
)


@ASKED
def test_self_route_finds_chunks_in_their_full_texts(ask):
    texts, _ = ask(
        stored("all zero"), missing_position="locate", documents={"a.txt": TEXT}
    )
    assert texts == IN_ORDER


@ASKED
def test_self_route_finds_chunks_on_their_pages(ask):
    texts = [TEXTS[0], f"{TEXTS[1]} {TEXTS[0]}", TEXTS[2]]
    given = [{"source": "a.txt", "page": n} for n in range(3)]
    langchain = ask in (asked_chain, aasked_chain)
    full = documents(texts, given) if langchain else llama_documents(texts, given)

    pages = [{"source": "a.txt", "page": n} for n in (1, 1, 2)]
    found, _ = ask(pages, missing_position="locate", documents=full)
    assert found == [TEXTS[1], TEXTS[0], TEXTS[2]]


@pytest.mark.parametrize("ask", [aasked_chain, aasked_engine])
def test_self_route_awaits_the_texts(ask):
    async def text(name):
        return TEXT if name == "a.txt" else None

    texts, _ = ask(stored("all zero"), missing_position="locate", documents=text)
    assert texts == IN_ORDER


@ASKED
@pytest.mark.parametrize("order", ["document", "score"])
def test_self_route_tells_a_problem_and_answers(ask, order):
    with pytest.warns(PositionWarning, match="SelfRoute.*missing_position"):
        texts, metadatas = ask(
            PROBLEMS["missing_position"],
            on_problem="warn",
            order=order,
            documents={"a": TEXT},
        )
    assert texts == TEXTS
    assert [m["problem"] for m in metadatas] == ["missing_position"] * 3


@ASKED
def test_self_route_reads_no_document_that_has_no_name(ask):
    with pytest.raises(MissingDocumentError):
        ask([{}] * 3, on_problem="warn", documents={"a": TEXT}, rungs=["full"])
