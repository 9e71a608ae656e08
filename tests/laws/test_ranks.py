"""The rank of a result is its place in the list as retrieved, whatever comes behind it.

Through the components of both frameworks, on generated retrievals.
"""

import itertools

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from langchain_oprag import OrderPreservingCompressor
from llamaindex_oprag import OrderPreservingPostprocessor
from oprag import place_of
from oprag.errors import BudgetTooSmallError
from oprag.result_key import read_written
from tests.kit.corpora import Piece, Retrieval, retrievals
from tests.kit.effort import cases
from tests.parity.components import COMPONENTS, documents, nodes

pytestmark = pytest.mark.filterwarnings("ignore::oprag.errors.UnfilledBudgetWarning")
MANY = settings(max_examples=cases(150), deadline=None)
WAYS = ("langchain", "llamaindex")


def by_year(chunks):
    return chunks[0].metadata["year"]


retrieved = st.tuples(
    retrievals(min_pieces=1), st.sampled_from(["own", "langchain", "ordinal"])
)
orders = {
    "order": st.sampled_from(["document", "rank"]),
    "sort_documents": st.sampled_from(["best_rank", by_year]),
}
selecting = st.fixed_dictionaries(
    {"token_counter": st.just(len)},
    optional=orders
    | {
        "top_n": st.integers(1, 8),
        "token_budget": st.integers(3, 80),
        "merge": st.booleans(),
        "citations": st.just(True),
    },
)
slicing = st.fixed_dictionaries(
    {
        "token_counter": st.just(len),
        "selection": st.just("recall"),
        "token_budget": st.integers(8, 80),
    },
    optional=orders | {"merge": st.booleans()},
)


def found(given, way):
    """The hits, as the framework's objects."""
    retrieval, style = given
    years = {name: year for year, name in enumerate(sorted(retrieval.sources))}
    metadatas = [
        {**metadata, "year": years[piece.document]}
        for piece, metadata in zip(
            retrieval.pieces, retrieval.metadatas(style), strict=True
        )
    ]
    return (documents if way == "langchain" else nodes)(retrieval.texts, metadatas)


def put(way, objects, options):
    try:
        if way == "langchain":
            return OrderPreservingCompressor(**options).compress_documents(objects, "?")
        return OrderPreservingPostprocessor(**options).postprocess_nodes(objects)
    except BudgetTooSmallError:
        assume(False)


def places(results):
    """Texts, ranks, citations, and all else that results say, in order."""
    return [
        (result.page_content, result.metadata)
        if hasattr(result, "page_content")
        else (result.node.text, result.node.metadata)
        for result in results
    ]


OVERLAPPING = Retrieval(
    {"b.txt": "aaaaa"}, tuple(Piece("b.txt", n, n + 2, "aa", n) for n in (1, 0, 2, 3))
)
"""Cut where they overlap, by score, the two parts of the best one come first."""


@pytest.mark.parametrize("way", WAYS)
@MANY
@given(retrieved, selecting | slicing)
@example(
    (OVERLAPPING, "own"),
    {
        "token_counter": len,
        "selection": "recall",
        "merge": False,
        "token_budget": 13,
        "order": "rank",
    },
)
def test_a_component_on_its_own_output_changes_nothing(way, given, options):
    once = put(way, found(given, way), options)

    assert places(put(way, once, options)) == places(once)


NUMBERS = ("start_index", "char_start", "char_end", "chunk_index", "page", "split_id")
ODD = (None, -1, 0, 2, 7.5, "4", "iv", True, float("nan"), 10**30, "", ["a"])
odd = st.dictionaries(st.sampled_from(NUMBERS), st.sampled_from(ODD), max_size=2)
unnamed = odd.map(lambda metadata: metadata | {"source": None})


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.filterwarnings("ignore::oprag.errors.PositionWarning")
@MANY
@given(retrieved, st.lists(odd | odd | unnamed, min_size=1), st.booleans())
@example((OVERLAPPING, "own"), [{"char_start": 1}, {}, {"char_start": None}], True)
@example((OVERLAPPING, "own"), [{"char_start": 0}], True)
def test_what_it_marked_as_without_a_place_is_so_again(way, given, odds, merge):
    objects = found(given, way)
    texts = dict.fromkeys(given[0].texts)
    by_text = dict(zip(texts, itertools.cycle(odds), strict=False))
    for text, each in zip(given[0].texts, objects, strict=True):
        getattr(each, "node", each).metadata.update(by_text[text])
    options = {"on_problem": "warn", "merge": merge}
    once = put(way, objects, options)

    assert places(put(way, once, options)) == places(once)


