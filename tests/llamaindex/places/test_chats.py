"""In every chat mode that retrieves, whole and streamed."""

import pytest
from llama_index.core.llms import ChatMessage

from tests.llamaindex.places.registry import places_of
from tests.llamaindex.places.running import each_place, sent, with_and_without

EARLIER = [ChatMessage("Hello."), ChatMessage("Hello!", role="assistant")]

each_mode = pytest.mark.parametrize(
    "mode", ["chat", "achat", "stream_chat", "astream_chat"]
)


async def chatted(engine, names, mode):
    """The model repeats the question: where it condenses one, and as its answer."""
    question = names["question"]
    names["llm"].replies = [question]
    call = getattr(engine, mode)
    response = call(question, chat_history=list(EARLIER))
    if mode.startswith("a"):
        response = await response
    if mode == "stream_chat":
        answer = "".join(response.response_gen)
    elif mode == "astream_chat":
        answer = "".join([delta async for delta in response.async_response_gen()])
    else:
        answer = str(response)
    assert answer == question
    return sent(names)


@each_mode
@each_place(places_of("chats"))
async def test_the_model_reads_what_was_retrieved_in_order(place, mode):
    ordered, plain = await with_and_without(place, mode, chatted)

    assert ordered == sorted(set(plain))
    assert plain != sorted(plain)
