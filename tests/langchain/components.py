"""Every component of the adapter, over a text of any length, in every way of asking."""

import functools
import operator
from collections.abc import AsyncIterator
from typing import Any

from langchain_core.documents import Document
from langchain_core.language_models import FakeListChatModel
from langchain_core.messages import AIMessage, ToolMessage

import langchain_oprag
from tests.kit.material import REFUSAL, Component, Material, empty_store, pair
from tests.langchain.corpus import ListRetriever
from tests.langchain.recording import StreamingChatModel

VECTOR = [0.1, 0.2, 0.3, 0.4]


class Reader(StreamingChatModel):
    """Declines where it may, unless it is given a full document."""

    def reply(self, messages: Any) -> AIMessage:
        text = str(messages[-1].content)
        declines = REFUSAL in text and "Document: " not in text
        return AIMessage(REFUSAL if declines else "In 1912.")


def retriever(material: Material, **options: Any) -> Any:
    base = ListRetriever(documents=material.chunks)
    return langchain_oprag.OrderPreservingRetriever(
        base_retriever=base, **{"token_budget": 50_000, **options}
    )


def over(store: Any, **options: Any) -> Any:
    return langchain_oprag.OrderPreservingRetriever(
        vectorstore=store, **{"token_budget": 300_000, **options}
    )


def over_a_store(material: Material, **options: Any) -> Any:
    return over(material.store, **options)


def vector_store(material: Material) -> Any:
    return langchain_oprag.OrderPreservingVectorStore(material.store, k=300)


def new_store(_: Material) -> Any:
    return langchain_oprag.OrderPreservingVectorStore(empty_store())


def compressor(**options: Any) -> Any:
    return langchain_oprag.OrderPreservingCompressor(token_budget=200_000, **options)


def long_units(material: Material, **base: Any) -> Any:
    searched = base or {"base_retriever": ListRetriever(documents=material.chunks)}
    return langchain_oprag.LongUnitRetriever(
        **searched, units=material.units, documents=material.unit_texts
    )


def chain(material: Material, **options: Any) -> Any:
    defaults = {
        "retriever": ListRetriever(documents=material.chunks),
        "documents": material.texts,
        "steps": [2_000, "full"],
    }
    return langchain_oprag.SelfRouteChain(llm=Reader(), **{**defaults, **options})


def stored_chain(material: Material) -> Any:
    store = material.store
    return chain(material, retriever=store.as_retriever(), documents=store)


def long_reader(material: Material) -> Any:
    return langchain_oprag.LongReader(
        llm=Reader(),
        retriever=ListRetriever(documents=[material.unit]),
        max_context_tokens=10**7,
    )


def summed(pieces: list[Any]) -> Any:
    return functools.reduce(operator.add, pieces)


async def read(pieces: AsyncIterator[Any]) -> list[Any]:
    return [piece async for piece in pieces]


async def asum(pieces: AsyncIterator[Any]) -> Any:
    return summed(await read(pieces))


def runnable(asked: Any) -> dict[str, Any]:
    """All ways in which LangChain asks: a question, or a function of the material."""

    def of(m: Material) -> Any:
        return asked(m) if callable(asked) else asked

    async def only(m: Material) -> AsyncIterator[Any]:
        yield of(m)

    async def abatch(c: Any, m: Material) -> Any:
        return (await c.abatch([of(m), of(m)]))[0]

    async def as_completed(c: Any, m: Material) -> Any:
        return (await read(c.abatch_as_completed([of(m)])))[0][1]

    async def events(c: Any, m: Material) -> Any:
        found = await read(c.astream_events(of(m), version="v2"))
        return found[-1]["data"]["output"]

    return {
        "invoke": lambda c, m: c.invoke(of(m)),
        "ainvoke": lambda c, m: c.ainvoke(of(m)),
        "stream": lambda c, m: summed(list(c.stream(of(m)))),
        "astream": lambda c, m: asum(c.astream(of(m))),
        "batch": lambda c, m: c.batch([of(m), of(m)])[0],
        "abatch": abatch,
        "batch_as_completed": lambda c, m: next(iter(c.batch_as_completed([of(m)])))[1],
        "abatch_as_completed": as_completed,
        "transform": lambda c, m: summed(list(c.transform(iter([of(m)])))),
        "atransform": lambda c, m: asum(c.atransform(only(m))),
        "astream_events": events,
    }


