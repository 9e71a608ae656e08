"""`OrderPreservingCompressor`: compressor, transformer and callable in one."""

import pytest
from langchain_core.runnables import RunnableLambda

from langchain_oprag import OrderPreservingCompressor
from oprag.errors import UnfilledBudgetWarning
from tests.kit.words import words
from tests.langchain.corpus import chunk

RANKED = [chunk(number) for number in (5, 9, 1, 7, 3)]


async def test_its_run_in_a_chain_has_its_name():
    step = RunnableLambda(lambda _: [chunk(1)])
    chains = (step | OrderPreservingCompressor(), OrderPreservingCompressor() | step)

    for chain in chains:
        events = chain.astream_events([chunk(0)], version="v2")
        names = {event["name"] async for event in events}

        assert "OrderPreservingCompressor" in names


# Options


def test_a_budget_that_everything_fits_into_is_reported_once():
    compressor = OrderPreservingCompressor(token_budget=100, token_counter=words)

    with pytest.warns(UnfilledBudgetWarning, match="all 5 retrieved chunks fit"):
        compressor(RANKED)
    compressor(RANKED)
