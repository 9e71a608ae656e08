"""What results hold, and their text: the same in both frameworks and plain Python."""

from __future__ import annotations

import copy
import json
import warnings
from collections.abc import Iterator
from typing import Any

import pytest
from langchain_core.documents import Document
from langchain_core.load import dumpd, load
from llama_index.core.schema import (
    MetadataMode,
    NodeRelationship,
    NodeWithScore,
    RelatedNodeInfo,
    TextNode,
)

import langchain_oprag as in_langchain
import llamaindex_oprag as in_llamaindex
from oprag import order_context, render
from oprag.errors import (
    BudgetTooSmallError,
    InvalidOptionError,
    OpragError,
    PositionWarning,
)
from oprag.metadata import RESULT_KEYS
from oprag.tokens import resolve_token_counter
from tests.effort import cases as scaled
from tests.laws import generated_contexts
from tests.laws.generated_contexts import Case
from tests.parity.components import COMPONENTS

COUNT = resolve_token_counter("cl100k_base")
ADDED = [key for key in RESULT_KEYS if key != "part_index"]
"""A `part_index` that was retrieved is kept, and shown as it was."""


def cases(count: int, seed: int = 14) -> Iterator[Case]:
    """Generated cases, as users spell them: without what only the record needs."""
    for case in generated_contexts.cases(count, seed):
        of_parts = any("part_index" in metadata for metadata in case.metadatas)
        located = of_parts and "documents" in case.options
        if "on_problem" not in case.options and not located:
            yield case


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
    for case in cases(scaled(300)):
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
                assert not any(f"\n{key}: " in f"\n{shown}" for key in ADDED)


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
    for case in cases(scaled(300)):
        sources = case.options.get("documents")
        made, _ = in_both(case, token_budget=None, selection="budget", merge=True)
        for document in made if sources else ():
            metadata = document.metadata
            if "char_start" not in metadata or metadata.get("exact") is False:
                continue
            if metadata.get("part_index") is not None:
                continue
            own = metadata.get("doc_uri") or metadata.get("source")
            name = own or metadata["doc_id"]
            start, end = metadata["char_start"], metadata["char_end"]
            if "position_keys" not in case.options:
                assert sources[name][start:end] == document.page_content


@pytest.mark.slow
def test_what_was_reserved_is_never_exceeded():
    written = 0
    for number, case in enumerate(cases(scaled(3_000), seed=16)):
        marks = {"citations": number % 4 != 3}
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
    assert written > scaled(3_000) // 3


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
    for case in cases(scaled(300)):
        made, nodes = in_both(case, token_budget=None, selection="budget")
        options = {**case.options, "token_budget": None, "selection": "budget"}
        try:
            passages = order_context(case.texts, case.metadatas, case.scores, **options)
        except OpragError:
            passages = []
        for marks in ({}, {"citations": False}):
            given = {"citations": True, **marks}
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
    for case in cases(scaled(300)):
        made, nodes = in_both(case)
        passages = in_langchain.as_passages(made)
        again = in_langchain.as_documents(passages)
        assert again == made
        assert [[*d.metadata] for d in again] == [[*d.metadata] for d in made]
        assert in_langchain.as_passages(again) == passages
        passages = in_llamaindex.as_passages(nodes)
        assert in_llamaindex.as_nodes(passages) == nodes


def test_passages_become_results_and_the_same_passages_again():
    for case in cases(scaled(300)):
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
        "[4] unknown document\nno name"
    )
    nodes = [TextNode(text=d.page_content, metadata=d.metadata) for d in found]
    assert in_llamaindex.format_nodes(nodes) == in_langchain.format_documents(found)
    ranks = [passage.rank for passage in in_langchain.as_passages(found)]
    assert ranks == [0, 1, 2, 3]


def test_no_gap_is_marked_between_texts_that_name_no_document():
    texts = ["one", "two"]
    documents = [Document(text) for text in texts]
    nodes = [TextNode(text=text) for text in texts]
    of_a = [Document(d.page_content, metadata={"source": "a"}) for d in documents]

    written = [
        in_langchain.format_documents(documents),
        in_llamaindex.format_nodes(nodes),
    ]

    assert all("[…]" not in text for text in written)
    assert "one\n\n[…]\n\n[2] a" in in_langchain.format_documents(of_a)


@pytest.mark.filterwarnings("ignore:.*load")
def test_documents_that_langchain_wrote_and_read_are_the_same():
    case = next(each for each in cases(99) if "char_start" in each.metadatas[0])
    made, _ = in_both(case, token_budget=None, selection="budget")

    again = [load(dumpd(document), allowed_objects="core") for document in made]

    assert in_langchain.as_passages(again) == in_langchain.as_passages(made)


@pytest.mark.parametrize("given", ["text", Document("text"), [1], ["text"], [{}]])
def test_what_is_no_list_of_documents_is_said(given):
    with pytest.raises(InvalidOptionError, match=r"documents.* is .*takes a list"):
        in_langchain.format_documents(given)


