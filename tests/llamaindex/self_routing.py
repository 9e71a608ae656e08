"""An engine over a scripted server, asked in every way there is."""

from typing import Any, NamedTuple

from llama_index.core.llms import LLM
from llama_index.llms.openai_like import OpenAILike

from llamaindex_oprag.self_route import SelfRouteQueryEngine
from tests.kit.openai_server import ScriptedServer
from tests.kit.words import words
from tests.llamaindex.corpus import QUESTION, TEXT, index

WAYS = ("query", "aquery", "stream", "astream")
DOCUMENTS = {"lease.txt": TEXT}
REFUSAL = "Unanswerable. The text does not say."


class Asked(NamedTuple):
    """The response."""

    answer: str
    pieces: list[str]
    """As they were streamed; the whole answer where it was not."""
    route: dict[str, Any]
    usage: dict[str, Any]
    """Without the times."""
    nodes: list[Any]
    metadata: dict[str, Any]

    @property
    def decisions(self) -> list[tuple[str, str]]:
        return [(step["step"], step["decision"]) for step in self.usage["steps"]]


def scripted_llm(
    server: ScriptedServer, *, streaming: bool = False, **options: Any
) -> LLM:
    reported = {"stream_options": {"include_usage": True}} if streaming else {}
    settings: dict[str, Any] = {
        "max_retries": 0,
        "is_chat_model": True,
        "additional_kwargs": reported,
        **options,
    }
    return OpenAILike(
        model="scripted", api_base=server.base_url, api_key="none", **settings
    )


def engine_over(
    server: ScriptedServer, *, k: int = 3, streaming: bool = False, **options: Any
) -> SelfRouteQueryEngine:
    """An engine over the lease; tokens are words, as the server counts them."""
    llm = options.pop("llm", None) or scripted_llm(server, streaming=streaming)
    retriever = options.pop("retriever", None)
    settings = {"documents": DOCUMENTS, "token_counter": words, **options}
    return SelfRouteQueryEngine.from_args(
        retriever or index().as_retriever(similarity_top_k=k),
        llm,
        streaming=streaming,
        **settings,
    )


async def ask(
    server: ScriptedServer, way: str, question: Any = QUESTION, **options: Any
) -> Asked:
    """Make an engine and ask it one question."""
    engine = engine_over(server, streaming=way.endswith("stream"), **options)
    return await ask_engine(engine, way, question)


async def ask_engine(
    engine: SelfRouteQueryEngine, way: str, question: Any = QUESTION
) -> Asked:
    """Ask an engine; streams are read piece by piece."""
    streaming = way.endswith("stream")
    engine._response_synthesizer._streaming = streaming  # as chat engines do
    if way in ("query", "stream"):
        response: Any = engine.query(question)
        pieces = list(response.response_gen) if way == "stream" else [str(response)]
    else:
        response = await engine.aquery(question)
        pieces = [str(response)] if way == "aquery" else []
        if way == "astream":
            pieces = [piece async for piece in response.async_response_gen()]
    answer = "".join(pieces) if streaming else response.response
    usage = dict(response.metadata["usage"])
    del usage["seconds"]
    for step in usage["steps"]:
        del step["seconds"]
    return Asked(
        answer,
        pieces,
        response.metadata["route"],
        usage,
        response.source_nodes,
        response.metadata,
    )
