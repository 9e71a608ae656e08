"""Every component of the adapter, over a text of any length, in every way of asking."""

from collections.abc import Sequence
from operator import attrgetter
from typing import Any

from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.llms import CompletionResponse, LLMMetadata
from llama_index.core.schema import NodeWithScore, QueryBundle

import llamaindex_oprag
from tests.kit.material import NAME, REFUSAL, Component, Material, empty_index, pair
from tests.llamaindex.recording import RecordingLLM

BUILT = "Who built the harbour?"
SMALL = llamaindex_oprag.OffsetTokenNodeParser(chunk_size=400)
"""LlamaIndex's document store hashes each node in our thread. For 2,048 bytes and more
Python frees the interpreter meanwhile, and our thread mostly has it again before the
loop wakes: the loop stands still until all are stored."""


class Retrieved(BaseRetriever):
    """Gives what it was given, and counts how often it was asked."""

    def __init__(self, nodes: Sequence[NodeWithScore]) -> None:
        self.nodes = list(nodes)
        self.sync_calls = self.async_calls = 0
        super().__init__()

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        self.sync_calls += 1
        return list(self.nodes)

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        self.async_calls += 1
        return list(self.nodes)


class Reader(RecordingLLM):
    """Declines where it may, unless it is given a full document."""

    @property
    def metadata(self) -> LLMMetadata:
        return LLMMetadata(context_window=10**7, num_output=256)

    def complete(self, prompt, formatted=False, **kwargs):
        declines = REFUSAL in prompt and "Document: " not in prompt
        return CompletionResponse(text=REFUSAL if declines else "In 1912.")


def retriever(material: Material, **options: Any) -> Any:
    return llamaindex_oprag.OrderPreservingRetriever(
        Retrieved(material.nodes), **{"token_budget": 200_000, **options}
    )


def over_an_index(material: Material, **options: Any) -> Any:
    return llamaindex_oprag.OrderPreservingRetriever(
        material.index.as_retriever(), **{"token_budget": 300_000, **options}
    )


def postprocessor(**options: Any) -> Any:
    return llamaindex_oprag.OrderPreservingPostprocessor(
        token_budget=200_000, **options
    )


def long_units(material: Material, base: Any) -> Any:
    return llamaindex_oprag.LongUnitRetriever(
        base, units=material.units, documents=material.unit_texts
    )


def engine(material: Material, **options: Any) -> Any:
    settings = {
        "documents": material.texts,
        "max_context_tokens": 10**7,
        "steps": [2_000, "full"],
        **options,
    }
    searched = settings.pop("retriever", None) or Retrieved(material.nodes)
    return llamaindex_oprag.SelfRouteQueryEngine.from_args(
        searched, Reader(), **settings
    )


def stored_engine(material: Material) -> Any:
    index = material.index
    return engine(material, retriever=index.as_retriever(), documents=index)


def synthesizer() -> Any:
    return llamaindex_oprag.LongReaderSynthesizer(Reader())


def tool(material: Material) -> Any:
    return llamaindex_oprag.OrderPreservingRetrieverTool.from_defaults(
        Retrieved(material.nodes), token_budget=50_000
    )


def found(response: Any, text: str | None = None) -> Any:
    """The text of a response, whole or streamed."""
    nodes = [each.model_dump() for each in response.source_nodes]
    return (text or str(response)), nodes, dict(response.metadata)


def answering(name: str, *given: Any) -> dict[str, Any]:
    """A method that answers, and its async twin, whole and streamed."""

    def ask(component: Any, material: Material, method: str, streaming: bool) -> Any:
        of = getattr(component, "_response_synthesizer", component)
        of._streaming = streaming
        asked = [each(material) if callable(each) else each for each in given]
        return getattr(component, method)(*asked)

    def whole(c: Any, m: Material) -> Any:
        return found(ask(c, m, name, False))

    def streamed(c: Any, m: Material) -> Any:
        response = ask(c, m, name, True)
        return found(response, "".join(response.response_gen))

    async def awhole(c: Any, m: Material) -> Any:
        return found(await ask(c, m, f"a{name}", False))

    async def astreamed(c: Any, m: Material) -> Any:
        response = await ask(c, m, f"a{name}", True)
        text = "".join([each async for each in response.async_response_gen()])
        return found(response, text)

    return {
        name: whole,
        f"a{name}": awhole,
        f"{name}, streamed": streamed,
        f"a{name}, streamed": astreamed,
    }


