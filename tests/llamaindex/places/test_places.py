"""In every place of the list the model reads the retrieved nodes in order, or not."""

import pytest
from llama_index.core import Settings
from llama_index.core.llms import ChatMessage, LLMMetadata
from llama_index.core.node_parser import (
    HierarchicalNodeParser,
    SentenceWindowNodeParser,
)
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.retrievers import AutoMergingRetriever

from llamaindex_oprag import OrderPreservingRetriever, PositionAnnotator
from oprag.errors import PositionError
from tests.llamaindex.corpus import (
    QUESTION,
    TEXT,
    clause,
    document,
    index,
    numbers,
    numbers_of,
)
from tests.llamaindex.places.ingredients import hierarchy, ingredients
from tests.llamaindex.places.registry import places_of
from tests.llamaindex.places.running import (
    answering,
    build,
    each_mode,
    each_place,
    sent,
    with_and_without,
)
from tests.llamaindex.recording import RecordingLLM
from tests.support.openai_server import Reply, ScriptedServer, ToolCall

# LlamaIndex's agents use what pydantic and its own workflows deprecate.
deprecations_of_agents = pytest.mark.filterwarnings("ignore::DeprecationWarning")


@each_mode
@each_place(places_of("engines"))
async def test_the_model_reads_what_was_retrieved_in_order(place, mode):
    ordered, plain = await with_and_without(place, mode)

    assert ordered == sorted(set(plain))
    assert plain != sorted(plain)


async def first_of_each_window(built, names, mode):
    """Windows overlap, so what tells their order is where each begins."""
    text = await answering(built, names, mode)
    windows = [numbers(block) for block in text.split("\n\n")]
    assert sum(len(window) == 3 for window in windows) == 10
    return "".join(f"§{window[0]}§" for window in windows if window)


@each_mode
@each_place(places_of("windows"))
async def test_windows_of_sentences_are_sent_in_order(place, mode):
    parser = SentenceWindowNodeParser.from_defaults(window_size=1)
    lease = index(document(text=TEXT.replace("\n\n", " ")), parser=parser)

    ordered, plain = await with_and_without(
        place,
        mode,
        first_of_each_window,
        retriever=lease.as_retriever(similarity_top_k=10),
    )

    assert ordered == sorted(set(plain))
    assert plain != sorted(plain)


def test_a_leaf_beside_a_parent_that_holds_it_is_sent_once_when_merging():
    documents = [document()]
    parser = HierarchicalNodeParser.from_defaults(
        chunk_sizes=[300, 100, 50], chunk_overlap=0
    )
    nodes = parser.get_nodes_from_documents(documents)
    leaves, storage = hierarchy(PositionAnnotator(documents)(nodes), 10)
    merging = AutoMergingRetriever(leaves, storage)

    plain = numbers_of(merging.retrieve(QUESTION))
    ordered = OrderPreservingRetriever(
        merging, merge=True, documents={"lease.txt": TEXT}
    )

    assert len(plain) > len(set(plain))
    assert numbers_of(ordered.retrieve(QUESTION)) == sorted(set(plain))


# Response modes


async def read(engine, names, mode):
    """Where no model is asked, the answer itself is what was retrieved."""
    response = engine.query(names["question"])
    return sent(names) or str(response)


@each_place(places_of("response_modes"))
@pytest.mark.parametrize(
    "response_mode",
    [
        "compact",
        "refine",
        "tree_summarize",
        "accumulate",
        "compact_accumulate",
        "simple_summarize",
        "context_only",
    ],
)
async def test_every_response_mode_reads_in_order(place, response_mode, monkeypatch):
    # `context_only` asks no model and takes none, but looks for the default one.
    monkeypatch.setattr(Settings, "_llm", RecordingLLM())

    ordered, plain = await with_and_without(place, "query", read, mode=response_mode)

    assert ordered == sorted(set(plain))
    assert plain != sorted(plain)


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


# Chats, agents, workflows


async def chatted(engine, names, call):
    """The model repeats the question: where it condenses one, and as its answer."""
    names["llm"].replies = [names["question"]]
    history = [ChatMessage("Hello."), ChatMessage("Hello!", role="assistant")]
    response = getattr(engine, call)(names["question"], chat_history=history)
    if call == "astream_chat":
        response = await response
        answer = "".join([delta async for delta in response.async_response_gen()])
    else:
        answer = str(response)
    assert answer == names["question"]
    return sent(names)


@pytest.mark.parametrize("call", ["chat", "astream_chat"])
@pytest.mark.parametrize(
    "chat_mode", ["context", "condense_plus_context", "condense_question", "best"]
)
@each_place(places_of("chats"))
async def test_every_chat_mode_reads_in_order(place, chat_mode, call):
    ordered, plain = await with_and_without(place, call, chatted, mode=chat_mode)

    assert ordered == sorted(set(plain))
    assert plain != sorted(plain)


@deprecations_of_agents
@each_place(places_of("agents"))
async def test_an_agent_reads_in_order_over_the_wire(place):
    """A real client: its second request carries what the tool answered."""
    openai_like = pytest.importorskip("llama_index.llms.openai_like")
    read = {}
    for oprag in (True, False):
        names = ingredients(oprag=oprag)
        call = ToolCall("search", {"input": QUESTION})
        with ScriptedServer([Reply(tool_calls=[call]), "An answer."]) as server:
            names["caller"] = openai_like.OpenAILike(
                model="scripted",
                api_base=server.base_url,
                api_key="none",
                context_window=16_000,
                is_chat_model=True,
                is_function_calling_model=True,
            )
            answer = await build(place.how, names).run(QUESTION)
        assert str(answer) == "An answer."
        read[oprag] = numbers(sent(names) or server.requests[1].prompt)

    assert read[True] == sorted(set(read[False]))
    assert read[False] != sorted(read[False])


async def reasoned(agent, names, mode):
    """The model asks for a search in words, and then answers."""
    names["llm"].replies = [
        f'Thought: Search.\nAction: search\nAction Input: {{"input": "{QUESTION}"}}\n',
        "Thought: I can answer without using any more tools.\nAnswer: Yes.",
    ]
    assert str(await agent.run(QUESTION)) == "Yes."
    return sent(names)


@deprecations_of_agents
@each_place(places_of("react_agents"))
async def test_an_agent_that_reasons_in_words_reads_in_order(place):
    ordered, plain = await with_and_without(place, "run", reasoned)

    assert ordered == sorted(set(plain))
    assert plain != sorted(plain)


async def worked(workflow, names, mode):
    await workflow.run(question=names["question"])
    return sent(names)


@each_place(places_of("workflows"))
async def test_a_workflow_reads_in_order(place):
    ordered, plain = await with_and_without(place, "run", worked)

    assert ordered == sorted(set(plain))
    assert plain != sorted(plain)


# Where order is lost


@each_mode
@each_place(places_of("order_breakers"))
async def test_what_sorts_again_undoes_the_order(place, mode):
    undone, _ = await with_and_without(place, mode)

    assert undone != sorted(undone)


@each_mode
@each_place(places_of("refused"))
async def test_offsets_that_do_not_order_the_document_are_refused(place, mode):
    names = ingredients(oprag=True)

    with pytest.raises(PositionError, match="documents="):
        await answering(build(place.how, names), names, mode)
