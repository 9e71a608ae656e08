"""What sorts again after oprag undoes the order; falling scores are a way out."""

from tests.llamaindex.places.registry import places_of
from tests.llamaindex.places.running import each_mode, each_place, with_and_without


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
