"""`OrderPreservingCompressor`: compressor, transformer and callable in one."""

import copy
import pickle

import pytest
from langchain_core.documents import (
    BaseDocumentCompressor,
    BaseDocumentTransformer,
    Document,
)
from langchain_core.runnables import RunnableLambda

from langchain_oprag import OrderPreservingCompressor
from oprag.errors import (
    BudgetTooSmallError,
    InvalidOptionError,
    MissingPositionError,
    UnfilledBudgetWarning,
)
from tests.handed_out import told
from tests.langchain.compat import (
    ContextualCompressionRetriever,
    DocumentCompressorPipeline,
)
from tests.langchain.corpus import QUERY, ListRetriever, chunk, numbers, words

RANKED = [chunk(number) for number in (5, 9, 1, 7, 3)]


def test_it_is_both_a_compressor_and_a_transformer():
    compressor = OrderPreservingCompressor()

    assert isinstance(compressor, BaseDocumentCompressor)
    assert isinstance(compressor, BaseDocumentTransformer)


@pytest.mark.parametrize(
    "call",
    [
        lambda compressor: compressor.compress_documents(RANKED, QUERY),
        lambda compressor: compressor.compress_documents(query=QUERY, documents=RANKED),
        lambda compressor: compressor.compress_documents(RANKED, QUERY, callbacks=[]),
        lambda compressor: compressor.transform_documents(RANKED),
        lambda compressor: compressor.transform_documents(documents=RANKED),
        lambda compressor: compressor(RANKED),
        lambda compressor: compressor(documents=tuple(RANKED)),
    ],
)
def test_every_call_selects_first_and_orders_last(call):
    assert numbers(call(OrderPreservingCompressor(top_n=3))) == [1, 5, 9]


@pytest.mark.parametrize(
    "call",
    [
        lambda compressor: compressor.acompress_documents(RANKED, QUERY),
        lambda compressor: compressor.acompress_documents(
            query=QUERY, documents=RANKED
        ),
        lambda compressor: compressor.atransform_documents(RANKED),
        lambda compressor: compressor.atransform_documents(documents=RANKED),
    ],
)
async def test_every_awaited_call_does_so(call):
    compressor = OrderPreservingCompressor(token_budget=58, token_counter=len)

    assert numbers(await call(compressor)) == [1, 5, 9]  # 3 * 18 + 2 * 2


def test_no_documents_are_no_documents():
    assert OrderPreservingCompressor(token_budget=1).compress_documents([], QUERY) == []


def test_one_document_is_itself():
    (only,) = OrderPreservingCompressor().transform_documents([RANKED[0]])

    assert told([only]) == told(RANKED[:1])


def test_it_follows_a_retriever_in_a_chain():
    chain = ListRetriever(documents=RANKED) | OrderPreservingCompressor(top_n=2)

    assert numbers(chain.invoke(QUERY)) == [5, 9]


async def test_it_follows_a_retriever_in_an_awaited_chain():
    chain = ListRetriever(documents=RANKED) | OrderPreservingCompressor(top_n=2)

    assert numbers(await chain.ainvoke(QUERY)) == [5, 9]


def test_a_chain_may_begin_with_it_and_be_drawn():
    chain = OrderPreservingCompressor() | RunnableLambda(numbers)

    assert chain.invoke(RANKED) == [1, 3, 5, 7, 9]
    assert chain.get_graph().nodes


async def test_its_run_in_a_chain_has_its_name():
    step = RunnableLambda(lambda _: [chunk(1)])
    chains = (step | OrderPreservingCompressor(), OrderPreservingCompressor() | step)

    for chain in chains:
        events = chain.astream_events([chunk(0)], version="v2")
        names = {event["name"] async for event in events}

        assert "OrderPreservingCompressor" in names


def test_it_is_the_compressor_of_a_contextual_compression_retriever():
    retriever = ContextualCompressionRetriever(
        base_compressor=OrderPreservingCompressor(top_n=2),
        base_retriever=ListRetriever(documents=RANKED),
    )

    assert numbers(retriever.invoke(QUERY)) == [5, 9]


