"""Chunks that name no unit: found in the full texts, or left as retrieved."""

import asyncio

import pytest
from llama_index.core.schema import MetadataMode

import langchain_oprag
import llamaindex_oprag
from oprag import group_documents
from oprag.errors import (
    BudgetTooSmallError,
    DocumentNotFoundError,
    MissingDocumentError,
    MissingPositionError,
    PositionWarning,
)
from oprag.result_key import read_written
from tests.kit.words import words
from tests.langchain.corpus import ListRetriever
from tests.llamaindex.components import Retrieved
from tests.parity.components import documents, nodes

TEXTS = {
    "note": "Ann built it.",
    "book": " ".join(f"Year {year} was good." for year in range(1900, 1940)),
}
UNITS = group_documents(TEXTS, max_tokens=40, token_counter=words)
"""The note, and the book in four parts of ten years."""


def langchain(texts, metadatas, **options):
    base = ListRetriever(documents=documents(texts, metadatas))
    return langchain_oprag.LongUnitRetriever(
        base_retriever=base, units=UNITS, **{"documents": TEXTS, **options}
    )


def llamaindex(texts, metadatas, **options):
    return llamaindex_oprag.LongUnitRetriever(
        Retrieved(nodes(texts, metadatas)),
        units=UNITS,
        **{"documents": TEXTS, **options},
    )


def of_documents(found):
    return [(each.page_content, each.metadata) for each in found]


def of_nodes(found):
    for each in found:
        if "unit_documents" in each.node.metadata:
            assert each.node.get_content(MetadataMode.EMBED) == each.node.text
    return [(each.node.text, each.node.metadata) for each in found]


WAYS = {
    "langchain": lambda *a, **o: of_documents(langchain(*a, **o).invoke("?")),
    "langchain, awaited": lambda *a, **o: of_documents(
        asyncio.run(langchain(*a, **o).ainvoke("?"))
    ),
    "llamaindex": lambda *a, **o: of_nodes(llamaindex(*a, **o).retrieve("?")),
    "llamaindex, awaited": lambda *a, **o: of_nodes(
        asyncio.run(llamaindex(*a, **o).aretrieve("?"))
    ),
}
EVERYWHERE = pytest.mark.parametrize("ask", WAYS.values(), ids=WAYS)
CHUNKS = ["Year 1935 was good.", "Ann built it.", "Year 1902 was good."]
PLACED = [{"source": "book"}, {"source": "note"}, {"source": "book"}]
PROBLEMS = {
    "missing_document": ([{"start_index": 1}, *PLACED[1:]], MissingDocumentError),
    "document_not_found": ([{"source": "new"}, *PLACED[1:]], DocumentNotFoundError),
}


@EVERYWHERE
@pytest.mark.parametrize("kind", PROBLEMS)
def test_where_units_cannot_be_told_the_chunks_stay_as_retrieved(ask, kind):
    metadatas, error = PROBLEMS[kind]

    with pytest.raises(error):
        ask(CHUNKS, metadatas)
    with pytest.warns(PositionWarning, match=rf"LongUnitRetriever kept.*{kind}"):
        found = ask(CHUNKS, metadatas, on_problem="warn")

    assert [text for text, _ in found] == CHUNKS
    places = [read_written(metadata) for _, metadata in found]
    assert [place.problem for place in places] == [kind] * 3
    assert [place.rank for place in places] == [0, 1, 2]
    assert not any("unit_documents" in metadata for _, metadata in found)


@EVERYWHERE
def test_chunks_are_found_in_the_full_text_and_so_in_their_unit(ask):
    found = ask(CHUNKS, PLACED)

    book = [text for text, m in found if m["unit_documents"] == ["book"]]
    assert len(found) == 3
    assert "Year 1902" in book[0]
    assert "Year 1935" in book[1]
    for place in ({}, {"chunk_index": 35}):
        assert "Year 1935" in ask(CHUNKS[:1], [PLACED[0] | place])[0][0]


@EVERYWHERE
def test_what_is_not_proved_is_in_no_unit(ask):
    for chunk in ("Year", "Something else."):
        with pytest.raises(MissingPositionError):
            ask([chunk], PLACED[:1])
    with pytest.warns(PositionWarning):
        ask(["Year"], PLACED[:1], on_problem="warn")


@EVERYWHERE
def test_only_the_texts_of_the_returned_units_are_read(ask):
    read = []

    found = ask(
        CHUNKS[1:2],
        [{"source": "note", "relevance_score": 0.25}],
        documents=lambda name: read.append(name) or TEXTS[name],
    )

    assert read == ["note"]
    assert [text for text, _ in found] == [TEXTS["note"]]
    assert read_written(found[0][1]).whole.end == len(TEXTS["note"])


@EVERYWHERE
def test_the_worst_units_are_left_out_until_the_budget_holds_the_others(ask):
    texts = [f"Year {year}" for year in (1935, 1905, 1915)]
    metadatas = [
        {"source": "book", "start_index": TEXTS["book"].index(text)} for text in texts
    ]
    whole = [text for text, _ in ask(texts, metadatas)]
    assert len(whole) == 3
    needed = words("\n\n".join(whole))

    for budget in (needed, needed - 1, words(whole[-1])):
        found = ask(texts, metadatas, token_budget=budget, token_counter=words)
        sent = "\n\n".join(text for text, _ in found)
        assert words(sent) <= budget
        assert not any(read_written(metadata).has_room for _, metadata in found)
        assert whole[-1] in sent  # the best is last in the book
        assert [text for text in whole if text in sent] == [text for text, _ in found]
    with pytest.raises(BudgetTooSmallError):
        ask(texts, metadatas, token_budget=3, token_counter=words)