@pytest.mark.parametrize("way", WAYS)
@MANY
@given(retrieved, st.fixed_dictionaries({}, optional=orders), selecting | slicing)
def test_behind_one_that_orders_a_component_selects_as_it_does_alone(
    way, given, ordering, options
):
    assume(ordering.get("sort_documents") in {None, options.get("sort_documents")})
    objects = found(given, way)

    behind = put(way, put(way, objects, ordering), options)

    assert places(behind) == places(put(way, objects, options))


@pytest.mark.parametrize("way", WAYS)
@MANY
@given(retrieved, selecting, selecting)
def test_sorted_by_rank_results_stand_as_they_were_retrieved(way, given, first, second):
    retrieval, _ = given
    unmerged = {"merge": False, "citations": False}
    results = put(way, found(given, way), first | unmerged)
    if first.get("sort_documents") == second.get("sort_documents"):
        results = put(way, results, second | unmerged)

    found_at = {read_written(m).rank: (text, m["year"]) for text, m in places(results)}
    pieces, names = retrieval.pieces, sorted(retrieval.sources)
    assert len(found_at) == len(results)
    assert found_at == {
        rank: (pieces[rank].text, names.index(pieces[rank].document))
        for rank in found_at
    }


@pytest.mark.parametrize("way", WAYS)
@MANY
@given(retrievals(min_pieces=1), slicing, st.booleans())
def test_text_chosen_by_position_has_the_rank_of_the_chunk_that_brought_it(
    way, retrieval, options, full
):
    sources = {"documents": retrieval.sources} if full else {}
    results = put(way, found((retrieval, "own"), way), options | sources)

    for text, metadata in places(results):
        place = place_of({"page_content": text, "metadata": metadata})
        start, end, rank = place.start, place.end, place.rank
        if full and rank >= len(retrieval.pieces):  # text beside what was retrieved
            continue
        piece = retrieval.pieces[rank]
        assert piece.document == place.document_key
        # In it, or joined to it; text from the full text may be anywhere around it.
        if not full:
            assert piece.start <= end
            assert start <= piece.end
        if options.get("merge") is False and not full:
            assert text in piece.text


PAIRED = sorted(COMPONENTS.keys() - {"order_context"})
"""The components that write places; plain Python gives passages."""


@MANY
@given(retrieved, st.sampled_from(PAIRED), st.sampled_from(PAIRED), st.booleans())
def test_any_component_after_any_other_changes_nothing(given, first, second, merge):
    retrieval, style = given
    once = COMPONENTS[first](retrieval.texts, retrieval.metadatas(style), merge=merge)

    twice = COMPONENTS[second](once.texts, once.metadatas, merge=merge)

    assert twice == once


@MANY
@given(
    retrievals(min_pieces=1), st.sampled_from(PAIRED), st.text(min_size=1, max_size=3)
)
def test_an_edited_text_is_not_exact(retrieval, name, added):
    once = COMPONENTS[name](
        retrieval.texts, retrieval.metadatas("own"), documents=retrieval.sources
    )

    for text, metadata, kept in zip(
        once.texts, once.metadatas, once.places(), strict=True
    ):
        edited = place_of({"text": text + added, "metadata": metadata})
        assert kept.exact
        assert not edited.exact
        assert (edited.start, edited.end) == (kept.start, kept.end)
        assert edited.citation == kept.citation
