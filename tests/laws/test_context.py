"""The laws that hold for every retrieval, checked on generated ones."""

import contextlib
import copy
import itertools

from hypothesis import given, settings
from hypothesis import strategies as st

from oprag import order_context, render
from oprag.errors import BudgetTooSmallError
from tests.kit.corpora import STYLES, Retrieval, retrievals
from tests.kit.effort import cases

MANY = settings(max_examples=cases(150), deadline=None)

styles = st.sampled_from(STYLES)


def _unique(retrieval: Retrieval) -> list:
    return list(dict.fromkeys(retrieval.pieces))


@MANY
@given(retrievals(), styles)
def test_distinct_chunks_stand_by_position_in_documents_by_their_best_chunk(
    retrieval, style
):
    passages = order_context(retrieval.texts, retrieval.metadatas(style))

    best = list(dict.fromkeys(piece.document for piece in retrieval.pieces))
    expected = sorted(
        _unique(retrieval), key=lambda p: (best.index(p.document), p.start, p.end)
    )
    assert [(p.document_key, p.text) for p in passages] == [
        (piece.document, piece.text) for piece in expected
    ]
    assert all(len(passage.chunks) == 1 for passage in passages)


@MANY
@given(retrievals(), styles, st.booleans(), st.integers(1, 400))
def test_nothing_that_was_given_is_written_to(retrieval, style, merge, budget):
    texts, metadatas = retrieval.texts, retrieval.metadatas(style)
    before = copy.deepcopy((texts, metadatas))

    with contextlib.suppress(BudgetTooSmallError):
        order_context(texts, metadatas, merge=merge, token_budget=budget)

    assert (texts, metadatas) == before


@MANY
@given(retrievals(min_pieces=1), st.integers(1, 60), st.integers(0, 60))
def test_a_smaller_budget_keeps_a_subset(retrieval, budget, more):
    def kept(token_budget):
        try:
            passages = order_context(
                retrieval.texts,
                retrieval.metadatas(),
                token_budget=token_budget,
                token_counter=len,
            )
        except BudgetTooSmallError:
            return set()
        return {(p.document_key, p.spans) for p in passages}

    assert kept(budget) <= kept(budget + more)


@MANY
@given(
    retrievals(min_pieces=1),
    st.sampled_from(["own", "langchain", "llamaindex"]),
    st.booleans(),
)
def test_every_span_of_a_passage_equals_its_slice(retrieval, style, filled):
    passages = order_context(
        retrieval.texts,
        retrieval.metadatas(style),
        merge=True,
        documents=retrieval.sources if filled else None,
    )

    for passage in passages:
        source = retrieval.sources[passage.document_key]
        text = source[slice(*passage.spans[0])]
        for before, span in itertools.pairwise(passage.spans):
            gap = " " if span.start - before.end == 1 else "\n\n"
            text += gap + source[slice(*span)]
        assert passage.text == text
        proved = filled or style == "own"
        assert passage.exact == (proved and len(passage.spans) == 1)
        assert not filled or passage.exact


@MANY
@given(retrievals(min_pieces=1))
def test_merging_loses_and_doubles_nothing(retrieval):
    passages = order_context(retrieval.texts, retrieval.metadatas(), merge=True)

    for name in retrieval.sources:
        wanted = {
            offset
            for piece in retrieval.pieces
            if piece.document == name
            for offset in range(piece.start, piece.end)
        }
        covered = [
            offset
            for passage in passages
            if passage.document_key == name
            for start, end in passage.spans
            for offset in range(start, end)
        ]
        assert covered == sorted(wanted)


@MANY
@given(st.data(), retrievals(), st.booleans())
def test_one_document_reads_the_same_whatever_the_order_it_came_in(
    data, retrieval, merge
):
    pieces = [p for p in _unique(retrieval) if p.document == "b.txt"]
    shuffled = data.draw(st.permutations(pieces))
    contexts = [
        render(
            order_context(given.texts, given.metadatas(), merge=merge), citations=True
        )
        for given in (
            Retrieval(retrieval.sources, tuple(pieces)),
            Retrieval(retrieval.sources, tuple(shuffled)),
        )
    ]

    assert contexts[0] == contexts[1]
