"""Among the `node_postprocessors` of an engine."""

from tests.llamaindex.places.registry import places_of
from tests.llamaindex.places.running import each_mode, each_place, with_and_without


@each_mode
@each_place(places_of("postprocessors"))
async def test_the_model_reads_what_was_retrieved_in_order(place, mode):
    ordered, plain = await with_and_without(place, mode)

    assert ordered == sorted(set(plain))
    assert plain != sorted(plain)
