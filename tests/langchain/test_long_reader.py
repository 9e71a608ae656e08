"""`LongReader` with the real client, against the scripted server."""

from __future__ import annotations

import pickle

import openai
import pytest
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.documents import Document
from langchain_core.messages import AIMessage
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.runnables import RunnableLambda

from langchain_oprag import LongReader, LongUnitRetriever
from oprag.errors import ContextWindowError, InvalidOptionError, ModelCallError
from oprag.units import group_documents
from tests.langchain.corpus import ListRetriever, words
from tests.langchain.recording import RecordingChatModel
from tests.langchain.routes import WAYS, ask, chat_model, text_in, timeless
from tests.support.openai_server import (
    Reply,
    Usage,
    context_overflow,
    count_words,
    scripted_server,
    server_error,
)

pytestmark = pytest.mark.slow

__all__ = ["scripted_server"]

QUESTION = "When was the bridge built?"
LONG = "The bridge was built by Ann, in the spring of 1912."
TEXTS = {
    "bridge": "The bridge was built by Ann in 1912. " * 60,
    "ann": "Ann was an engineer of Ulm. " * 60,
}
UNITS = group_documents(TEXTS, [("bridge", "ann")], 4000, words)
"""One unit of 480 + 360 words."""


def reader_of(server, **options) -> LongReader:
    chunk = Document("The bridge", metadata={"source": "bridge"})
    settings = {
        "llm": chat_model(server),
        "retriever": LongUnitRetriever(
            base_retriever=ListRetriever(documents=[chunk]),
            units=UNITS,
            documents=TEXTS,
        ),
        "token_counter": words,
        "one_call_below": 840,
    }
    return LongReader(**{**settings, **options})


class TestTheTwoCalls:
    @pytest.mark.parametrize("way", WAYS)
    async def test_the_short_answer_comes_from_question_and_long_answer_alone(
        self, scripted_server, way
    ):
        server = scripted_server([f"{LONG}\n", "1912"])

        result = await ask(reader_of(server), QUESTION, way)

        assert list(result) == ["input", "context", "long_answer", "answer", "usage"]
        assert (result["answer"], result["long_answer"]) == ("1912", f"{LONG}\n")
        assert result["input"] == QUESTION
        (unit,) = result["context"]
        assert unit.page_content == f"{TEXTS['bridge']}\n\n{TEXTS['ann']}"
        first, second = (request.prompt for request in server.requests)
        assert text_in(server.requests[0]) == unit.page_content
        assert QUESTION in first
        assert QUESTION in second
        assert f"Long answer: {LONG}\nShort answer:" in second
        assert "engineer" not in second

    @pytest.mark.parametrize("way", WAYS)
    async def test_the_usage_is_what_the_server_counted(self, scripted_server, way):
        server = scripted_server(
            [Reply(LONG, usage=Usage(900, 11, 100)), Reply("1912", usage=Usage(80, 1))]
        )
        prices = {"cheap": (2.0, 0.5, 8.0)}

        usage = (await ask(reader_of(server, prices=prices), QUESTION, way))["usage"]

        assert [(r["rung"], r["decision"]) for r in usage["rungs"]] == [
            ("long", "answered"),
            ("short", "answered"),
        ]
        assert usage["input_tokens"] == 980
        assert usage["cached_tokens"] == 100
        assert usage["output_tokens"] == 12
        assert usage["model_calls"] == 2
        assert usage["estimated"] is False
        # (800·2 + 100·0.5 + 11·8 + 80·2 + 1·8) / 10⁶
        assert usage["cost"] == pytest.approx((1600 + 50 + 88 + 160 + 8) / 1e6)
        assert {rung["model"] for rung in usage["rungs"]} == {"cheap"}

    async def test_what_is_not_reported_is_counted_and_marked(self, scripted_server):
        replies = [Reply(LONG, reports_usage=False), Reply("1912", reports_usage=False)]
        server = scripted_server(replies)

        usage = (await ask(reader_of(server), QUESTION))["usage"]

        # 7 for the format of one message.
        prompts = [count_words(request.prompt) + 7 for request in server.requests]
        assert [rung["input_tokens"] for rung in usage["rungs"]] == prompts
        assert usage["estimated"] is True


