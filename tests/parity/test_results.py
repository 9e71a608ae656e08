"""Results and their text: the same in both frameworks and plain Python."""

import copy
import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from langchain_core.documents import Document
from llama_index.core.schema import MetadataMode, NodeWithScore

import langchain_oprag as in_langchain
import llamaindex_oprag as in_llamaindex
import oprag
from oprag import order_context, render
from oprag.errors import OpragError
from oprag.metadata import RESULT_KEYS, drop_reserved_keys, text_hash
from oprag.result_key import encode_place, read_written
from oprag.tokens import resolve_token_counter
from tests.kit.effort import cases as scaled
from tests.langchain.corpus import ListRetriever
from tests.laws import generated_contexts
from tests.laws.generated_contexts import Case, documents_of, nodes_of
from tests.llamaindex.components import Retrieved

pytestmark = pytest.mark.filterwarnings("ignore::oprag.errors.OpragWarning")
COUNT = resolve_token_counter("cl100k_base")


def cases(count: int, seed: int = 14) -> Iterator[Case]:
    """Generated cases, as users spell them: without what only the record needs."""
    for case in generated_contexts.cases(count, seed):
        of_parts = any("part_index" in metadata for metadata in case.metadatas)
        located = of_parts and "documents" in case.options
        if "on_problem" not in case.options and not located:
            yield case


def in_both(case: Case, **more: Any) -> tuple[list[Document], list[NodeWithScore]]:
    """The objects of each framework; nothing for a case that is an error."""
    found, nodes = documents_of(case), nodes_of(case)
    before = copy.deepcopy((found, nodes))
    options = {**case.options, **more}
    made = by_langchain(found, options), by_llamaindex(nodes, options)
    assert (found, nodes) == before
    return made


def by_langchain(found: list[Document], options: dict[str, Any]) -> list[Document]:
    compressor = in_langchain.OrderPreservingCompressor(**options)
    try:
        return compressor.compress_documents(found, "?")
    except OpragError:
        return []


def by_llamaindex(
    found: list[NodeWithScore], options: dict[str, Any]
) -> list[NodeWithScore]:
    postprocessor = in_llamaindex.OrderPreservingPostprocessor(**options)
    try:
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
            assert_placed(document.metadata, document.page_content)
            assert document.id is not None
            assert own.get(document.id, document.page_content) == document.page_content
            for mode in (MetadataMode.LLM, MetadataMode.EMBED):
                shown = node.node.get_content(mode)
                assert not any(f"\n{key}: " in f"\n{shown}" for key in RESULT_KEYS)


def assert_placed(metadata: dict[str, Any], text: str) -> None:
    place = dict(place_of(metadata))
    # One fixed order, behind all that was retrieved.
    assert [*place] == [key for key in RESULT_KEYS if key in metadata]
    assert [*metadata][-len(place) :] == [*place]
    assert {*map(type, place.values())} == {str}
    written = read_written(metadata)
    assert written.rank >= 0
    assert written.text_hash == text_hash(text)
    assert encode_place(written) == place["oprag"]


@pytest.mark.slow
def test_what_was_reserved_is_never_exceeded():
    written = 0
    for number, case in enumerate(cases(scaled(600), seed=16)):
        marks = {"citations": number % 4 < 2}
        budget = case.options.get("token_budget", 25 + 13 * (number % 40))
        options = {**case.options, **marks, "token_budget": budget}
        around = {"citations": number % 3 == 0}
        if not marks["citations"]:
            marks = {}  # what nobody left room for is not written unasked
        marks["separator"] = case.options.get("separator", "\n\n")
        if number % 2:
            made = by_langchain(by_langchain(documents_of(case), options), around)
            text = in_langchain.format_documents(made, **marks)
        else:
            nodes = by_llamaindex(by_llamaindex(nodes_of(case), options), around)
            text = in_llamaindex.format_nodes(nodes, **marks)
        assert COUNT(text) <= budget, number
        written += bool(text)
    assert written > scaled(600) // 3


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


def test_the_tools_of_both_answer_the_same_bytes_or_the_same_error():
    kinds = set()
    for case in cases(scaled(300)):
        options = {"top_n": None, **case.options}
        k, found, nodes = options.pop("top_n"), documents_of(case), nodes_of(case)
        one = in_langchain.OrderPreservingRetriever(
            base_retriever=ListRetriever(documents=found), k=k, **options
        )
        other = in_llamaindex.OrderPreservingRetriever(
            Retrieved(nodes), similarity_top_k=k, **options
        )
        tool = in_langchain.create_retrieval_tool(one)
        same = in_llamaindex.OrderPreservingRetrieverTool.from_defaults(other)
        answer = answer_or_error(tool.invoke, {"query": "?"})
        assert answer == answer_or_error(same.call, "?")
        kinds.add(type(answer))
    assert {str, type} <= kinds


def answer_or_error(ask: Callable[[Any], object], given: Any) -> str | type:
    try:
        return str(ask(given))
    except OpragError as error:
        return type(error)


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
        keys = [p.document_key for p in in_langchain.as_passages(documents)]
        assert keys == [passage.document_key for passage in passages]


OWN = {"rank": 3, "citation": "Roe v. Wade", "exact": True, "problem": "leak"}


@pytest.mark.parametrize(
    ("place", "citation"),
    [
        ({"start_index": 3}, "a.txt, characters 3-4"),
        ({"chunk_index": 7}, "a.txt, chunk 7"),
        ({"page": 0}, "a.txt, page 1"),
        ({"char_start": 3, "char_end": 4}, "a.txt, characters 3-4"),
        ({"start_index": 3, "char_start": "12:00"}, "a.txt, characters 3-4"),
        ({}, "a.txt"),
    ],
)
def test_what_an_application_keeps_survives_every_component(place, citation):
    metadata = {"source": "a.txt", **place, **OWN}
    component = in_langchain.OrderPreservingCompressor()

    (once,) = component([Document("t", metadata=dict(metadata))])
    (twice,) = component([once])
    (read,) = in_langchain.as_documents(in_langchain.as_passages([twice]))

    assert once == twice == read
    assert [*once.metadata] == [*twice.metadata] == [*read.metadata]
    assert drop_reserved_keys(once.metadata) == metadata
    assert oprag.place_of(once).citation == citation
    assert oprag.place_of(once).rank == 0
    plain = order_context(["t"], [metadata])
    assert in_langchain.as_documents(plain)[0].metadata == once.metadata
