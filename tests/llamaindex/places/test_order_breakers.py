"""What sorts again after oprag undoes the order; `rescore` is for those that must."""

import pytest

from tests.llamaindex.corpus import numbers
from tests.llamaindex.places.ingredients import ingredients
from tests.llamaindex.places.registry import places_of
from tests.llamaindex.places.running import (
    answering,
    build,
    each_mode,
    each_place,
    with_and_without,
)


@each_mode
@each_place(places_of("order_breakers"))
async def test_the_order_is_undone(place, mode):
    """The other place, `instead`, is tested where it belongs."""
    undone, _ = await with_and_without(place, mode)

    assert undone != sorted(undone)


@each_mode
@each_place(places_of("rescoring"))
async def test_scores_that_fall_in_reading_order_survive_the_sorting(place, mode):
    ordered, plain = await with_and_without(place, mode)

    assert ordered == sorted(set(plain))
    assert plain != sorted(plain)


SCORES_ARE_MIXED = {
    "best-at-the-ends": (
        '[OrderPreservingPostprocessor(rescore="score"), LongContextReorder()]'
    ),
    "fusion": (
        "QueryFusionRetriever(["
        'OrderPreservingRetriever(retriever, rescore="score"), '
        'OrderPreservingRetriever(other, rescore="score")], '
        "llm=writer, similarity_top_k=10)"
    ),
}


@each_mode
@pytest.mark.parametrize("how", SCORES_ARE_MIXED.values(), ids=SCORES_ARE_MIXED)
async def test_rescoring_does_not_help_where_scores_are_mixed(how, mode):
    names = ingredients(oprag=True)

    undone = numbers(await answering(build(how, names), names, mode))

    assert undone != sorted(undone)