class Reranker(BaseDocumentCompressor):
    """Scores by the chunk's number, the highest first."""

    def compress_documents(self, documents, query, callbacks=None):
        scored = [
            Document(d.page_content, metadata={**d.metadata, "relevance_score": number})
            for d, number in zip(documents, numbers(documents), strict=True)
        ]
        return sorted(scored, key=lambda d: -d.metadata["relevance_score"])


async def test_it_goes_last_in_a_pipeline_after_a_reranker():
    pipeline = DocumentCompressorPipeline(
        transformers=[Reranker(), OrderPreservingCompressor(top_n=3)]
    )

    assert numbers(pipeline.compress_documents(RANKED, QUERY)) == [5, 7, 9]
    assert numbers(await pipeline.acompress_documents(RANKED, QUERY)) == [5, 7, 9]


def test_the_pipeline_and_the_retriever_work_together():
    retriever = ContextualCompressionRetriever(
        base_compressor=DocumentCompressorPipeline(
            transformers=[Reranker(), OrderPreservingCompressor(top_n=3)]
        ),
        base_retriever=ListRetriever(documents=RANKED),
    )

    assert numbers(retriever.invoke(QUERY)) == [5, 7, 9]


# Options


def test_top_n_is_assignable_and_checked():
    compressor = OrderPreservingCompressor()
    compressor.top_n = 2
    assert numbers(compressor(RANKED)) == [5, 9]

    with pytest.raises(InvalidOptionError, match="top_n=0 is not possible"):
        compressor.top_n = 0
    assert numbers(compressor(RANKED)) == [5, 9]


def test_the_budget_and_the_other_options_are_assignable():
    compressor = OrderPreservingCompressor()
    compressor.token_budget = 8
    compressor.token_counter = words

    assert numbers(compressor(RANKED)) == [5, 9]


def test_an_argument_that_means_nothing_is_rejected_and_not_swallowed():
    with pytest.raises(InvalidOptionError, match="Set it on OrderPreservingCompressor"):
        OrderPreservingCompressor().transform_documents(RANKED, top_n=2)


def test_a_budget_that_everything_fits_into_is_reported_once():
    compressor = OrderPreservingCompressor(token_budget=100, token_counter=words)

    with pytest.warns(UnfilledBudgetWarning, match="all 5 retrieved chunks fit"):
        compressor(RANKED)
    compressor(RANKED)


@pytest.mark.parametrize("options", [{"top_n": 4}, {"token_budget": 19}])
def test_nothing_is_reported_when_something_was_left_out(options):
    compressor = OrderPreservingCompressor(
        **{"token_budget": 100, **options}, token_counter=words
    )

    assert numbers(compressor(RANKED)) == [1, 5, 7, 9]


def test_errors_of_the_core_come_through_as_they_are():
    with pytest.raises(BudgetTooSmallError):
        OrderPreservingCompressor(token_budget=3, token_counter=words)(RANKED)
    found = [Document(text, metadata={"source": "a"}) for text in ("one", "two")]
    with pytest.raises(MissingPositionError):
        OrderPreservingCompressor()(found)


@pytest.mark.parametrize(
    "duplicate",
    [
        lambda compressor: pickle.loads(pickle.dumps(compressor)),  # noqa: S301 -- ours
        copy.deepcopy,
    ],
    ids=["pickle", "deepcopy"],
)
def test_it_can_be_copied_and_pickled(duplicate):
    compressor = OrderPreservingCompressor(top_n=2, token_budget=100)
    compressor(RANKED)

    assert numbers(duplicate(compressor)(RANKED)) == [5, 9]


@pytest.mark.filterwarnings("ignore::oprag.errors.UnfilledBudgetWarning")
def test_what_is_changed_after_a_query_holds_for_the_next():
    compressor = OrderPreservingCompressor(token_budget=100, token_counter=words)
    assert len(compressor(RANKED)) == len(RANKED)

    fewer = compressor.model_copy(update={"top_n": 2})
    compressor.order = "score"
    compressor.token_counter = lambda text: 60
    assert numbers(fewer(RANKED)) == [5, 9]
    assert numbers(compressor(RANKED)) == [5]