class TestOneCall:
    @pytest.mark.parametrize("way", WAYS)
    async def test_a_short_context_takes_one(self, scripted_server, way):
        server = scripted_server(["1912"])

        result = await ask(reader_of(server, one_call_below=841), QUESTION, way)

        assert (result["answer"], result["long_answer"]) == ("1912", None)
        assert [rung["rung"] for rung in result["usage"]["rungs"]] == ["direct"]
        assert len(server.requests) == 1


class TestStreaming:
    async def test_both_answers_come_in_pieces_the_long_one_first(
        self, scripted_server
    ):
        server = scripted_server(
            [Reply(deltas=["In ", "1912."]), Reply(deltas=["19", "12"])]
        )

        pieces = [piece async for piece in reader_of(server).astream(QUESTION)]

        keys = [key for piece in pieces for key in piece]
        assert keys == [
            "input",
            "context",
            *["long_answer"] * 2,
            *["answer"] * 2,
            "usage",
        ]
        shown = [piece["answer"] for piece in pieces if "answer" in piece]
        assert shown == ["19", "12"]
        assert all(request.streaming for request in server.requests)

    async def test_calls_are_tagged(self, scripted_server):
        server = scripted_server([LONG, "1912"])
        tags = []

        class Calls(BaseCallbackHandler):
            def on_chat_model_start(self, serialized, messages, **run):
                tags.append(run["tags"])

        await reader_of(server).ainvoke(QUESTION, {"callbacks": [Calls()]})

        assert tags == [["call:long"], ["call:short"]]

    async def test_every_way_gives_the_same(self, scripted_server):
        results = [
            await ask(reader_of(scripted_server([LONG, "1912"])), QUESTION, way)
            for way in WAYS
        ]

        for result in results:
            result["usage"] = timeless(result["usage"])
            assert result == results[0]


class TestInput:
    def test_context_in_the_input_goes_before_the_retriever(self):
        model = RecordingChatModel()
        unit = Document("The only text.")
        reader = LongReader(
            llm=model, retriever=RunnableLambda(lambda query: [Document("Another.")])
        )

        result = reader.invoke({"input": "?", "context": [unit]})

        assert [found.page_content for found in result["context"]] == ["The only text."]
        assert "The only text." in model.sent

    def test_the_conversation_stands_before_the_question(self):
        model = RecordingChatModel()
        LongReader(llm=model, one_call_below=0).invoke(
            {
                "input": "And of what?\nA. stone\nB. wood",
                "chat_history": [("human", "Who built the bridge?"), ("ai", "Ann.")],
                "context": [Document("It is of stone.")],
            }
        )

        for messages in model.calls:
            text = str(messages[-1].content)
            assert "A. stone\nB. wood" in text
            assert "User: Who built the bridge?" in text

    def test_neither_context_nor_retriever(self):
        with pytest.raises(InvalidOptionError, match="no retriever="):
            LongReader(llm=RecordingChatModel()).invoke("?")

    @pytest.mark.parametrize("given", [5, {"question": "?"}])
    def test_no_question(self, given):
        with pytest.raises(InvalidOptionError, match="LongReader takes a question"):
            LongReader(llm=RecordingChatModel()).invoke(given)

    def test_context_of_something_else(self):
        with pytest.raises(InvalidOptionError, match="not a list of documents"):
            LongReader(llm=RecordingChatModel()).invoke(
                {"input": "?", "context": ["text"]}
            )


