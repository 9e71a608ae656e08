"""Streams: right from the first character, early, and drained after a refusal."""

from typing import Any

import pytest
from langchain_core.callbacks import BaseCallbackHandler

from tests.kit.openai_server import Reply, scripted_server
from tests.langchain.routes import BOOK, QUESTION, REFUSAL, chain_of, deltas, summed

__all__ = ["scripted_server"]


def test_the_pieces_come_in_the_order_of_the_output(scripted_server):
    server = scripted_server([REFUSAL, Reply(deltas=["In ", "19", "12."])])

    pieces = list(chain_of(server).stream(QUESTION))

    assert [list(piece) for piece in pieces] == [
        ["input"],
        ["context"],
        ["answer"],
        ["answer"],
        ["answer"],
        ["route"],
        ["usage"],
    ]
    assert deltas(pieces) == ["In ", "19", "12."]
    assert pieces[1]["context"][0].page_content == BOOK


class Ends(BaseCallbackHandler):
    """Remembers how each model call ended, and the usage that it reported."""

    def __init__(self) -> None:
        self.ended: list[Any] = []

    def on_llm_end(self, response, **kwargs):
        message = response.generations[0][0].message
        self.ended.append(message.usage_metadata["total_tokens"])

    def on_llm_error(self, error, **kwargs):
        self.ended.append(type(error).__name__)


@pytest.mark.parametrize("awaited", [False, True])
async def test_after_a_refusal_the_reply_is_read_to_its_end(scripted_server, awaited):
    long_winded = REFUSAL + " It tells of the river" * 20
    server = scripted_server([long_winded, "In 1912."])
    ends = Ends()
    config = {"callbacks": [ends]}

    chain = chain_of(server)
    if awaited:
        pieces = [piece async for piece in chain.astream(QUESTION, config)]
    else:
        pieces = list(chain.stream(QUESTION, config))

    first, second = summed(pieces)["usage"]["rungs"]
    assert first["output_tokens"] == len(long_winded.split())
    assert not first["estimated"]
    assert ends.ended == [
        rung["input_tokens"] + rung["output_tokens"] for rung in (first, second)
    ]
