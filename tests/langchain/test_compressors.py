"""`OrderPreservingCompressor`: compressor, transformer and callable in one."""

import pytest
from langchain_core.documents import BaseDocumentCompressor, BaseDocumentTransformer
from langchain_core.runnables import RunnableLambda

from langchain_oprag import OrderPreservingCompressor
from oprag.errors import UnfilledBudgetWarning
from tests.kit.words import words
from tests.langchain.corpus import chunk, numbers

RANKED = [chunk(number) for number in (5, 9, 1, 7, 3)]


def test_it_is_both_a_compressor_and_a_transformer():
    compressor = OrderPreservingCompressor()

    assert isinstance(compressor, BaseDocumentCompressor)
    assert isinstance(compressor, BaseDocumentTransformer)


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


@pytest.mark.filterwarnings("ignore::oprag.errors.UnfilledBudgetWarning")
def test_what_is_changed_after_a_query_holds_for_the_next():
    compressor = OrderPreservingCompressor(token_budget=100, token_counter=words)
    assert len(compressor(RANKED)) == len(RANKED)

    fewer = compressor.model_copy(update={"top_n": 2})
    compressor.order = "score"
    compressor.token_counter = lambda text: 60
    assert numbers(fewer(RANKED)) == [5, 9]
    assert numbers(compressor(RANKED)) == [5]
