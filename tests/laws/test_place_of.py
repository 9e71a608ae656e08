"""The place of a result, in every form of it; of a changed text it is not exact."""

import copy
import json
import pickle
from dataclasses import replace
from typing import Any, TypedDict

import pytest
from langchain_core.documents import Document
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph
from llama_index.core.agent.workflow import ReActAgent
from llama_index.core.llms import MockLLM
from llama_index.core.schema import NodeWithScore, TextNode
from llama_index.core.workflow import Context

import langchain_oprag as in_langchain
import llamaindex_oprag as in_llamaindex
from oprag import Place, Span, order_context, place_of
from oprag.errors import MissingPositionError
from oprag.metadata import RESULT_KEYS

TEXT = "It rained. It snowed all day long. Then the sun came out over größe 🙂."
SPANS = ((0, 11), (11, 35), (46, 60))


def documents(*, compared: bool = True) -> list[Document]:
    """Two passages: the first made of two chunks, the second of one."""
    chunks = [
        Document(
            TEXT[start:end],
            id=f"{start}",
            metadata={"source": "a.txt", "start_index": start},
        )
        for start, end in reversed(SPANS)
    ]
    options = {"merge": True, "documents": {"a.txt": TEXT} if compared else None}
    compressor = in_langchain.OrderPreservingCompressor(**options)
    return list(compressor.compress_documents(chunks, "?"))


def nodes(*, compared: bool = True) -> list[NodeWithScore]:
    found = [
        NodeWithScore(
            node=TextNode(
                text=TEXT[start:end],
                id_=f"{start}",
                metadata={"source": "a.txt", "start_index": start},
            ),
            score=0.5,
        )
        for start, end in reversed(SPANS)
    ]
    options = {"merge": True, "documents": {"a.txt": TEXT} if compared else None}
    component = in_llamaindex.OrderPreservingPostprocessor(**options)
    return component.postprocess_nodes(found)


def place(first: int, last: int, rank: int) -> Place:
    return Place(
        document_name="a.txt",
        document_key="a.txt",
        part=None,
        start=first,
        end=last,
        spans=(Span(first, last),),
        rank=rank,
        citation=f"a.txt, characters {first}-{last}",
        proof="compared",
        exact=True,
        problem=None,
    )


PLACES = [place(0, 35, 1), place(46, 60, 0)]


class State(TypedDict):
    found: list[Any]


def through_a_checkpointer(found: list[Any]) -> list[Any]:
    graph = StateGraph(State)
    graph.add_node("search", lambda _state: {"found": found})
    graph.add_edge(START, "search")
    graph.add_edge("search", END)
    made = graph.compile(checkpointer=InMemorySaver())
    thread = {"configurable": {"thread_id": "1"}}
    made.invoke({"found": []}, thread)
    return made.get_state(thread).values["found"]


@pytest.mark.parametrize(
    "through",
    [
        list,
        copy.deepcopy,
        lambda found: pickle.loads(pickle.dumps(found)),  # noqa: S301 -- our own
        lambda found: json.loads(json.dumps([each.model_dump() for each in found])),
        through_a_checkpointer,
        lambda found: through_a_checkpointer([each.model_dump() for each in found]),
    ],
)
def test_a_place_is_read_of_a_result_in_every_form(through):
    assert list(map(place_of, through(documents()))) == PLACES
    assert list(map(place_of, through(nodes()))) == PLACES
    assert list(map(place_of, through([each.node for each in nodes()]))) == PLACES


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
async def test_a_place_is_read_of_nodes_that_a_context_kept():
    context = Context(ReActAgent(llm=MockLLM(), tools=[]))
    await context.store.set("found", [each.node for each in nodes()])

    kept = Context.from_dict(
        ReActAgent(llm=MockLLM(), tools=[]), json.loads(json.dumps(context.to_dict()))
    )

    assert list(map(place_of, await kept.store.get("found"))) == PLACES


@pytest.mark.parametrize(
    "store", [str, float, lambda value: int(value) if type(value) is bool else value]
)
def test_a_place_is_read_where_a_store_made_other_types_of_its_values(store):
    for found, expected in zip(documents(), PLACES, strict=True):
        stored = {
            key: value if isinstance(value, str) else store(value)
            for key, value in found.metadata.items()
        }
        assert place_of(Document(found.page_content, metadata=stored)) == expected