class TestPrompts:
    def test_each_can_be_replaced(self):
        model = RecordingChatModel(replies=[AIMessage("L"), AIMessage("S")])
        template = ChatPromptTemplate.from_messages(
            [("system", "Be brief."), ("human", "{question}|{long_answer}")]
        )
        reader = LongReader(
            llm=model,
            prompts={"long": "{context}|{question}", "short": template},
            one_call_below=0,
        )

        result = reader.invoke({"input": "a {b}?", "context": [Document("{c}")]})

        (first,), (system, human) = model.calls
        assert first.content == "{c}|a {b}?"
        assert (system.content, human.content) == ("Be brief.", "a {b}?|L")
        assert result["answer"] == "S"

    @pytest.mark.parametrize(
        ("prompts", "fault"),
        [
            ({"qa": "{context}"}, "names 'qa'"),
            ({"long": "{context}"}, "question"),
            ({"long": "{context} {question} {titles}"}, "titles"),
            ({"short": ChatPromptTemplate.from_template("{question}")}, "long_answer"),
            ({"direct": ChatPromptTemplate.from_template("{x}")}, "variables x"),
            ({"direct": 5}, "format string"),
        ],
    )
    def test_one_that_cannot_be_filled_is_refused_on_construction(self, prompts, fault):
        with pytest.raises(InvalidOptionError, match=fault):
            LongReader(llm=RecordingChatModel(), prompts=prompts)

    @pytest.mark.parametrize(
        "options",
        [
            {"one_call_below": -1},
            {"one_call_below": None},
            {"max_context_tokens": 0},
            {"answer_tokens": 0},
            {"prices": {"m": (1, 2)}},
            {"separator": 5},
            {"rungs": ["full"]},
        ],
    )
    def test_impossible_options(self, options):
        with pytest.raises(InvalidOptionError):
            LongReader(llm=RecordingChatModel(), **options)


class TestFaults:
    @pytest.mark.parametrize("way", WAYS)
    async def test_without_anything_to_read_nobody_is_asked(self, scripted_server, way):
        server = scripted_server([])
        empty = ListRetriever(documents=[])

        result = await ask(reader_of(server, retriever=empty), QUESTION, way)

        assert (result["answer"], result["long_answer"]) == ("unanswerable", None)
        assert result["context"] == []
        assert result["usage"]["model_calls"] == 0

    @pytest.mark.parametrize("way", WAYS)
    async def test_a_failing_second_call_carries_what_the_first_gave(
        self, scripted_server, way
    ):
        server = scripted_server([LONG, server_error()])

        with pytest.raises(ModelCallError, match="'short' call") as caught:
            await ask(reader_of(server), QUESTION, way)

        error = pickle.loads(pickle.dumps(caught.value))  # noqa: S301 -- our own
        assert (error.call, error.long_answer) == ("short", LONG)
        long, short = error.usage["rungs"]
        assert (long["decision"], short["decision"]) == ("answered", "failed")
        assert long["input_tokens"] == count_words(server.requests[0].prompt)
        assert isinstance(caught.value.__cause__, openai.APIError)

    @pytest.mark.parametrize("reply", ["", " \n", Reply(None), "<think>hm</think>"])
    async def test_an_empty_reply_is_no_answer(self, scripted_server, reply):
        first = scripted_server([reply])
        second = scripted_server([LONG, reply])

        with pytest.raises(ModelCallError, match="empty reply") as caught:
            await ask(reader_of(first), QUESTION)
        assert (caught.value.call, len(first.requests)) == ("long", 1)
        with pytest.raises(ModelCallError, match="empty reply") as caught:
            await ask(reader_of(second), QUESTION)
        assert (caught.value.call, caught.value.long_answer) == ("short", LONG)

    async def test_a_provider_that_says_so_too(self, scripted_server):
        server = scripted_server([context_overflow(10, 900)])

        with pytest.raises(ContextWindowError, match="provider refused") as caught:
            await ask(reader_of(server), QUESTION)

        assert isinstance(caught.value.__cause__, ModelCallError)
