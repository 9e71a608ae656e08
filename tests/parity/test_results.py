"""What results hold, and their text: the same in both frameworks and plain Python."""

from __future__ import annotations

import copy
import json
import warnings
from typing import Any

import pytest
from langchain_core.documents import Document
from langchain_core.load import dumpd, load
from llama_index.core.schema import MetadataMode, NodeWithScore, TextNode

import langchain_oprag as in_langchain
import llamaindex_oprag as in_llamaindex
from oprag import order_context, render
from oprag.errors import BudgetTooSmallError, InvalidOptionError, OpragError
from oprag.metadata import RESULT_KEYS
from oprag.tokens import resolve_token_counter
from tests.effort import cases as scaled
from tests.laws.generated_contexts import Case, cases
from tests.parity.components import COMPONENTS

COUNT = resolve_token_counter("cl100k_base")
MARKS = ("[…]", "", None, "…")


def documents_of(case: Case) -> list[Document]:
    return [
        Document(text, metadata={**metadata, "score": score}, id=str(number))
        for number, (text, metadata, score) in enumerate(
            zip(case.texts, case.metadatas, case.scores, strict=True)
        )
    ]


def nodes_of(case: Case) -> list[NodeWithScore]:
    return [
        NodeWithScore(
            node=TextNode(
                text=text,
                id_=str(number),
                metadata=metadata,
                excluded_llm_metadata_keys=[] if case.shown else [*metadata],
            ),
            score=score,
        )
        for number, (text, metadata, score) in enumerate(
            zip(case.texts, case.metadatas, case.scores, strict=True)
        )
    ]


def in_both(case: Case, **more: Any) -> tuple[list[Document], list[NodeWithScore]]:
    """What each framework hands out; nothing for a case that is an error."""
    found, nodes = documents_of(case), nodes_of(case)
    before = copy.deepcopy((found, nodes))
    options = {**case.options, **more}
    made = by_langchain(found, options), by_llamaindex(nodes, options)
    assert (found, nodes) == before
    return made


def by_langchain(found: list[Document], options: dict[str, Any]) -> list[Document]:
    compressor = in_langchain.OrderPreservingCompressor(**options)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return compressor.compress_documents(found, "?")
    except OpragError:
        return []


def by_llamaindex(
    found: list[NodeWithScore], options: dict[str, Any]
) -> list[NodeWithScore]:
    postprocessor = in_llamaindex.OrderPreservingPostprocessor(**options)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return postprocessor.postprocess_nodes(found)
    except OpragError:
        return []


def place_of(metadata: dict[str, Any]) -> list[tuple[str, Any]]:
    """The keys of a result in the order in which they stand."""
    return [(key, value) for key, value in metadata.items() if key in RESULT_KEYS]


def test_every_result_has_its_place_and_the_text_that_was_retrieved():
    # Budgets are left out: LlamaIndex counts what it shows besides.
    for case in cases(scaled(600)):
        made, nodes = in_both(case, token_budget=None, selection="budget")
        assert [place_of(d.metadata) for d in made] == [
            place_of(n.node.metadata) for n in nodes
        ]
        assert [d.page_content for d in made] == [n.node.text for n in nodes]
        own = dict(zip(map(str, range(99)), case.texts, strict=False))
        for document, node in zip(made, nodes, strict=True):
            assert_placed(document.metadata)
            assert document.id is not None
            assert own.get(document.id, document.page_content) == document.page_content
            for mode in (MetadataMode.LLM, MetadataMode.EMBED):
                shown = node.node.get_content(mode)
                assert not any(f"{key}: " in shown for key in RESULT_KEYS)


def assert_placed(metadata: dict[str, Any]) -> None:
    place = place_of(metadata)
    keys = [key for key, _ in place]
    assert type(metadata["rank"]) is int
    assert metadata["rank"] >= 0
    assert isinstance(metadata["citation"], str)
    # One fixed order, behind all that was retrieved (part_index can stand there too).
    named = [key for key in keys if key != "part_index"]
    assert named == [key for key in RESULT_KEYS if key in metadata and key in named]
    assert ("char_start" in metadata) == ("char_end" in metadata)
    assert None not in metadata.values() or metadata.get("token_count", 0) is None


def test_where_the_characters_are_known_the_text_is_their_slice():
    for case in cases(scaled(600)):
        sources = case.options.get("documents")
        made, _ = in_both(case, token_budget=None, selection="budget", merge=True)
        for document in made if sources else ():
            metadata = document.metadata
            if "char_start" not in metadata or metadata.get("exact") is False:
                continue
            if metadata.get("part_index") is not None:
                continue
            name = metadata.get("doc_uri") or metadata["source"]
            start, end = metadata["char_start"], metadata["char_end"]
            if "position_keys" not in case.options:
                assert sources[name][start:end] == document.page_content