@pytest.mark.parametrize("given", ["text", TextNode(text="text"), [1], ["text"], [{}]])
def test_what_is_no_list_of_nodes_is_said(given):
    with pytest.raises(InvalidOptionError, match=r"nodes.* is .*takes a list"):
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


@pytest.mark.parametrize(
    "own",
    [
        {"char_start": "12:00", "char_end": "13:00"},
        {"char_start": "12:00"},
        {"char_start": 12.5, "char_end": 14},
        {"part_index": "II"},
    ],
)
def test_what_is_no_number_is_kept_where_a_place_is_written(own):
    page = {"page": 4} if "part_index" in own else {}
    metadata = {"source": "a", "start_index": 3, **page, **own}
    component = in_langchain.OrderPreservingCompressor()

    (made,) = component([Document("one two", metadata=metadata)])
    assert (made.metadata["char_start"], made.metadata["char_end"]) == (3, 10)
    assert {f"original_{key}": value for key, value in own.items()}.items() <= (
        made.metadata.items()
    )
    assert component([made]) == [made]

    node = NodeWithScore(node=TextNode(text="one two", metadata=metadata))
    (in_node,) = by_llamaindex([node], {})
    assert in_node.node.metadata == made.metadata
    seen = in_node.node.get_content(MetadataMode.LLM)
    assert all(f"original_{key}: {value}" in seen for key, value in own.items())
    needed = {"token_budget": COUNT(seen)}
    assert by_llamaindex([node], needed) == [in_node]
    assert by_llamaindex([node], {"token_budget": COUNT(seen) - 1}) == []


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
@pytest.mark.parametrize("selection", ["budget", "recall"])
def test_sorted_by_rank_results_stand_as_retrieved(component, selection):
    # As docs/evidence.md says of measures that look at the place in the list.
    texts = [text for text, _ in FOUND]
    metadatas = [{"source": "a", "start_index": start} for _, start in FOUND]

    found = COMPONENTS[component](
        texts,
        metadatas,
        selection=selection,
        merge=False,
        token_budget=99,
        token_counter=len,
    )

    ranked = sorted(zip(_ranks(found), found.texts, strict=True))
    assert found.texts == ["bad", "worst", "good", "fair", "best"]
    assert ranked == list(enumerate(texts))


OWN = {"rank": 3, "citation": "Roe v. Wade", "exact": True, "problem": "leak"}


@pytest.mark.parametrize(
    ("place", "citation"),
    [
        ({"start_index": 3}, "a.txt, characters 3-4"),
        ({"chunk_index": 7}, "a.txt, chunk 7"),
        ({"page": 0}, "a.txt, page 1"),
        ({"char_start": 3, "char_end": 4}, "a.txt, characters 3-4"),
        ({}, "a.txt"),
    ],
)
@pytest.mark.parametrize("own", [OWN, {"rank": 3, "citation": "a.txt, page 9999 f."}])
def test_what_an_application_keeps_survives_every_component(place, citation, own):
    metadata = {"source": "a.txt", **place, **own}
    component = in_langchain.OrderPreservingCompressor()

    (once,) = component([Document("t", metadata=dict(metadata))])
    (twice,) = component([once])
    (read,) = in_langchain.as_documents(in_langchain.as_passages([twice]))

    kept = {f"original_{key}": own[key] for key in own if key != "problem"}
    assert once == twice == read
    assert [*once.metadata] == [*twice.metadata] == [*read.metadata]
    assert kept.items() <= once.metadata.items()
    assert once.metadata["citation"] == citation
    assert once.metadata["rank"] == 0
    assert once.metadata.get("problem") == own.get("problem")
    plain = order_context(["t"], [metadata])
    assert in_langchain.as_documents(plain)[0].metadata == once.metadata


def test_a_place_is_known_again_whatever_names_the_document():
    nodes = [
        NodeWithScore(
            node=TextNode(
                text=text,
                relationships={
                    NodeRelationship.SOURCE: RelatedNodeInfo(node_id=f"{text}.txt")
                },
            )
        )
        for text in ("one", "two")
    ]
    component = in_llamaindex.OrderPreservingPostprocessor()

    once = component.postprocess_nodes(nodes)

    assert [each.node.metadata for each in once] == [
        {"rank": 0, "citation": "one.txt"},
        {"rank": 1, "citation": "two.txt"},
    ]
    assert component.postprocess_nodes(once) == once
    assert in_llamaindex.as_nodes(in_llamaindex.as_passages(once)) == once


def test_what_was_kept_aside_before_is_not_lost():
    metadata = {"source": "a", "original_rank": "first", "rank": "second"}

    (made,) = in_langchain.OrderPreservingCompressor()(
        [Document("t", metadata=metadata)]
    )

    assert made.metadata["original_rank"] == "first"
    assert made.metadata["original_original_rank"] == "second"
    assert made.metadata["rank"] == 0


