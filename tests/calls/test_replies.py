"""Reasoning before a reply goes; a stream that was broken off is no whole reply."""

from types import SimpleNamespace

import pytest

from oprag.calls import StreamEnd, read_message_text, strip_reasoning


@pytest.mark.parametrize(
    ("reply", "left"),
    [
        ("May.", "May."),
        (" \n May.", " \n May."),
        (" <think>June?</think> May.", " May."),
        ("<think>a</think> \n<thinking>b</thinking>\n May.", "\n May."),
        ("May. <think>June?</think>", "May. <think>June?</think>"),
        ("<think>never closed", ""),
        (" <thin", " <thin"),
    ],
)
def test_only_blocks_at_the_start_go(reply, left):
    assert strip_reasoning(reply) == left


def test_a_reply_that_is_no_text_is_not_taken_for_an_empty_one():
    with pytest.raises(AttributeError, match="'text'"):
        read_message_text({"answer": "In May."})


def message(**metadata):
    return SimpleNamespace(response_metadata=metadata)


def response(reason, *, as_object=False):
    choice = {"finish_reason": reason}
    if as_object:
        return SimpleNamespace(raw=SimpleNamespace(choices=[SimpleNamespace(**choice)]))
    return SimpleNamespace(raw={"choices": [choice]})


LONG = {"reason": "max_output_tokens"}
OPENAI = message(model_provider="openai")


@pytest.mark.parametrize(
    "pieces",
    [
        [OPENAI],
        [message(), OPENAI, message()],
        [response(None)],
        [response(None, as_object=True), response(None, as_object=True)],
    ],
)
def test_a_stream_that_owes_a_reason_and_has_none_was_broken_off(pieces):
    end = StreamEnd()
    for piece in pieces:
        end.see(piece)

    with pytest.raises(ConnectionError, match="broken off"):
        end.check_complete()


@pytest.mark.parametrize(
    "pieces",
    [
        [OPENAI, message(model_provider="openai", finish_reason="stop"), message()],
        [OPENAI, message(model_provider="openai", finish_reason="length")],
        [OPENAI, message(status="completed")],
        [response(None), response("stop")],
        [response(None, as_object=True), response("length", as_object=True)],
        [response("stop"), SimpleNamespace(raw={"choices": [], "usage": {}})],
        # Of these nothing is known.
        [],
        [message()],
        [message(model_provider="another")],
        [SimpleNamespace(raw=None)],
        [SimpleNamespace(raw={"done": True})],
        [SimpleNamespace()],
    ],
)
def test_any_other_stream_passes(pieces):
    end = StreamEnd()
    for piece in pieces:
        end.see(piece)

    end.check_complete()


@pytest.mark.parametrize(
    ("piece", "cut"),
    [
        (message(finish_reason="stop"), None),
        (message(finish_reason="length"), "length"),
        (message(finish_reason="content_filter"), "filter"),
        (message(stop_reason="max_tokens"), "length"),  # Anthropic
        (message(stop_reason="refusal"), "filter"),
        (message(stopReason="guardrail_intervened"), "filter"),  # Bedrock
        (message(finish_reason="FinishReason.MAX_TOKENS"), "length"),  # Google
        (message(finish_reason="SAFETY"), "filter"),
        (response("length"), "length"),
        (response("content_filter", as_object=True), "filter"),
        (SimpleNamespace(raw={"done_reason": "length"}), "length"),  # Ollama
        (SimpleNamespace(raw={"candidates": [{"finish_reason": "SAFETY"}]}), "filter"),
        (message(status="incomplete", incomplete_details=LONG), "length"),  # Responses
        (SimpleNamespace(raw={"response": {"incomplete_details": LONG}}), "length"),
        (SimpleNamespace(), None),
    ],
)
def test_it_says_where_a_reply_was_cut(piece, cut):
    end = StreamEnd()
    end.see(piece)
    end.see(message())

    assert end.cut == cut
