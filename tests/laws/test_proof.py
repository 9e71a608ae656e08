"""What is called exact is the slice, whatever a chunk's metadata say; in every way."""

import os
import random
import sys
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest
from langchain_core.documents import Document
from llama_index.core.schema import NodeWithScore, TextNode

import langchain_oprag
import llamaindex_oprag
from oprag import Passage, order_context, place_of
from oprag.errors import OpragError
from tests.kit.effort import cases
from tests.kit.false_starts import ForeignList, edited, foreign_list

MANY = int(os.environ.get("OPRAG_FOREIGN_LISTS", "0"))
"""How many lists to try; 0: as many as the profile has cases."""
OPTIONS: tuple[dict[str, Any], ...] = (
    {},
    {"merge": True},
    {"merge": True, "token_budget": 60, "selection": "recall"},
    {"position_keys": "start_index"},
)


def plainly(found: ForeignList, **options: Any) -> list[Passage]:
    return order_context(found.texts, found.metadatas, **options)


def documents_of(found: ForeignList) -> list[Document]:
    rows = zip(found.texts, found.metadatas, strict=True)
    return [Document(text, metadata=metadata) for text, metadata in rows]


def nodes_of(found: ForeignList) -> list[NodeWithScore]:
    rows = zip(found.texts, found.metadatas, strict=True)
    return [
        NodeWithScore(
            node=TextNode(
                text=text, metadata=place, excluded_llm_metadata_keys=[*place]
            ),
            score=1 / rank,
        )
        for rank, (text, place) in enumerate(rows, start=1)
    ]


def in_langchain(found: ForeignList, **options: Any) -> list[Passage]:
    component = langchain_oprag.OrderPreservingCompressor(**options)
    made = component.compress_documents(documents_of(found), "?")
    passages = langchain_oprag.as_passages(made)
    places = map(place_of, made)
    assert [(p.exact, p.proof) for p in passages] == [
        (place.exact, place.proof) for place in places
    ]
    return passages


def in_llamaindex(found: ForeignList, **options: Any) -> list[Passage]:
    component = llamaindex_oprag.OrderPreservingPostprocessor(**options)
    made = component.postprocess_nodes(nodes_of(found))
    passages = llamaindex_oprag.as_passages(made)
    places = map(place_of, made)
    assert [(p.exact, p.proof) for p in passages] == [
        (place.exact, place.proof) for place in places
    ]
    return passages


WAYS = (plainly, in_langchain, in_llamaindex)


def said(passages: list[Passage]) -> list[Any]:
    return [
        (p.text, p.document_key, p.part, p.spans, p.proof, p.exact, p.citation)
        for p in passages
    ]


def outcome(way: Any, found: ForeignList, **options: Any) -> Any:
    try:
        return way(found, on_problem="warn", **options)
    except OpragError as error:
        return type(error)


def lists(count: int) -> Iterator[tuple[random.Random, ForeignList]]:
    for number in range(count):
        draw = random.Random(f"foreign {number}")  # noqa: S311 -- any will do
        yield draw, foreign_list(draw)


def false_places(passages: list[Passage], found: ForeignList) -> list[Passage]:
    """The passages whose text is not where they say."""
    false = []
    for passage in passages:
        text = found.text(passage.document_name, passage.part)
        if passage.spans and text[slice(*passage.spans[0])] != passage.text:
            false.append(passage)
    return false


@pytest.mark.filterwarnings("ignore::oprag.errors.OpragWarning")
def test_no_text_is_called_exact_that_is_not_the_slice():
    seen: Counter[str] = Counter()
    for draw, found in lists(MANY or cases(400)):
        options = draw.choice(OPTIONS)
        for given in ({}, {"documents": found.documents()}):
            made = [outcome(way, found, **options, **given) for way in WAYS]
            if not isinstance(made[0], list):
                assert made == [made[0]] * 3
                continue
            plain, *others = made
            assert [*map(said, others)] == [said(plain)] * 2, found
            false = false_places(plain, found)
            assert not any(passage.exact for passage in false), (found, options)
            for passage in plain:
                said_truly = "false" if passage in false else "true"
                seen[f"{passage.proof}, {said_truly}"] += 1
                seen["exact"] += passage.exact
        hold_after_an_edit(draw, found)

    kinds = ("stamped, true", "compared, true", "recorded, true", "recorded, false")
    assert all(seen[kind] for kind in (*kinds, "exact"))
    if MANY:
        sys.stdout.write(f"{MANY} lists: {dict(seen)}\n")


def hold_after_an_edit(draw: random.Random, found: ForeignList) -> None:
    """What edits results to texts of the same length leaves nothing exact of them."""
    compressor = langchain_oprag.OrderPreservingCompressor(
        documents=found.documents(), on_problem="warn"
    )
    results = [*compressor.compress_documents(documents_of(found), "?")]
    for result in results:
        if draw.random() < 0.5:
            result.page_content = edited(draw, result.page_content)
    again = langchain_oprag.OrderPreservingCompressor(merge=True, on_problem="warn")
    passages = langchain_oprag.as_passages(again.compress_documents(results, "?"))
    assert not any(passage.exact for passage in false_places(passages, found))
