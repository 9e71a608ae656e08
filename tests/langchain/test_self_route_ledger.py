"""The account says what the server reported; nothing is read for it."""

import pytest
from langchain_core.messages import AIMessage

from tests.langchain.recording import RecordingChatModel
from tests.langchain.routes import BOOK, REFUSAL, WAYS, ask, chain_of, timeless
from tests.support.openai_server import Reply, Usage, count_words, scripted_server

__all__ = ["scripted_server"]


async def test_every_way_of_asking_gives_the_same_answer_route_and_ledger(
    scripted_server,
):
    script = [
        Reply(REFUSAL, usage=Usage(900, 12, cached_tokens=100)),
        Reply("In 1912.", usage=Usage(7000, 5, cached_tokens=6400)),
    ]
    prices = {"cheap": (2.0, 0.5, 8.0)}

    results = [
        await ask(chain_of(scripted_server(script), prices=prices), way=way)
        for way in WAYS
    ]

    for result in results:
        assert result["answer"] == results[0]["answer"]
        assert result["route"] == results[0]["route"]
        assert result["context"] == results[0]["context"]
        assert timeless(result["usage"]) == timeless(results[0]["usage"])
    usage = results[0]["usage"]
    assert usage["input_tokens"] == 900 + 7000
    assert usage["cached_tokens"] == 100 + 6400
    assert usage["output_tokens"] == 12 + 5
    assert usage["estimated"] is False
    assert usage["model_calls"] == 2
    # (800·2 + 100·0.5 + 12·8 + 600·2 + 6400·0.5 + 5·8) / 10⁶
    assert usage["cost"] == pytest.approx(
        (1600 + 50 + 96 + 1200 + 3200 + 40) / 1_000_000
    )


@pytest.mark.parametrize("way", WAYS)
async def test_the_ledger_equals_what_the_server_counted(scripted_server, way):
    server = scripted_server([REFUSAL, "In 1912."])

    result = await ask(chain_of(server), way=way)

    prompts = [count_words(request.prompt) for request in server.requests]
    rungs = result["usage"]["rungs"]
    assert [rung["input_tokens"] for rung in rungs] == prompts
    assert [rung["output_tokens"] for rung in rungs] == [count_words(REFUSAL), 2]
    assert [rung["estimated"] for rung in rungs] == [False, False]
    assert result["usage"]["input_tokens"] == sum(prompts)


@pytest.mark.parametrize("way", WAYS)
async def test_what_is_not_reported_is_counted_and_marked(scripted_server, way):
    server = scripted_server([Reply("In 1912.", reports_usage=False)])

    result = await ask(chain_of(server), way=way)

    (rung,) = result["usage"]["rungs"]
    # 7 for the format of one message.
    assert rung["input_tokens"] == count_words(server.requests[0].prompt) + 7
    assert rung["output_tokens"] == 2
    assert rung["estimated"] is True


@pytest.mark.parametrize("way", WAYS)
async def test_full_documents_are_not_read_where_the_first_rung_answered(
    scripted_server, way
):
    server = scripted_server(["In 1912.", REFUSAL, "In 1912."])
    read = []
    chain = chain_of(server, documents=lambda name: read.append(name) or BOOK)

    assert (await ask(chain, way=way))["route"]["rung"] == "retrieved"
    assert read == []

    assert (await ask(chain, way=way))["route"]["rung"] == "full"
    assert read == ["book.txt"]


class NamedModel(RecordingChatModel):
    """Its provider reports a longer name than the user gave."""

    model_name: str = "short"


@pytest.mark.parametrize("name", ["short", "short-2026-11-01"])
async def test_prices_name_the_model_as_the_user_or_the_provider_does(
    scripted_server, name
):
    reported = {"model_name": "short-2026-11-01"}
    model = NamedModel(replies=[AIMessage("In 1912.", response_metadata=reported)])
    chain = chain_of(scripted_server([]), llm=model.with_config(tags=["mine"]))
    chain.prices = {name: (1.0, 1.0, 1.0)}

    usage = (await ask(chain))["usage"]

    assert usage["rungs"][0]["model"] == name
    assert usage["cost"] is not None


async def test_time_is_kept_of_every_call(scripted_server):
    server = scripted_server([Reply(REFUSAL, delay=0.1), "In 1912."])

    usage = (await ask(chain_of(server)))["usage"]

    first, second = (rung["seconds"] for rung in usage["rungs"])
    assert first >= 0.1 > second
    assert usage["seconds"] == pytest.approx(first + second)
