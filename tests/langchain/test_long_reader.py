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
from tests.langchain.routes import WAYS, ask, chat_model

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
    async def test_what_is_not_reported_is_counted_and_marked(self, scripted_server):
        replies = [Reply(LONG, reports_usage=False), Reply("1912", reports_usage=False)]
        server = scripted_server(replies)

        usage = (await ask(reader_of(server), QUESTION))["usage"]

        # 7 for the format of one message.
        prompts = [count_words(request.prompt) + 7 for request in server.requests]
        assert [rung["input_tokens"] for rung in usage["rungs"]] == prompts
        assert usage["estimated"] is True


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
