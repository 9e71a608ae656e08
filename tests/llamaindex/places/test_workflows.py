"""In the steps of a workflow."""

from tests.llamaindex.places.registry import places_of
from tests.llamaindex.places.running import each_place, sent, with_and_without


async def run(workflow, names, mode):
    await workflow.run(question=names["question"])
    return sent(names)


@each_place(places_of("workflows"))
async def test_the_model_reads_what_was_retrieved_in_order(place):
    ordered, plain = await with_and_without(place, "run", run)

    assert ordered == sorted(set(plain))
    assert plain != sorted(plain)
