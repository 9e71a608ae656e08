"""Streams: right from the first character, early, and drained after a refusal."""

from tests.kit.openai_server import Reply, scripted_server
from tests.langchain.routes import BOOK, QUESTION, REFUSAL, chain_of, deltas

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