@pytest.mark.slow
def test_what_was_reserved_is_never_exceeded():
    written = 0
    for number, case in enumerate(cases(scaled(10_000), seed=16)):
        marks = {"citations": number % 4 != 3, "gap_mark": MARKS[number % 5 % 4]}
        budget = case.options.get("token_budget", 25 + 13 * (number % 40))
        options = {**case.options, **marks, "token_budget": budget}
        marks["separator"] = case.options.get("separator", "\n\n")
        if number % 2:
            made = by_langchain(documents_of(case), options)
            text = in_langchain.format_documents(made, **marks)
        else:
            nodes = by_llamaindex(nodes_of(case), options)
            text = in_llamaindex.format_nodes(nodes, **marks)
        assert COUNT(text) <= budget, number
        written += bool(text)
    assert written > scaled(10_000) // 3


def test_asked_for_more_than_was_reserved_the_budget_still_holds():
    for number, case in enumerate(cases(scaled(300), seed=17)):
        made, nodes = in_both(case, token_budget=None, selection="budget")
        budget = 30 + number % 200
        for write, results in (
            (in_langchain.format_documents, made),
            (in_llamaindex.format_nodes, nodes),
        ):
            try:
                text = write(results, token_budget=budget, token_counter="cl100k_base")
            except BudgetTooSmallError:
                assert COUNT(write(results)) > budget
                continue
            assert COUNT(text) <= budget
            assert bool(text) == bool(results)


def test_the_best_passages_are_kept_for_a_budget_and_stay_in_order():
    texts = [f"{word} word" for word in ("late", "early", "middle")]
    metadatas = [{"source": "a", "start_index": start} for start in (90, 0, 40)]
    passages = order_context(texts, metadatas)

    text = render(passages, token_budget=21, token_counter=len)

    assert text == "early word\n\nlate word"
    with pytest.raises(BudgetTooSmallError):
        render(passages, token_budget=8, token_counter=len)
    assert render([], token_budget=1, token_counter=len) == ""


def test_the_text_is_the_same_bytes_from_both_and_from_render():
    for case in cases(scaled(600)):
        made, nodes = in_both(case, token_budget=None, selection="budget")
        options = {**case.options, "token_budget": None, "selection": "budget"}
        try:
            passages = order_context(case.texts, case.metadatas, case.scores, **options)
        except OpragError:
            passages = []
        for marks in ({}, {"citations": False}, {"gap_mark": None}):
            given = {"citations": True, "gap_mark": "[…]", **marks}
            text = render(passages, **given)
            assert in_langchain.format_documents(made, **marks) == text
            assert in_llamaindex.format_nodes(nodes, **marks) == text
            # And as a checkpointer gives them back.
            plain = [json.loads(json.dumps(_plain(document))) for document in made]
            assert in_langchain.format_documents(plain, **marks) == text


def _plain(document: Document) -> dict[str, Any]:
    """As LangGraph's checkpointers write it; numpy's numbers are none of JSON."""
    written = document.model_dump()
    written["metadata"] = {
        key: value if isinstance(value, str | int | float | list | None) else str(value)
        for key, value in written["metadata"].items()
    }
    return written


def test_results_become_passages_and_the_same_results_again():
    for case in cases(scaled(600)):
        made, nodes = in_both(case)
        passages = in_langchain.as_passages(made)
        again = in_langchain.as_documents(passages)
        assert again == made
        assert [[*d.metadata] for d in again] == [[*d.metadata] for d in made]
        assert in_langchain.as_passages(again) == passages
        passages = in_llamaindex.as_passages(nodes)
        assert in_llamaindex.as_nodes(passages) == nodes


def test_passages_become_results_and_the_same_passages_again():
    for case in cases(scaled(600)):
        try:
            passages = order_context(
                case.texts, case.metadatas, case.scores, **case.options
            )
        except OpragError:
            continue
        documents = in_langchain.as_documents(passages)
        nodes = in_llamaindex.as_nodes(passages)
        assert in_langchain.as_passages(documents) == passages
        assert in_llamaindex.as_passages(nodes) == passages
        assert [d.metadata for d in documents] == [n.node.metadata for n in nodes]
        keys = [p.document for p in in_langchain.as_passages(documents)]
        assert keys == [passage.document for passage in passages]


def test_other_documents_are_read_where_they_can_be_and_keep_the_order_given():
    found = [
        Document("second", metadata={"source": "a.txt", "start_index": 20}),
        Document("no place", metadata={"source": "b.txt"}),
        Document("first", metadata={"source": "a.txt", "start_index": 0}),
        Document("no name"),
    ]

    assert in_langchain.format_documents(found) == (
        "[1] a.txt, characters 20-26\nsecond\n\n"
        "[2] b.txt\nno place\n\n"
        "[3] a.txt, characters 0-5\nfirst\n\n"
        "[4] \nno name"
    )
    nodes = [TextNode(text=d.page_content, metadata=d.metadata) for d in found]
    assert in_llamaindex.format_nodes(nodes) == in_langchain.format_documents(found)
    ranks = [passage.rank for passage in in_langchain.as_passages(found)]
    assert ranks == [0, 1, 2, 3]


