"""`LongReaderSynthesizer` with the real client, against the scripted server."""

from __future__ import annotations

import pickle
from typing import Any

import openai
import pytest
from llama_index.core import PromptTemplate
from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.llms import MockLLM
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.schema import NodeWithScore, TextNode

from llamaindex_oprag import LongReaderSynthesizer, LongUnitRetriever
from oprag.errors import InvalidOptionError, ModelCallError
from oprag.units import group_documents
from tests.kit.openai_server import ScriptedServer, count_words, server_error
from tests.llamaindex.recording import RecordingLLM
from tests.llamaindex.self_routing import WAYS, scripted_llm

pytestmark = pytest.mark.slow

QUESTION = "When was the bridge built?"
LONG = "The bridge was built by Ann, in the spring of 1912."
TEXTS = {
    "bridge": "The bridge was built by Ann in 1912. " * 60,
    "ann": "Ann was an engineer of Ulm. " * 60,
}
UNITS = group_documents(TEXTS, [("bridge", "ann")], 4000, count_words)
"""One unit of 480 + 360 words."""


class Fixed(BaseRetriever):
    def __init__(self, *nodes: TextNode) -> None:
        self.nodes = [NodeWithScore(node=node, score=0.5) for node in nodes]
        super().__init__()

    def _retrieve(self, query_bundle):
        return list(self.nodes)


CHUNK = TextNode(text="The bridge", metadata={"doc_id": "bridge"})


def engine_over(server, *, streaming=False, nodes=(CHUNK,), **options):
    settings = {"token_counter": count_words, "one_call_below": 840, **options}
    reader = LongReaderSynthesizer(
        scripted_llm(server, streaming=streaming), streaming=streaming, **settings
    )
    retriever = LongUnitRetriever(Fixed(*nodes), units=UNITS, documents=TEXTS)
    return RetrieverQueryEngine(retriever, reader)


async def ask(server, way: str, **options) -> Any:
    """The response, and the pieces that it came in."""
    streaming = way.endswith("stream")
    engine = engine_over(server, streaming=streaming, **options)
    if way in ("query", "stream"):
        response: Any = engine.query(QUESTION)
        pieces = list(response.response_gen) if streaming else [response.response]
    else:
        response = await engine.aquery(QUESTION)
        pieces = [] if streaming else [response.response]
        if streaming:
            pieces = [piece async for piece in response.async_response_gen()]
    return response, pieces


@pytest.mark.parametrize("way", WAYS)
class TestInEveryWay:
    async def test_a_failing_second_call_carries_what_the_first_gave(self, way):
        with (
            ScriptedServer([LONG, server_error()]) as server,
            pytest.raises(ModelCallError, match="'short' call") as caught,
        ):
            await ask(server, way)

        error = pickle.loads(pickle.dumps(caught.value))  # noqa: S301 -- our own
        assert (error.call, error.long_answer) == ("short", LONG)
        long, short = error.usage["rungs"]
        assert (long["decision"], short["decision"]) == ("answered", "failed")
        assert long["input_tokens"] == count_words(server.requests[0].prompt)
        assert isinstance(caught.value.__cause__, openai.APIError)


class TestPrompts:
    def test_each_can_be_replaced(self):
        llm = RecordingLLM(replies=["L", "S", "D"])
        reader = LongReaderSynthesizer(
            llm,
            long_prompt="{context_str}|{query_str}",
            short_prompt=PromptTemplate("{query_str}|{long_answer}"),
            one_call_below=3,
            token_counter=count_words,
        )
        reader.update_prompts(
            {"direct_prompt": PromptTemplate("{query_str}|{context_str}|direct")}
        )

        assert reader.get_response("q?", ["a b c"]) == "S"
        assert reader.get_response("q?", ["a"]) == "D"
        assert llm.prompts == ["a b c|q?", "q?|L", "q?|a|direct"]
        assert set(reader.get_prompts()) == {
            "long_prompt",
            "short_prompt",
            "direct_prompt",
        }

    def test_oprags_own_names_can_be_used(self):
        llm = RecordingLLM(replies=["L", "S"])
        reader = LongReaderSynthesizer(
            llm, short_prompt="{question}|{long_answer}", one_call_below=0
        )

        assert reader.get_response("q?", ["a"]) == "S"
        assert llm.prompts[1].endswith("q?|L")

    @pytest.mark.parametrize(
        ("prompts", "fault"),
        [
            ({"long_prompt": "{context_str}"}, "query_str"),
            ({"long_prompt": "{context_str} {query_str} {titles}"}, "titles"),
            ({"short_prompt": PromptTemplate("{query_str}")}, "long_answer"),
            ({"direct_prompt": 5}, "neither a text"),
        ],
    )
    def test_one_that_cannot_be_filled_is_refused(self, prompts, fault):
        with pytest.raises(InvalidOptionError, match=fault):
            LongReaderSynthesizer(MockLLM(), **prompts)
        with pytest.raises(InvalidOptionError, match=fault):
            LongReaderSynthesizer(MockLLM())._update_prompts(prompts)
