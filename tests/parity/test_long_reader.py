"""The long reader of both frameworks: calls, prompts and faults, by real clients."""

from typing import Any, NamedTuple

import pytest
from langchain_core.documents import Document
from langchain_core.messages import AIMessage
from langchain_core.prompts import ChatPromptTemplate
from llama_index.core import PromptTemplate
from llama_index.core.schema import NodeWithScore, TextNode

from langchain_oprag import LongReader
from llamaindex_oprag import LongReaderSynthesizer
from oprag.errors import InvalidOptionError, ModelCallError
from tests.kit.openai_server import Reply, ScriptedServer
from tests.kit.words import words
from tests.langchain.recording import RecordingChatModel
from tests.langchain.routes import chat_model, summed
from tests.llamaindex.recording import RecordingLLM
from tests.llamaindex.self_routing import scripted_llm

pytestmark = pytest.mark.slow

QUESTION = "When was the bridge built?"
LONG = "The bridge was built by Ann, in the spring of 1912."
TEXT = "The bridge was built by Ann in 1912. " * 60
COUNTED: dict[str, Any] = {"token_counter": words, "one_call_below": 100}


class Read(NamedTuple):
    answer: str
    long_answer: str | None
    usage: dict[str, Any]
    prompts: list[str]


def in_langchain(replies: list[Any], *, streaming: bool = False):
    given = {"input": QUESTION, "context": [Document(TEXT)]}
    with ScriptedServer(replies) as server:
        reader = LongReader(llm=chat_model(server), **COUNTED)
        if streaming:
            result: Any = summed([*reader.stream(given)])
        else:
            result = reader.invoke(given)
    prompts = [request.prompt for request in server.requests]
    return Read(result["answer"], result["long_answer"], result["usage"], prompts)


def in_llamaindex(replies: list[Any], *, streaming: bool = False):
    with ScriptedServer(replies) as server:
        llm = scripted_llm(server, streaming=streaming)
        reader = LongReaderSynthesizer(llm, streaming=streaming, **COUNTED)
        nodes = [NodeWithScore(node=TextNode(text=TEXT))]
        response: Any = reader.synthesize(QUESTION, nodes)
        answer = "".join(response.response_gen) if streaming else str(response)
    prompts = [request.prompt for request in server.requests]
    facts = response.metadata
    return Read(answer, facts["long_answer"], facts["usage"], prompts)


EVERYWHERE = pytest.mark.parametrize("read", [in_langchain, in_llamaindex])
STREAMED = pytest.mark.parametrize("streaming", [False, True])


@EVERYWHERE
@STREAMED
def test_the_short_answer_comes_from_question_and_long_answer_alone(read, streaming):
    found = read([LONG, Reply(deltas=["19", "12"])], streaming=streaming)

    assert (found.answer, found.long_answer) == ("1912", LONG)
    first, second = found.prompts
    assert TEXT.strip() in first
    assert f"Long answer: {LONG}\nShort answer:" in second
    assert TEXT[:60] not in second
    steps = found.usage["steps"]
    assert [each["step"] for each in steps] == ["long", "short"]
    assert [each["input_tokens"] for each in steps] == [*map(words, found.prompts)]


def test_both_send_the_same():
    assert in_langchain([LONG, "1912"]).prompts == in_llamaindex([LONG, "1912"]).prompts


@EVERYWHERE
@pytest.mark.parametrize("reply", ["", " \n", Reply(None), "<think>hm</think>"])
def test_an_empty_reply_is_no_answer(read, reply):
    for replies, call in (([reply], "long"), ([LONG, reply], "short")):
        with pytest.raises(ModelCallError, match="empty reply") as caught:
            read(replies)
        assert caught.value.call == call


def test_each_prompt_of_langchain_can_be_replaced():
    model = RecordingChatModel(replies=[AIMessage("L"), AIMessage("S")])
    template = ChatPromptTemplate.from_messages(
        [("system", "Be brief."), ("human", "{question}|{long_answer}")]
    )
    prompts = {"long": "{context}|{question}", "short": template}
    reader = LongReader(llm=model, prompts=prompts, one_call_below=0)

    result = reader.invoke({"input": "a {b}?", "context": [Document("{c}")]})

    (first,), (system, human) = model.calls
    assert first.content == "{c}|a {b}?"
    assert (system.content, human.content) == ("Be brief.", "a {b}?|L")
    assert result["answer"] == "S"


def test_each_prompt_of_llamaindex_can_be_replaced():
    llm = RecordingLLM(replies=["L", "S", "D"])
    reader = LongReaderSynthesizer(
        llm,
        long_prompt="{context_str}|{query_str}",
        short_prompt="{question}|{long_answer}",
        one_call_below=3,
        token_counter=words,
    )
    direct = PromptTemplate("{query_str}|{context_str}|direct")
    reader.update_prompts({"direct_prompt": direct})

    assert reader.get_response("q?", ["a b c"]) == "S"
    assert reader.get_response("q?", ["a"]) == "D"
    with pytest.raises(InvalidOptionError, match="text_chunks takes a list of texts"):
        reader.get_response("q?", "a b c")
    assert llm.prompts == ["a b c|q?", "q?|L", "q?|a|direct"]
    assert {*reader.get_prompts()} == {"long_prompt", "short_prompt", "direct_prompt"}