@pytest.mark.filterwarnings("ignore:.*load")
def test_documents_that_langchain_wrote_and_read_are_the_same():
    case = next(each for each in cases(99) if each.metadatas[0].get("year") == "9")
    made, _ = in_both(case, token_budget=None, selection="budget")

    again = [load(dumpd(document), allowed_objects="core") for document in made]

    assert in_langchain.as_passages(again) == in_langchain.as_passages(made)


@pytest.mark.parametrize("given", ["text", Document("text"), [1], ["text"], [{}]])
def test_what_is_no_list_of_documents_is_said(given):
    with pytest.raises(InvalidOptionError, match=r"documents (is|holds) .*retriever"):
        in_langchain.format_documents(given)


@pytest.mark.parametrize("given", ["text", TextNode(text="text"), [1], ["text"], [{}]])
def test_what_is_no_list_of_nodes_is_said(given):
    with pytest.raises(InvalidOptionError, match=r"nodes (is|holds) .*retriever"):
        in_llamaindex.format_nodes(given)


def test_what_an_application_kept_under_our_names_is_kept():
    metadata = {"source": "a", "start_index": 3, "citation": "Roe v. Wade", "rank": 9.5}

    (made,) = in_langchain.OrderPreservingCompressor()(
        [Document("t", metadata=metadata)]
    )

    assert made.metadata == {
        "source": "a",
        "start_index": 3,
        "original_rank": 9.5,
        "original_citation": "Roe v. Wade",
        "rank": 0,
        "citation": "a, characters 3-4",
        "char_start": 3,
        "char_end": 4,
    }


def test_a_component_behind_another_keeps_the_ranks_that_were_retrieved():
    found = [
        Document(text, metadata={"source": "a", "start_index": start})
        for text, start in (("best", 90), ("worst", 0), ("middle", 40))
    ]
    once = in_langchain.OrderPreservingCompressor()(found)

    twice = in_langchain.OrderPreservingCompressor()(once)
    reranked = in_langchain.OrderPreservingCompressor()(once[::-1])

    assert [d.metadata["rank"] for d in once] == [1, 2, 0]
    assert twice == once
    assert [d.metadata["rank"] for d in reranked] == [2, 1, 0]


@pytest.mark.parametrize("key", ["rank", "citation", "char_start"])
def test_scores_cannot_be_written_over_a_place(key):
    with pytest.raises(ValueError, match=f"rescore='{key}'|rescore"):
        in_langchain.OrderPreservingCompressor(rescore=key)
    with pytest.raises(ValueError, match="rescore"):
        in_llamaindex.OrderPreservingPostprocessor(rescore=key)


FOUND = [("best", 90), ("worst", 20), ("good", 40), ("bad", 0), ("fair", 60)]
PLACED = sorted(set(COMPONENTS) - {"order_context"})


def _ranks(result):
    return [metadata["rank"] for metadata in result.metadatas]


@pytest.mark.parametrize("second", PLACED)
@pytest.mark.parametrize("first", ["compressor", "postprocessor"])
def test_the_best_are_kept_behind_a_component_that_only_orders(first, second):
    texts = [text for text, _ in FOUND]
    metadatas = [{"source": "a", "start_index": start} for _, start in FOUND]
    options = {"token_budget": 12, "token_counter": len}
    ordered = COMPONENTS[first](texts, metadatas)
    filtered = [pair for pair in zip(*ordered, strict=True) if pair[0] != "best"]
    reranked = zip(*ordered, strict=True)

    behind = COMPONENTS[second](*ordered, **options)
    behind_a_filter = COMPONENTS[second](*zip(*filtered, strict=True), **options)
    behind_a_reranker = COMPONENTS[second](
        *zip(*sorted(reranked, reverse=True), strict=True), **options
    )

    assert behind == COMPONENTS[second](texts, metadatas, **options)
    assert (ordered.texts[:2], _ranks(ordered)) == (["bad", "worst"], [3, 1, 2, 4, 0])
    assert (behind_a_filter.texts, _ranks(behind_a_filter)) == (
        ["worst", "good"],
        [1, 2],
    )
    kept = behind_a_reranker.texts, _ranks(behind_a_reranker)
    assert kept == (["worst", "good"], [0, 1])


@pytest.mark.filterwarnings("ignore::oprag.errors.UnfilledBudgetWarning")
@pytest.mark.parametrize("component", PLACED)
@pytest.mark.parametrize("selection", ["budget", "segments", "expand", "recall"])
def test_sorted_by_rank_results_stand_as_retrieved(component, selection):
    # As docs/evidence.md says of measures that look at the place in the list.
    texts = [text for text, _ in FOUND]
    metadatas = [{"source": "a", "start_index": start} for _, start in FOUND]

    found = COMPONENTS[component](
        texts, metadatas, selection=selection, token_budget=99, token_counter=len
    )

    ranked = sorted(zip(_ranks(found), found.texts, strict=True))
    assert found.texts == ["bad", "worst", "good", "fair", "best"]
    assert ranked == list(enumerate(texts))
