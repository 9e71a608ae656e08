"""`LongReader` with the real client, against the scripted server."""

from __future__ import annotations

import pickle

import openai
import pytest
from langchain_core.documents import Document
from langchain_core.messages import AIMessage
from langchain_core.prompts import ChatPromptTemplate

from langchain_oprag import LongReader, LongUnitRetriever
from oprag.errors import InvalidOptionError, ModelCallError
from oprag.units import group_documents
from tests.kit.openai_server import Reply, count_words, scripted_server, server_error
from tests.langchain.corpus import ListRetriever, words
from tests.langchain.recording import RecordingChatModel
from tests.langchain.routes import WAYS, ask, chat_model, text_in

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

    async def test_what_is_not_reported_is_counted_and_marked(self, scripted_server):
        replies = [Reply(LONG, reports_usage=False), Reply("1912", reports_usage=False)]
        server = scripted_server(replies)

        usage = (await ask(reader_of(server), QUESTION))["usage"]

        # 7 for the format of one message.
        prompts = [count_words(request.prompt) + 7 for request in server.requests]
        assert [rung["input_tokens"] for rung in usage["rungs"]] == prompts
        assert usage["estimated"] is True


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


class TestFaults:
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
