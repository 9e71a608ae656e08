"""Self-Route: who answers, what it read, and what it took."""

import pytest
from langchain_openai import ChatOpenAI

from oprag.errors import InvalidOptionError
from oprag_eval.catalogue import make_system
from oprag_eval.cli.options import RunOptions
from oprag_eval.cli.run import make_evaluation
from oprag_eval.readers.chat import ChatModel
from tests.evaluation.small import (
    HARBOUR,
    Replies,
    WordVectors,
    attempt,
    set_of_four,
    words,
)
from tests.kit.openai_server import Reply, ScriptedServer, ToolCall

SPEC = "self-route:unit=words,size=10,k=2"


def attempt_of(replies: list[str], spec: str = SPEC):
    left = iter(replies)
    model = Replies(lambda _: next(left))
    found = attempt(spec, model)
    return found, [call.facts["context"] for call in model.calls], model


def test_a_refusal_has_the_whole_document_read():
    found, contexts, model = attempt_of(["Unanswerable. It is not told.", "in May"])

    assert found.route == "full"
    assert found.prediction
    assert contexts[1] == HARBOUR
    assert [(piece.start, piece.end) for piece in found.pieces] == [(0, len(HARBOUR))]
    assert found.usage["answer"].input_tokens == sum(
        words(call.prompt) for call in model.calls
    )


def test_a_call_of_the_tool_declines_and_any_text_answers():
    replies = iter([Reply("", tool_calls=[ToolCall("decline")]), "It is unanswerable."])
    with ScriptedServer(replies) as server:
        client = ChatOpenAI(base_url=server.base_url, api_key="none", model="m")
        found = attempt(f"{SPEC},decline=tool", ChatModel(client, "openai:m"))

    assert (found.route, found.prediction) == ("full", "It is unanswerable.")
    assert [step.declined for step in found.steps] == [True, False]
    for request in server.requests:
        assert request.body["tools"][0]["function"]["name"] == "decline"
        assert "call the tool decline" in request.prompt


def test_a_model_without_tools_is_refused_before_anything_is_asked():
    systems = [make_system("self-route:decline=tool")]
    options = RunOptions(model="offline", embedding_model="words")
    with pytest.raises(InvalidOptionError, match='decline="word"'):
        make_evaluation(set_of_four(), systems, [100], options, WordVectors())


def test_in_score_order_each_chunk_stands_behind_its_number():
    found, (context,), _ = attempt_of(
        ["in May"], "self-route:unit=words,size=10,k=3,order=rank"
    )
    texts = [HARBOUR[piece.start : piece.end] for piece in found.pieces]
    # Of 10 words each, so a chunk's number is that of the words before it by ten.
    numbers = [words(HARBOUR[: piece.start]) // 10 for piece in found.pieces]

    assert context == "\n\n".join(
        f"[Chunk {number}] {text}" for number, text in zip(numbers, texts, strict=True)
    )
    assert numbers == [0, 7, 1]
