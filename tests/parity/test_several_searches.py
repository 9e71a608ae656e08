"""Several searches: the best of each is read first, and a budget starves none."""

from collections import Counter
from itertools import chain

import pytest
from langchain_core.documents import Document
from llama_index.core.schema import NodeWithScore, TextNode

from langchain_oprag import OrderPreservingCompressor, as_passages, order_documents
from llamaindex_oprag import OrderPreservingPostprocessor, format_nodes, order_nodes
from oprag import order_context, render
from oprag.errors import InvalidOptionError

QUERIES = "abc"
TEXTS = [[f"{name}{n:02}." for n in range(10)] for name in QUERIES]
PLACES = [
    [{"source": name, "start_index": 4 * n} for n in range(10)] for name in QUERIES
]
BUDGET = {"token_budget": 40, "token_counter": len, "separator": ""}


@pytest.mark.parametrize("places", [[PLACES[0][:9], PLACES[0]], PLACES[0]])
def test_lists_of_searches_have_one_shape(places):
    with pytest.raises(InvalidOptionError, match="differ in length"):
        order_context(TEXTS[:2], places)


async def test_three_queries_share_a_budget_of_ten_chunks():
    passages = order_context(TEXTS, PLACES, **BUDGET)
    found = [
        [Document(text, metadata=place) for text, place in zip(*search, strict=True)]
        for search in zip(TEXTS, PLACES, strict=True)
    ]
    compressor = OrderPreservingCompressor(**BUDGET)

    counts = Counter(passage.document_key for passage in passages)
    assert list(counts.values()) == [4, 3, 3]
    assert as_passages(compressor(found)) == passages
    assert await compressor.acompress_documents(found) == compressor(found)
    assert order_documents(found, **BUDGET) == compressor(found)
    nodes = [
        [
            TextNode(
                text=each.page_content,
                metadata=each.metadata,
                excluded_llm_metadata_keys=[*each.metadata],
            )
            for each in search
        ]
        for search in found
    ]
    assert format_nodes(order_nodes(nodes, **BUDGET)) == render(passages)
    assert order_context([], []) == order_context([[], []], [[], []]) == []
    assert order_context([TEXTS[0]], [PLACES[0]]) == order_context(TEXTS[0], PLACES[0])


def test_results_of_components_are_read_by_their_ranks():
    ordered = OrderPreservingCompressor()
    searches = [
        ordered([Document(t, metadata=m) for t, m in reversed([*zip(*s, strict=True)])])
        for s in zip(TEXTS, PLACES, strict=True)
    ]
    best = ["a09.", "b09.", "c09."]

    compressor = OrderPreservingCompressor(top_n=3)
    for given in (searches, [*chain.from_iterable(searches)]):
        assert [d.page_content for d in compressor(given)] == best
    metadatas = [[d.metadata for d in search] for search in searches]
    assert [p.text for p in order_context(TEXTS, metadatas, top_n=3)] == best
    plain = [Document(t, metadata=m) for t, m in zip(TEXTS[0], PLACES[0], strict=True)]
    of_one = [ordered(plain[:5]), ordered(plain[5:])]
    assert len(compressor(of_one)) == 3


def test_what_two_searches_merged_comes_once():
    lines = [f"{name} one two." for name in ("Alpha", "Bravo", "Carol", "Delta")]
    places = [{"source": "a", "start_index": 15 * n} for n in range(4)]
    whole = " ".join(lines)

    merging = OrderPreservingCompressor(merge=True)
    searches = [
        merging([Document(lines[n], metadata=places[n]) for n in found])
        for found in ((0, 1, 2), (1, 2, 3))
    ]
    assert [d.page_content for d in merging(searches)] == [whole]
    merging = OrderPreservingPostprocessor(merge=True)
    found = [
        NodeWithScore(node=TextNode(text=lines[n], metadata=places[n]))
        for n in (0, 1, 2, 1, 2, 3)
    ]
    merged = [merging.postprocess_nodes(each) for each in (found[:3], found[3:])]
    (one,) = merging.postprocess_nodes([*merged[0], *merged[1]])
    assert one.text == whole
