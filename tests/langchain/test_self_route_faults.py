"""What goes wrong is said, with what was spent; it never looks like an answer."""

import openai
import pytest

from oprag.errors import ContextWindowError, ModelCallError
from tests.kit.openai_server import (
    Reply,
    context_overflow,
    scripted_server,
    server_error,
)
from tests.langchain.routes import QUESTION, REFUSAL, WAYS, ask, chain_of

pytestmark = pytest.mark.slow

__all__ = ["scripted_server"]


@pytest.mark.parametrize("way", WAYS)
async def test_a_failure_of_the_last_rung_carries_what_came_before(
    scripted_server, way
):
    server = scripted_server([REFUSAL, server_error()])

    with pytest.raises(ModelCallError, match="refusing at 'retrieved'") as caught:
        await ask(chain_of(server), way=way)

    error = caught.value
    assert error.call == "full"
    assert isinstance(error.__cause__, openai.InternalServerError)
    declined, failed = error.usage["rungs"]
    assert (declined["decision"], failed["decision"]) == ("declined", "failed")
    assert declined["input_tokens"] == len(server.requests[0].prompt.split())
    assert len(server.requests) == 2


@pytest.mark.parametrize("way", ["stream", "astream"])
@pytest.mark.parametrize(
    "script",
    [
        [Reply(deltas=["In", " M"], unfinished=True)],
        [Reply(deltas=["Unanswer"], unfinished=True)],
        [Reply(unfinished=True)],
        [REFUSAL, Reply(deltas=["In", " M"], unfinished=True)],
    ],
)
async def test_a_stream_that_is_closed_without_a_reason_fails_the_rung(
    scripted_server, way, script
):
    server = scripted_server(script)

    with pytest.raises(ModelCallError, match="broken off") as caught:
        await ask(chain_of(server), way=way)

    assert isinstance(caught.value.__cause__, ConnectionError)
    assert caught.value.usage["rungs"][-1]["decision"] == "failed"
    assert len(server.requests) == len(script)


async def streamed(chain, *, awaited):
    if awaited:
        async for piece in chain.astream(QUESTION):
            yield piece
    else:
        for piece in chain.stream(QUESTION):
            yield piece


@pytest.mark.parametrize("awaited", [False, True])
async def test_a_stream_that_breaks_off_is_an_error_after_what_was_shown(
    scripted_server, awaited
):
    server = scripted_server([Reply(deltas=["It was. It is.", " Built"], broken=True)])
    pieces = streamed(chain_of(server), awaited=awaited)

    answer = ""
    while answer != "It was. It is. Built":
        answer += (await anext(pieces)).get("answer", "")

    with pytest.raises(ModelCallError):
        await anext(pieces)


@pytest.mark.parametrize("way", WAYS)
async def test_an_overflow_of_an_unknown_window_names_the_option(scripted_server, way):
    server = scripted_server([REFUSAL, context_overflow(100, 200)])

    with pytest.raises(ContextWindowError, match="max_context_tokens=") as caught:
        await ask(chain_of(server), way=way)

    assert caught.value.window is None
    failed = caught.value.__cause__
    assert isinstance(failed, ModelCallError)
    assert failed.usage["rungs"][0]["decision"] == "declined"
    assert isinstance(failed.__cause__, openai.BadRequestError)
