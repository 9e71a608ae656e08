"""Every response mode that uses nodes, whole and streamed."""

import pytest
from llama_index.core import Settings
from llama_index.core.llms import LLMMetadata
from llama_index.core.query_engine import RetrieverQueryEngine

from llamaindex_oprag import OrderPreservingRetriever
from tests.llamaindex.corpus import QUESTION, clause, document, index, numbers
from tests.llamaindex.places.registry import places_of
from tests.llamaindex.places.running import each_place, sent, with_and_without
from tests.llamaindex.recording import RecordingLLM

MODES = places_of("response_modes")
STREAMING = [place for place in MODES if "accumulate" not in place.id]

each_mode = pytest.mark.parametrize("mode", ["query", "aquery"])


@pytest.fixture(autouse=True)
def _model(monkeypatch):
    """`context_only` asks no model and takes none, but looks for the default one."""
    monkeypatch.setattr(Settings, "_llm", RecordingLLM())


def streamed(place):
    """The same expression, told to stream."""
    return place._replace(how=f"{place.how[:-1]}, streaming=True)")


async def asked(engine, names, mode):
    """Where no model is asked, the answer itself is what was retrieved."""
    if mode == "query":
        answer = str(engine.query(names["question"]))
    else:
        answer = str(await engine.aquery(names["question"]))
    return sent(names) or answer


@each_mode
@each_place(MODES)
async def test_the_model_reads_what_was_retrieved_in_order(place, mode):
    ordered, plain = await with_and_without(place, mode, asked)

    assert ordered == sorted(set(plain))
    assert plain != sorted(plain)


@each_mode
@each_place(STREAMING)
async def test_so_it_does_when_it_streams_its_answer(place, mode):
    ordered, plain = await with_and_without(streamed(place), mode, asked)

    assert ordered == sorted(set(plain))
    assert plain != sorted(plain)


@each_mode
@each_place([place for place in MODES if place not in STREAMING])
async def test_what_llama_index_cannot_stream_is_its_own_error(place, mode):
    with pytest.raises(ValueError, match="Unable to stream"):
        await with_and_without(streamed(place), mode, asked)


class SmallLLM(RecordingLLM):
    """Its window takes a part of a long lease."""

    @property
    def metadata(self):
        return LLMMetadata(context_window=2_000, num_output=64)


@pytest.mark.parametrize("mode", ["compact", "tree_summarize", "compact_accumulate"])
def test_several_windows_follow_one_another_in_order(mode):
    """A window may repeat the end of the one before it."""
    clauses = range(200)
    lease = index(document(text="\n\n".join(map(clause, clauses))))
    ordered = OrderPreservingRetriever(lease.as_retriever(), similarity_top_k=200)
    llm = SmallLLM()

    RetrieverQueryEngine.from_args(ordered, llm=llm, response_mode=mode).query(QUESTION)

    windows = [numbers(prompt) for prompt in llm.prompts if numbers(prompt)]
    assert len(windows) > 1
    assert windows == sorted(sorted(window) for window in windows)
    assert {number for window in windows for number in window} == set(clauses)
