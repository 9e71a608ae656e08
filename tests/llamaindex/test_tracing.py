"""Every component is a span of its own in LlamaIndex's instrumentation."""

from __future__ import annotations

import pytest
from llama_index.core.instrumentation import get_dispatcher
from llama_index.core.instrumentation.span_handlers import SimpleSpanHandler

from llamaindex_oprag import OrderPreservingPostprocessor, OrderPreservingRetriever
from tests.llamaindex.corpus import QUESTION


@pytest.fixture
def spans():
    root, handler = get_dispatcher(), SimpleSpanHandler()
    before = list(root.span_handlers)
    root.add_span_handler(handler)
    yield lambda: {span.id_.split("-")[0] for span in handler.completed_spans}
    root.span_handlers = before


@pytest.mark.parametrize("query", ["query", "aquery"])
async def test_the_postprocessor_of_an_engine(lease, llm, spans, query):
    engine = lease.as_query_engine(
        llm=llm, node_postprocessors=[OrderPreservingPostprocessor()]
    )

    if query == "query":
        engine.query(QUESTION)
        assert "OrderPreservingPostprocessor._postprocess_nodes" in spans()
    else:
        await engine.aquery(QUESTION)
        assert "OrderPreservingPostprocessor._apostprocess_nodes" in spans()


@pytest.mark.parametrize("retrieve", ["retrieve", "aretrieve"])
async def test_the_retriever(lease, spans, retrieve):
    retriever = OrderPreservingRetriever(lease.as_retriever())

    if retrieve == "retrieve":
        retriever.retrieve(QUESTION)
    else:
        await retriever.aretrieve(QUESTION)

    assert f"OrderPreservingRetriever._{retrieve}" in spans()
