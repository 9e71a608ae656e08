"""What goes wrong: an error that says so, never a silent refusal."""

from __future__ import annotations

import asyncio
import pickle
from typing import Any

import openai
import pytest
from llama_index.core.schema import NodeWithScore

from oprag.errors import (
    ContextWindowError,
    DocumentNotFoundError,
    MissingPositionError,
    ModelCallError,
)
from tests.llamaindex.corpus import QUESTION, TEXT, index, scored
from tests.llamaindex.self_routing import (
    REFUSAL,
    WAYS,
    ask,
    ask_engine,
    engine_over,
    scripted_llm,
)
from tests.support.openai_server import (
    Failure,
    Reply,
    ScriptedServer,
    context_overflow,
    rate_limited,
    server_error,
)

pytestmark = pytest.mark.slow

TEXTS = {"lease.txt": TEXT, "other.txt": "Something else."}
every_way = pytest.mark.parametrize("way", WAYS)


class Retrieved:
    """What a retriever returns, whatever the question."""

    def __new__(cls, *nodes: NodeWithScore) -> Any:
        from llama_index.core.base.base_retriever import BaseRetriever

        class Fixed(BaseRetriever):
            def _retrieve(self, query_bundle: Any) -> list[NodeWithScore]:
                return list(nodes)

        return Fixed()


@every_way
class TestTheModelFails:
    async def test_for_a_moment_and_the_client_tries_again(self, way):
        streaming = way.endswith("stream")
        script = [rate_limited(0.001), REFUSAL, server_error(), "In May."]
        with ScriptedServer(script) as server:
            llm = scripted_llm(server, streaming=streaming, max_retries=2)
            asked = await ask(server, way, llm=llm)

        assert asked.answer == "In May."
        assert asked.decisions == [("retrieved", "declined"), ("full", "answered")]
        assert len(server.requests) == 4

    async def test_for_good_on_the_last_rung(self, way):
        with (
            ScriptedServer([Reply(REFUSAL), Failure(403, "not allowed")]) as server,
            pytest.raises(
                ModelCallError, match="'full' after refusing at 'retrieved'"
            ) as e,
        ):
            await ask(server, way)

        assert isinstance(e.value.__cause__, openai.PermissionDeniedError)
        assert e.value.call == "full"
        first, second = e.value.usage["rungs"]
        assert (first["decision"], second["decision"]) == ("declined", "failed")
        assert first["input_tokens"] > 0
        assert "not allowed" in str(e.value)
        assert pickle.loads(pickle.dumps(e.value)).usage == e.value.usage  # noqa: S301 -- our own

    async def test_by_not_answering_in_time(self, way):
        streaming = way.endswith("stream")
        with ScriptedServer([REFUSAL, Reply("late", delay=5.0)]) as server:
            llm = scripted_llm(server, streaming=streaming, timeout=0.5)
            with pytest.raises(ModelCallError) as error:
                await ask(server, way, llm=llm)

        assert isinstance(error.value.__cause__, openai.APITimeoutError)

    async def test_in_the_middle_of_a_reply(self, way):
        broken = Reply(deltas=["In", " M"], broken=True)
        with (
            ScriptedServer([REFUSAL, broken]) as server,
            pytest.raises(ModelCallError, match="'full'"),
        ):
            await ask(server, way)

    async def test_by_closing_the_stream_without_a_reason(self, way):
        cut = Reply(deltas=["In", " M"], unfinished=True)
        with ScriptedServer([REFUSAL, cut]) as server:
            if not way.endswith("stream"):  # a whole reply is whole
                assert (await ask(server, way)).answer == "In M"
                return
            with pytest.raises(ModelCallError, match="broken off") as error:
                await ask(server, way)

        assert isinstance(error.value.__cause__, ConnectionError)

    async def test_because_the_prompt_is_too_long(self, way):
        with (
            ScriptedServer([REFUSAL, context_overflow(4096, 5000)]) as server,
            pytest.raises(ContextWindowError, match="max_context_tokens=") as error,
        ):
            await ask(server, way)

        assert error.value.window is None
        assert isinstance(error.value.__cause__, ModelCallError)
        assert error.value.__cause__.usage["rungs"][0]["decision"] == "declined"
        assert isinstance(error.value.__cause__.__cause__, openai.BadRequestError)


@every_way
class TestNothingToRead:
    async def test_nothing_retrieved(self, way):
        with ScriptedServer([]) as server:
            asked = await ask(server, way, retriever=Retrieved(), documents=TEXTS)

        assert asked.answer == "".join(asked.pieces) == "Empty Response"
        assert asked.route == {"rung": None, "answered": False}
        assert asked.decisions == [("retrieved", "skipped"), ("full", "skipped")]
        assert asked.nodes == []


@every_way
class TestWrongIndexes:
    async def test_a_missing_document(self, way):
        with (
            ScriptedServer([REFUSAL]) as server,
            pytest.raises(DocumentNotFoundError, match=r"'lease\.txt'") as error,
        ):
            await ask(server, way, documents={"other.txt": TEXT})

        assert error.value.document == "lease.txt"
        assert len(server.requests) == 1

    @pytest.mark.filterwarnings("ignore::oprag.errors.PositionWarning")
    async def test_a_chunk_without_a_position(self, way):
        nodes = [scored("a", doc="lease.txt"), scored("b", doc="lease.txt")]
        with ScriptedServer(["yes"]) as server:
            with pytest.raises(MissingPositionError):
                await ask(server, way, retriever=Retrieved(*nodes))
            asked = await ask(
                server, way, retriever=Retrieved(*nodes), on_problem="warn"
            )

        assert asked.answer == "yes"


async def arrival(server: ScriptedServer) -> None:
    """Wait until a request has come, which a blocked loop would never see."""
    for _ in range(500):
        if server.requests:
            return
        await asyncio.sleep(0.01)
    pytest.fail("no request came")


class TestAsyncCode:
    @pytest.mark.parametrize("way", ["aquery", "astream"])
    async def test_a_cancelled_task_asks_no_more(self, way):
        replies = [Reply(REFUSAL, delay=5.0), "In May."]
        with ScriptedServer(replies) as server:
            task = asyncio.create_task(ask(server, way))
            await arrival(server)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task

        assert len(server.requests) == 1

    async def test_questions_asked_at_once_do_not_mix(self):
        def answer(request: Any) -> str:
            number = request.prompt.split("Question: number ")[1].split("\n")[0]
            return f"full {number}" if TEXT in request.prompt else REFUSAL

        with ScriptedServer(answer) as server:
            retriever = index().as_retriever(similarity_top_k=3)
            engine = engine_over(server, retriever=retriever)
            queries = [engine.aquery(f"number {i}") for i in range(6)]
            responses: list[Any] = await asyncio.gather(*queries)

        assert [str(response) for response in responses] == [
            f"full {i}" for i in range(6)
        ]
        for response in responses:
            assert response.metadata["usage"]["model_calls"] == 2


async def test_an_async_function_of_documents_needs_async_code():
    async def find(name: str) -> str:
        return {"lease.txt": TEXT}[name]

    with ScriptedServer([REFUSAL, "In May.", REFUSAL]) as server:
        engine = engine_over(server, documents=find)
        asked = await ask_engine(engine, "aquery")
        with pytest.raises(ValueError, match="async"):
            engine.query(QUESTION)

    assert asked.answer == "In May."
