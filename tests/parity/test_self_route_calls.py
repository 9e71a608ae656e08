"""Answers and failures of models, through Self-Route in both frameworks."""

import itertools
import threading
from typing import Any, NamedTuple

import pytest

from oprag.calls import declines, strip_reasoning
from oprag.errors import ModelCallError
from tests.calls.replies import ANSWERS, REFUSALS
from tests.calls.test_decline import REAL
from tests.kit.openai_server import Reply, ScriptedServer, Usage
from tests.kit.words import words
from tests.langchain import routes
from tests.langchain.compat import IS_1X
from tests.llamaindex import self_routing

pytestmark = pytest.mark.slow

QUESTION = "When was the bridge built?"
REFUSAL = "Unanswerable. The text does not say so."
REPLIES = [*itertools.chain(*REFUSALS.values(), *ANSWERS.values(), dict(REAL))]
STREAMS = [(framework, way) for framework in "ci" for way in ("stream", "astream")]
WAYS = [*STREAMS, ("c", "invoke"), ("c", "ainvoke"), ("i", "query"), ("i", "aquery")]
EVERY_WAY = pytest.mark.parametrize(
    ("framework", "way"), WAYS, ids={"c": "chain", "i": "index"}.get
)
EVERY_STREAM = pytest.mark.parametrize(("framework", "way"), STREAMS)


class Answered(NamedTuple):
    answer: str
    route: dict[str, Any]
    steps: list[dict[str, Any]]


async def asked(
    framework: str, way: str, server: ScriptedServer, **options: Any
) -> Answered:
    if framework == "c":
        found = await routes.ask(routes.chain_of(server, **options), way=way)
        return Answered(found["answer"], found["route"], found["usage"]["steps"])
    if "decline" in options:
        options["llm"] = self_routing.scripted_llm(
            server, streaming=way.endswith("stream"), is_function_calling_model=True
        )
    response = await self_routing.ask(server, way, **options)
    return Answered(response.answer or "", response.route, response.usage["steps"])


def answering(*replies: Any) -> Any:
    """Answer one request after another, as many as there are."""
    left = iter(replies)
    return lambda _: next(left)


@pytest.mark.parametrize(("number", "case"), [*enumerate(WAYS)])
async def test_no_refusal_is_shown_and_no_answer_lost(number, case):
    """How replies are judged, however they are cut, is tested in `tests/routing`."""
    for reply in REPLIES[number :: 10 * len(WAYS)]:
        with ScriptedServer(answering(reply, "In 1912.")) as server:
            found = await asked(*case, server)

        refused = declines(reply)
        assert found.answer == ("In 1912." if refused else strip_reasoning(reply)), (
            reply
        )
        step = "full" if refused else "retrieved"
        assert found.route == {"step": step, "answered": True}, reply


@EVERY_WAY
async def test_each_step_can_have_a_model_and_reports_its_tokens_or_they_are_counted(
    framework, way
):
    first = Reply(REFUSAL, usage=Usage(100, 7, cached_tokens=64))
    second = Reply("In 1912.", reports_usage=False)
    with ScriptedServer([first]) as server, ScriptedServer([second]) as large:
        if framework == "c":
            model: Any = routes.chat_model(large, model="large")
        else:
            model = self_routing.scripted_llm(large, streaming=way.endswith("stream"))
        found = await asked(framework, way, server, step_llms={"full": model})

    (request,) = large.requests
    keys = ("input_tokens", "cached_tokens", "output_tokens", "estimated")
    assert [[step[key] for key in keys] for step in found.steps] == [
        [100, 64, 7, False],
        [words(request.prompt) + 7, 0, 2, True],
    ]
    assert found.steps[1]["model"] == request.body["model"]


@EVERY_STREAM
async def test_a_refusal_is_read_to_its_end(framework, way):
    """What it took is reported there alone."""
    refusal = REFUSAL + " It tells of the river" * 20
    with ScriptedServer([refusal, "In 1912."]) as server:
        found = await asked(framework, way, server)

    assert [step["output_tokens"] for step in found.steps] == [words(refusal), 2]
    assert not any(step["estimated"] for step in found.steps)


@EVERY_STREAM
@pytest.mark.parametrize(
    "script",
    [
        [Reply(deltas=["Unanswer"], unfinished=True)],
        [Reply(unfinished=True)],
        [REFUSAL, Reply(deltas=["In", " M"], unfinished=True)],
    ],
)
async def test_a_stream_that_is_closed_without_a_reason_fails_the_step(
    framework, way, script
):
    if framework == "c" and not IS_1X:
        pytest.skip("messages of LangChain 0.3 do not say which protocol they came by")
    with (
        ScriptedServer(script) as server,
        pytest.raises(ModelCallError, match="broken off") as caught,
    ):
        await asked(framework, way, server)

    assert isinstance(caught.value.__cause__, ConnectionError)
    failed, begun = caught.value.usage["steps"][-1], script[-1].deltas
    sent = words(server.requests[-1].prompt) + 7 if begun else 0
    assert (failed["decision"], failed["input_tokens"]) == ("failed", sent)
    assert failed["seconds"] > 0
    assert len(server.requests) == len(script)


@pytest.mark.parametrize("framework", ["c", "i"])
@pytest.mark.parametrize("broken", [False, True])
async def test_an_answer_is_shown_while_the_model_is_still_writing(framework, broken):
    gate = threading.Event()
    held = [gate] if broken else [gate, "In 1912."]
    reply = Reply(deltas=["It was. It", " is.", " ", *held], broken=broken)
    with ScriptedServer([reply]) as server:
        if framework == "c":
            pieces = routes.chain_of(server).astream(QUESTION)
        else:
            engine = self_routing.engine_over(server, streaming=True)
            pieces = (await engine.aquery(QUESTION)).async_response_gen()
        seen = ""
        while "It was. It is." not in seen:
            seen += text_of(await anext(pieces))
        gate.set()
        if broken:
            with pytest.raises(ModelCallError):
                [piece async for piece in pieces]
        else:
            seen += "".join([text_of(piece) async for piece in pieces])
            assert seen == "It was. It is. In 1912."


def text_of(piece: Any) -> str:
    return piece.get("answer", "") if isinstance(piece, dict) else piece