PROBLEMATIC = {"source": "a", "color": "red"}


@pytest.mark.filterwarnings("ignore::oprag.errors.PositionWarning")
@pytest.mark.parametrize("own", [{}, {"problem": "leak"}])
def test_a_problem_stands_in_its_place_and_keeps_the_users(own):
    metadatas = [{**PROBLEMATIC, **own} for _ in "ab"]
    found = [Document(t, metadata=m) for t, m in zip("ab", metadatas, strict=True)]
    nodes = [
        NodeWithScore(node=TextNode(text=d.page_content, metadata=d.metadata))
        for d in found
    ]
    warning = {"on_problem": "warn"}
    passages = order_context(["a", "b"], metadatas, **warning)
    component = in_langchain.OrderPreservingCompressor(**warning)
    kept = {f"original_{key}": value for key, value in own.items()}
    expected = [
        {
            **PROBLEMATIC,
            **kept,
            "rank": rank,
            "citation": "a",
            "problem": "missing_position",
        }
        for rank in range(2)
    ]

    made = component(found)
    in_nodes = by_llamaindex(nodes, warning)

    of_each = [
        [d.metadata for d in made],
        [d.metadata for d in component(made)],
        [d.metadata for d in in_langchain.as_documents(passages)],
        [d.metadata for d in in_langchain.as_documents(in_langchain.as_passages(made))],
        [n.node.metadata for n in in_nodes],
    ]
    for metadatas in of_each:
        assert metadatas == expected
        assert [*metadatas[0]] == [*expected[0]]
    for chunk in (passage.chunks[0] for passage in passages):
        assert chunk.metadata == {**PROBLEMATIC, **kept, "problem": "missing_position"}


SHOWN = {"color": "red", "rank": 9.5, "citation": "Roe", "exact": "yes", "problem": "x"}


@pytest.mark.filterwarnings("ignore::oprag.errors.PositionWarning")
@pytest.mark.parametrize("place", [{"start_index": 0}, {}])
@pytest.mark.parametrize("hidden", [[], ["rank"], ["citation", "problem"]])
def test_a_model_sees_what_it_saw_and_the_budget_counts_it(place, hidden):
    first = {"doc_key": "k", "char_start": 0, "char_end": 3} if place else {}
    nodes = [
        NodeWithScore(
            node=TextNode(
                text=text,
                metadata={"source": "a", **place, **first, **SHOWN},
                excluded_llm_metadata_keys=[*hidden, "char_start", "char_end"],
            )
        )
        for text in ("one", "two")
    ]
    if place:
        nodes = nodes[:1]
    options = {"on_problem": "warn"}

    for mode in (MetadataMode.LLM, MetadataMode.EMBED):
        for result in by_llamaindex(nodes, options):
            seen = [line.split(": ")[0] for line in shown_lines(result, mode)]
            off = hidden if mode == MetadataMode.LLM else []
            names = [key for key in SHOWN if key not in off]
            moved = [key.removeprefix("original_") for key in seen]
            assert sorted(key for key in moved if key in SHOWN) == sorted(names)
            assert not {"rank", "citation", "exact"} & {*seen}
    texts = [
        n.node.get_content(MetadataMode.LLM) for n in by_llamaindex(nodes, options)
    ]
    needed = COUNT("\n\n".join(texts))
    assert len(by_llamaindex(nodes, {**options, "token_budget": needed})) == len(nodes)
    assert len(by_llamaindex(nodes, {**options, "token_budget": needed - 1})) < len(
        nodes
    )


def shown_lines(result: NodeWithScore, mode: MetadataMode) -> list[str]:
    head, _, _ = result.node.get_content(mode).partition("\n\n")
    return head.split("\n")


def test_rescored_a_score_of_the_users_is_as_visible_as_it_was():
    for hidden in ([], ["relevance_score"]):
        node = TextNode(
            text="one",
            metadata={"source": "a", "relevance_score": 0.25},
            excluded_llm_metadata_keys=hidden,
        )

        (made,) = by_llamaindex(
            [NodeWithScore(node=node)], {"rescore": "relevance_score"}
        )

        seen = made.node.get_content(MetadataMode.LLM)
        assert ("original_relevance_score: 0.25" in seen) == (not hidden)
        assert "\nrelevance_score" not in seen
        budget = COUNT(seen)
        options = {"rescore": "relevance_score", "token_budget": budget}
        assert by_llamaindex([NodeWithScore(node=node)], options) == [made]


def test_a_text_without_a_name_and_a_place_is_said_to_be_of_an_unknown_document():
    with pytest.warns(PositionWarning):
        passages = order_context(["t"], [{}], on_problem="warn")
    (found,) = by_langchain([Document("t")], {"on_problem": "warn"})

    assert render(passages, citations=True) == "[1] unknown document\nt"
    assert found.metadata["citation"] == "unknown document"