def test_a_place_that_nobody_compared_is_the_same_and_not_exact():
    recorded = [replace(each, proof="recorded", exact=False) for each in PLACES]

    assert list(map(place_of, documents(compared=False))) == recorded
    assert list(map(place_of, nodes(compared=False))) == recorded
    again = in_langchain.OrderPreservingCompressor(merge=True)
    assert again(documents(compared=False)) == documents(compared=False)
    for known in (True, False):
        passages = in_langchain.as_passages(documents(compared=known))
        assert [p.exact for p in passages] == [known, known]


def test_what_oprag_did_not_write_has_no_place():
    metadata = {"source": "a.txt", "rank": 1, "citation": "a.txt, characters 0-1"}

    assert place_of(Document("t", metadata=metadata)) is None
    assert place_of({"page_content": "t", "metadata": {"oprag": "mine"}}) is None
    assert place_of("text") is None


def test_no_change_of_a_text_is_missed():
    (found, _), (scored, _) = documents(), nodes()
    text = found.page_content
    for other in (text[1:], f"{text} ", text.swapcase(), text.replace("l", "\u00adl")):
        document = found.model_copy(update={"page_content": other})
        made = place_of(document)
        assert not made.exact
        assert (made.start, made.end) == (PLACES[0].start, PLACES[0].end)
        (passage,) = in_langchain.as_passages([document])
        assert not passage.exact
        assert passage.spans == ((made.start, made.start),)
        assert not place_of(TextNode(text=other, metadata=scored.metadata)).exact


def test_a_changed_result_is_put_in_order_and_claims_no_end():
    first, second = documents()
    shorter = Document("Sun.", metadata=second.metadata)
    component = in_langchain.OrderPreservingCompressor(merge=True)

    before, behind = component([shorter, first])

    assert before.page_content == first.page_content
    assert behind.page_content == "Sun."
    made = place_of(behind)
    assert (made.start, made.end, made.exact) == (46, None, False)
    assert made.citation == "a.txt, from character 46"
    assert component([before, behind]) == [before, behind]
    passages = in_langchain.as_passages([before, behind])
    assert in_langchain.as_documents(passages) == [before, behind]
    (chunk,) = order_context(["Sun."], [second.metadata])[0].chunks
    assert (chunk.span, chunk.position, chunk.exact) == ((46, 46), (0, 46, 46), False)


CONFLICTING = [
    Document("The rent is due.", metadata={"source": "a", "start_index": 0}),
    Document("The roof leaks.", metadata={"source": "a", "start_index": 0}),
]


@pytest.mark.filterwarnings("ignore::oprag.errors.PositionWarning")
class TestMarkedResults:
    def ordered(self, given, **options):
        component = in_langchain.OrderPreservingCompressor(**options)
        return component.compress_documents(given, "?")

    def test_one_has_no_place_alone_either(self):
        first, _ = self.ordered(CONFLICTING, on_problem="warn")

        (alone,) = self.ordered([first])

        assert alone.metadata == first.metadata
        assert place_of(alone).problem == "conflicting_text"

    def test_several_are_an_error_unless_a_warning_is_asked_for(self):
        with pytest.raises(MissingPositionError):
            self.ordered(self.ordered(CONFLICTING, on_problem="warn"))

    def test_full_texts_prove_their_places(self):
        texts = {"a": "The roof leaks. The rent is due."}

        marked = self.ordered(CONFLICTING, on_problem="warn")
        found = self.ordered(marked, documents=texts)

        assert [place_of(each).start for each in found] == [0, 16]
        assert not any(place_of(each).problem for each in found)


def test_splitters_leave_the_keys_out_and_keep_the_place():
    found = documents()
    splitter = in_langchain.OffsetTokenSplitter(chunk_size=3)
    parser = in_llamaindex.OffsetTokenNodeParser(chunk_size=3)
    pieces = splitter.split_documents(found)
    parsed = parser([each.node for each in nodes()])

    for text, metadata in (
        *((each.page_content, each.metadata) for each in pieces),
        *((each.text, each.metadata) for each in parsed),
    ):
        assert not {*metadata} & {*RESULT_KEYS}
        assert TEXT[metadata["char_start"] : metadata["char_end"]] == text