def model_call(material: Material) -> Any:
    from langchain.agents.middleware import ModelRequest

    content = "\n\n".join(each.page_content for each in material.chunks)
    found = ToolMessage(content, artifact=material.chunks, tool_call_id="1")
    return ModelRequest(
        model=FakeListChatModel(responses=["In 1912."]), messages=[found, found]
    )


def handler(request: Any) -> Any:
    from langchain.agents.middleware import ModelResponse

    return ModelResponse(result=request.messages)


async def ahandler(request: Any) -> Any:
    return handler(request)


QUESTION = {"input": "Who?"}
BUILT = {"input": "Who built the harbour?"}
RUNNABLES = {
    "OrderPreservingRetriever": Component(retriever, runnable("Who?")),
    "LongUnitRetriever": Component(long_units, runnable("Who?")),
    "SelfRouteChain": Component(chain, runnable(QUESTION)),
    "LongReader": Component(long_reader, runnable(QUESTION)),
    "OrderPreservingCompressor": Component(
        lambda _: compressor(), runnable(lambda m: m.chunks)
    ),
}
_ASK = pair("invoke", "Who?")
_VERIFY = pair("verify", None)
COMPONENTS = {
    **RUNNABLES,
    "OrderPreservingRetriever, recall": Component(
        lambda m: retriever(m, selection="recall", token_budget=20_000), _ASK
    ),
    "OrderPreservingRetriever, gaps": Component(
        lambda m: retriever(m, merge=True, documents=m.texts), _ASK
    ),
    "OrderPreservingRetriever, a store": Component(over_a_store, _ASK, stored=True),
    "OrderPreservingRetriever, words of a store": Component(
        lambda m: over_a_store(m, bm25=True),
        pair("invoke", BUILT["input"]),
        stored=True,
    ),
    "OrderPreservingRetriever, verified": Component(
        lambda m: over_a_store(m, token_budget=None), _VERIFY, stored=True
    ),
    "LongUnitRetriever, verified": Component(
        lambda m: long_units(m, vectorstore=m.store), _VERIFY, stored=True
    ),
    "OrderPreservingCompressor, as LangChain calls it": Component(
        lambda _: compressor(),
        {
            **pair("compress_documents", lambda m: m.chunks, "Who?"),
            **pair("transform_documents", lambda m: m.chunks),
            "__call__": lambda c, m: c(m.chunks),
        },
    ),
    "OrderPreservingCompressor, located": Component(
        lambda m: compressor(documents=m.texts),
        pair("compress_documents", lambda m: m.bare, "Who?"),
    ),
    **{
        f"OrderPreservingVectorStore, {name}": Component(
            vector_store, pair(name, *given), stored=True
        )
        for name, given in {
            "similarity_search": ("Who?",),
            "similarity_search_with_score": ("Who?",),
            "similarity_search_by_vector": (VECTOR,),
            "max_marginal_relevance_search": ("Who?", 4),
            "max_marginal_relevance_search_by_vector": (VECTOR, 4),
            "search": ("Who?", "similarity"),
        }.items()
    },
    "OrderPreservingCompressor, verified": Component(
        lambda _: compressor(), pair("verify", lambda m: m.store, None), stored=True
    ),
    "LongReader, verified": Component(
        lambda m: langchain_oprag.LongReader(
            llm=Reader(), retriever=m.store.as_retriever()
        ),
        _VERIFY,
        stored=True,
    ),
    "OrderPreservingVectorStore, verified": Component(
        vector_store, _VERIFY, stored=True
    ),
    **{
        f"OrderPreservingVectorStore, {name}": Component(
            new_store, pair(name, given, ids=["1"])
        )
        for name, given in {
            "add_documents": lambda m: m.chunks[:1],
            "add_texts": lambda m: [m.text],
        }.items()
    },
    **{
        f"{name}, add_documents": Component(
            new, pair("add_documents", lambda m: m.chunks[:1], ids=["1"])
        )
        for name, new in {
            "OrderPreservingRetriever": lambda _: over(empty_store()),
            "LongUnitRetriever": lambda m: long_units(m, vectorstore=empty_store()),
        }.items()
    },
    **{
        f"OrderPreservingVectorStore, {name}": Component(
            vector_store, pair(name, lambda m: [*m.store.store][:1]), stored=True
        )
        for name in ("get_by_ids", "delete")
    },
    "EvidenceMiddleware": Component(
        lambda _: langchain_oprag.EvidenceMiddleware(token_budget=100_000),
        {
            "wrap_model_call": lambda c, m: c.wrap_model_call(model_call(m), handler),
            "awrap_model_call": lambda c, m: c.awrap_model_call(
                model_call(m), ahandler
            ),
        },
    ),
    "SelfRouteChain, whole": Component(
        lambda m: chain(m, steps=["retrieved", "full"]), pair("invoke", QUESTION)
    ),
    "SelfRouteChain, in a window": Component(
        lambda m: chain(m, max_context_tokens=10**6), pair("invoke", QUESTION)
    ),
    "SelfRouteChain, cut in order": Component(
        lambda m: chain(m, max_context_tokens=60_000), pair("invoke", QUESTION)
    ),
    "SelfRouteChain, all chunks": Component(
        lambda m: chain(m, steps=["retrieved"], max_context_tokens=10**6),
        pair("invoke", QUESTION),
    ),
    "SelfRouteChain, document of a store": Component(
        stored_chain, pair("invoke", QUESTION), stored=True
    ),
    "SelfRouteChain, verified": Component(stored_chain, _VERIFY, stored=True),
    "SelfRouteChain, long conversation": Component(
        lambda m: chain(
            m, retriever=ListRetriever(documents=m.chunks[:3]), steps=["retrieved"]
        ),
        {
            name: lambda c, m, name=name: getattr(c, name)(
                {**QUESTION, "chat_history": [("user", m.text)]}
            )
            for name in ("invoke", "ainvoke")
        },
    ),
    "LongReader, given": Component(
        long_reader,
        {
            name: lambda c, m, name=name: getattr(c, name)(
                {**QUESTION, "context": [m.unit]}
            )
            for name in ("invoke", "ainvoke")
        },
    ),
    **{
        name: Component(
            lambda _, name=name: getattr(langchain_oprag, name)(),
            {
                **pair("transform_documents", lambda m: [m.unit]),
                "split_documents": lambda c, m: c.split_documents(iter([m.unit])),
                "create_documents": lambda c, m: c.create_documents(
                    [m.text], [m.unit.metadata]
                ),
            },
        )
        for name in ("OffsetTokenSplitter", "OffsetSentenceSplitter")
    },
    "OffsetSentenceSplitter, a long run of blanks": Component(
        lambda _: langchain_oprag.OffsetSentenceSplitter(),
        pair(
            "transform_documents",
            lambda m: [Document(f"{m.text[:500]}{' ' * (len(m.text) // 20)}End.")],
        ),
    ),
    "create_retrieval_tool": Component(
        lambda m: langchain_oprag.create_retrieval_tool(
            ListRetriever(documents=m.chunks), token_budget=50_000
        ),
        pair("invoke", {"query": "Who?"}),
    ),
    "index_documents": Component(
        lambda _: langchain_oprag,
        {
            "index_documents": lambda c, m: c.index_documents([m.unit], empty_store()),
            "aindex_documents": lambda c, m: c.aindex_documents(
                [m.unit], empty_store()
            ),
        },
    ),
    "document_source, mapping": Component(
        lambda m: langchain_oprag.document_source(m.texts), pair("get", "book.txt")
    ),
    "document_source, list": Component(
        lambda m: langchain_oprag.document_source([m.unit]), pair("get", "book.txt")
    ),
    "document_source, store": Component(
        lambda m: langchain_oprag.document_source(m.store),
        pair("get", "book.txt"),
        stored=True,
    ),
}
