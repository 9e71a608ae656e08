"""In every place of the list the model reads the retrieved nodes in order, or not."""

from collections.abc import Iterator
from typing import Any

import pytest
from llama_index.core import Settings
from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.llms import ChatMessage
from llama_index.core.node_parser import SentenceWindowNodeParser
from llama_index.core.query_engine import RetrieverQueryEngine

from oprag.errors import PositionError
from tests.kit.app_places import LLAMAINDEX, Place
from tests.kit.openai_server import Reply, ScriptedServer, ToolCall
from tests.llamaindex.corpus import QUESTION, TEXT, document, index, numbers
from tests.llamaindex.places.ingredients import ingredients
from tests.llamaindex.recording import RecordingLLM

# LlamaIndex's agents use what pydantic and its own workflows deprecate.
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")
MODES = {
    "response-modes": [
        *("compact", "refine", "tree_summarize", "accumulate"),
        *("compact_accumulate", "simple_summarize", "context_only"),
    ],
    "chat-modes": ["context", "condense_plus_context", "condense_question", "best"],
}
WAYS = {
    "response-modes": ["query"],
    "chat-modes": ["chat", "astream_chat"],
    "function-agent": ["run"],
    "agent-workflow": ["run"],
    "react-agent": ["run"],
    "workflow-merge": ["run"],
}


def cases() -> Iterator[Any]:
    for place in LLAMAINDEX:
        for mode in MODES.get(place.id, [None]):
            for way in WAYS.get(place.id, ["query", "aquery"]):
                name = "-".join(each for each in (place.id, mode, way) if each)
                yield pytest.param(place, mode, way, id=name)


async def read(place: Place, mode: str | None, way: str, *, oprag: bool) -> list[int]:
    """Numbers of the clauses as the model read them."""
    names = {**ingredients(oprag=oprag), "mode": mode}
    if place.id in ("function-agent", "agent-workflow"):
        return await over_the_wire(place, names)
    if place.id == "windows":
        names["retriever"] = windows()
    built = eval(place.how, dict(names))  # noqa: S307 -- our own list
    if place.id == "chat-modes":
        await chatted(built, names, way)
    elif place.id == "react-agent":
        names["llm"].replies = REASONED
        assert str(await built.run(QUESTION)) == "Yes."
    elif place.id == "workflow-merge":
        await built.run(question=QUESTION)
    else:
        answer = await asked(built, names, way)
        if place.id == "windows":
            return first_of_each_window(sent(names))
        return numbers(sent(names) or answer)  # one mode asks no model
    return numbers(sent(names))


def sent(names: dict[str, Any]) -> str:
    """All prompts of the answering model, one after another."""
    return "\n\n".join(names["llm"].prompts)


async def asked(built: Any, names: dict[str, Any], way: str) -> str:
    """Ask an engine; a retriever or a list of postprocessors gets one around it."""
    engine = built
    if isinstance(built, BaseRetriever):
        engine = RetrieverQueryEngine.from_args(built, llm=names["llm"])
    elif isinstance(built, list):
        engine = RetrieverQueryEngine.from_args(
            names["retriever"], llm=names["llm"], node_postprocessors=built
        )
    response = getattr(engine, way)(QUESTION)
    return str(response if way == "query" else await response)


def windows() -> BaseRetriever:
    parser = SentenceWindowNodeParser.from_defaults(window_size=1)
    lease = index(document(text=TEXT.replace("\n\n", " ")), parser=parser)
    return lease.as_retriever(similarity_top_k=10)


def first_of_each_window(text: str) -> list[int]:
    """Windows overlap, so what tells their order is where each begins."""
    found = [numbers(block) for block in text.split("\n\n")]
    assert sum(len(window) == 3 for window in found) == 10
    return [window[0] for window in found if window]


async def chatted(engine: Any, names: dict[str, Any], call: str) -> None:
    """The model repeats the question: where it condenses one, and as its answer."""
    names["llm"].replies = [QUESTION]
    history = [ChatMessage("Hello."), ChatMessage("Hello!", role="assistant")]
    response = getattr(engine, call)(QUESTION, chat_history=history)
    if call == "astream_chat":
        response = await response
        answer = "".join([delta async for delta in response.async_response_gen()])
    else:
        answer = str(response)
    assert answer == QUESTION


REASONED = [
    f'Thought: Search.\nAction: search\nAction Input: {{"input": "{QUESTION}"}}\n',
    "Thought: I can answer without using any more tools.\nAnswer: Yes.",
]


async def over_the_wire(place: Place, names: dict[str, Any]) -> list[int]:
    """A real client: its second request carries what the tool answered."""
    openai_like = pytest.importorskip("llama_index.llms.openai_like")
    call = ToolCall("search", {"input": QUESTION})
    with ScriptedServer([Reply(tool_calls=[call]), "An answer."]) as server:
        names["caller"] = openai_like.OpenAILike(
            model="scripted",
            api_base=server.base_url,
            api_key="none",
            context_window=16_000,
            is_chat_model=True,
            is_function_calling_model=True,
        )
        agent = eval(place.how, dict(names))  # noqa: S307 -- as above
        assert str(await agent.run(QUESTION)) == "An answer."
    return numbers(sent(names) or server.requests[1].prompt)


@pytest.mark.parametrize(("place", "mode", "way"), [*cases()])
async def test_the_model_reads_in_order_where_the_list_says_so(
    place, mode, way, monkeypatch
):
    # `context_only` asks no model and takes none, but looks for the default one.
    monkeypatch.setattr(Settings, "_llm", RecordingLLM())
    if place.verdict == "error":
        with pytest.raises(PositionError, match="documents="):
            await read(place, mode, way, oprag=True)
        return

    ordered = await read(place, mode, way, oprag=True)

    if place.instead:
        assert ordered != sorted(ordered)
        return
    plain = await read(place, mode, way, oprag=False)
    assert ordered == sorted(set(plain))
    assert plain != sorted(plain)