_RETRIEVE = pair("retrieve", "Who?")
_VERIFY = pair("verify", None)
_QUERY = answering("query", "Who?")
PARSERS = {
    name: Component(
        lambda _, name=name: getattr(llamaindex_oprag, name)(),
        {
            "__call__": lambda c, m: c(m.parsed),
            **pair("get_nodes_from_documents", lambda m: m.parsed),
            "acall": lambda c, m: c.acall(m.parsed),
        },
    )
    for name in ("OffsetTokenNodeParser", "OffsetSentenceNodeParser")
}
COMPONENTS = {
    **PARSERS,
    "OrderPreservingRetriever": Component(retriever, _RETRIEVE),
    "OrderPreservingRetriever, recall": Component(
        lambda m: retriever(m, selection="recall", token_budget=20_000), _RETRIEVE
    ),
    "OrderPreservingRetriever, an index": Component(
        over_an_index, _RETRIEVE, stored=True
    ),
    "OrderPreservingRetriever, words of an index": Component(
        lambda m: over_an_index(m, bm25=True), pair("retrieve", BUILT), stored=True
    ),
    "OrderPreservingRetriever, verified": Component(
        lambda m: over_an_index(m, token_budget=None), _VERIFY, stored=True
    ),
    "LongUnitRetriever": Component(
        lambda m: long_units(m, Retrieved(m.nodes)), _RETRIEVE
    ),
    "LongUnitRetriever, verified": Component(
        lambda m: long_units(m, m.index.as_retriever()), _VERIFY, stored=True
    ),
    "OrderPreservingPostprocessor": Component(
        lambda _: postprocessor(), pair("postprocess_nodes", lambda m: m.nodes)
    ),
    "OrderPreservingPostprocessor, located": Component(
        lambda m: postprocessor(documents=m.texts),
        pair("postprocess_nodes", lambda m: m.bare_nodes),
    ),
    "SelfRouteQueryEngine": Component(engine, _QUERY),
    "SelfRouteQueryEngine, whole": Component(
        lambda m: engine(m, steps=["retrieved", "full"]), _QUERY
    ),
    "SelfRouteQueryEngine, in a window": Component(
        lambda m: engine(m, max_context_tokens=10**6), _QUERY
    ),
    "SelfRouteQueryEngine, cut in order": Component(
        lambda m: engine(m, max_context_tokens=60_000), _QUERY
    ),
    "SelfRouteQueryEngine, all chunks": Component(
        lambda m: engine(m, steps=["retrieved"]), _QUERY
    ),
    "SelfRouteQueryEngine, document of an index": Component(
        stored_engine, _QUERY, stored=True
    ),
    "OrderPreservingPostprocessor, verified": Component(
        lambda _: postprocessor(), pair("verify", lambda m: m.index, None), stored=True
    ),
    "OrderPreservingRetrieverTool, verified": Component(
        lambda m: llamaindex_oprag.OrderPreservingRetrieverTool.from_defaults(
            m.index.as_retriever()
        ),
        _VERIFY,
        stored=True,
    ),
    "SelfRouteQueryEngine, verified": Component(stored_engine, _VERIFY, stored=True),
    "SelfRouteQueryEngine, retrieve": Component(
        lambda m: engine(m, steps=[300_000, "full"]),
        pair("retrieve", QueryBundle("Who?")),
    ),
    "SelfRouteQueryEngine, synthesize": Component(
        engine, answering("synthesize", QueryBundle("Who?"), lambda m: m.nodes)
    ),
    "LongReaderSynthesizer": Component(
        lambda _: synthesizer(),
        answering("synthesize", "Who?", lambda m: [m.unit_node]),
    ),
    "LongReaderSynthesizer, of texts": Component(
        lambda _: synthesizer(), pair("get_response", "Who?", lambda m: [m.text])
    ),
    "PositionAnnotator": Component(
        lambda m: llamaindex_oprag.PositionAnnotator(m.parsed),
        {
            "__call__": lambda c, m: c(in_order(m)),
            "acall": lambda c, m: c.acall(in_order(m)),
        },
    ),
    "OrderPreservingRetrieverTool": Component(
        tool,
        {
            "__call__": lambda c, m: c("Who?").content,
            "call": lambda c, m: c.call("Who?").content,
            "acall": lambda c, m: content(c.acall("Who?")),
        },
    ),
    "index_documents": Component(
        lambda _: llamaindex_oprag,
        {
            name: lambda c, m, name=name: getattr(c, name)(
                m.parsed, empty_index(), node_parser=SMALL
            )
            for name in ("index_documents", "aindex_documents")
        },
    ),
    "document_source, list": Component(
        lambda m: llamaindex_oprag.document_source(m.parsed), pair("get", NAME)
    ),
    "document_source, index": Component(
        lambda m: llamaindex_oprag.document_source(m.index),
        pair("get", NAME),
        stored=True,
    ),
}


def in_order(material: Material) -> list[Any]:
    nodes = [each.node for each in material.nodes]
    return sorted(nodes, key=attrgetter("start_char_idx"))


async def content(output: Any) -> str:
    return (await output).content
