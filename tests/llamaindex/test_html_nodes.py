"""Nodes that LlamaIndex's parser cuts out of HTML: their links put them in order."""

import random

import pytest
from llama_index.core import Document, VectorStoreIndex
from llama_index.core.bridge.pydantic import Field
from llama_index.core.instrumentation import get_dispatcher
from llama_index.core.instrumentation.event_handlers import BaseEventHandler
from llama_index.core.node_parser import HTMLNodeParser
from llama_index.core.schema import BaseNode

from llamaindex_oprag import OrderPreservingRetriever
from llamaindex_oprag.events import OrderedContextEvent
from oprag import place_of
from tests.real_stores.llamaindex_fakes import ChecksumEmbedding

pytest.importorskip("bs4", reason="HTMLNodeParser reads with it")
SECTIONS = [
    (f"Section <i>{number}</i>", f"Of <b>{number * 7 % 20}</b>, said at length.")
    for number in range(20)
]


def parsed(name: str = "a.html") -> list[BaseNode]:
    body = "".join(f"<h2>{head}</h2><p>{said}</p>" for head, said in SECTIONS)
    html = f"<html><body>{body}</body></html>"
    page = Document(text=html, id_=name, metadata={"file_name": name})
    return HTMLNodeParser(tags=["h2", "p"]).get_nodes_from_documents([page])


@pytest.fixture
def index() -> VectorStoreIndex:
    nodes = parsed()
    assert len(nodes) == 2 * len(SECTIONS)
    assert {node.start_char_idx for node in nodes} == {None}  # marks are between words
    shuffled = random.Random(4).sample(nodes, len(nodes))  # noqa: S311 -- an order
    return VectorStoreIndex(shuffled, embed_model=ChecksumEmbedding())


def numbers(found) -> list[int]:
    order = [node.get_content() for node in parsed()]
    return [order.index(each.node.get_content()) for each in found]


@pytest.mark.parametrize("k", [2, 7, 40])
async def test_they_are_in_the_order_of_the_page(index, k):
    retriever = OrderPreservingRetriever(index, similarity_top_k=k)
    for question in ("?", "another"):
        found = retriever.retrieve(question)
        assert len(found) == k
        assert numbers(found) == sorted(numbers(found))
        assert {place_of(each).proof for each in found} == {"chained"}
        assert numbers(await retriever.aretrieve(question)) == numbers(found)


def test_verify_finds_them_in_order(index):
    assert OrderPreservingRetriever(index).verify().verdict == "ordered"


def test_with_offsets_on_some_of_them_they_are_in_order_too():
    body = "".join(
        f"<h2>Part {number}</h2><p>Of <b>{number}</b>, and Part 3.</p>"
        for number in range(20)
    )
    page = Document(text=body, id_="b.html", metadata={"file_name": "b.html"})
    nodes = HTMLNodeParser(tags=["h2", "p"]).get_nodes_from_documents([page])
    order = [node.get_content() for node in nodes]
    assert 0 < sum(node.start_char_idx is None for node in nodes) < len(nodes)
    index = VectorStoreIndex(nodes[::-1], embed_model=ChecksumEmbedding())
    for k in (2, 5, 40):
        found = OrderPreservingRetriever(index, similarity_top_k=k).retrieve("?")
        at = [order.index(each.node.get_content()) for each in found]
        assert len(at) == k
        assert at == sorted(at)


class _Heard(BaseEventHandler):
    events: list[OrderedContextEvent] = Field(default_factory=list)

    def handle(self, event, **_) -> None:
        if isinstance(event, OrderedContextEvent):
            self.events.append(event)


def test_why_says_that_links_put_them_in_order(index):
    heard = _Heard()
    dispatcher = get_dispatcher()
    dispatcher.add_event_handler(heard)
    try:
        OrderPreservingRetriever(index, similarity_top_k=5).retrieve("?")
    finally:
        dispatcher.event_handlers.remove(heard)
    (event,) = heard.events
    assert event.why["chained"] == {"links": [0, 1, 2, 3, 4]}
