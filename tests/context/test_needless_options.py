"""Options without which chunks would be in order: errors say it first."""

import pytest

import llamaindex_oprag
from langchain_oprag import OrderPreservingCompressor
from oprag import order_context
from oprag.errors import DocumentNotFoundError, OpragError
from tests.parity.components import documents, nodes

TEXTS = ["one ", "two "]
PLACES = [{"source": "a", "start_index": 4}, {"source": "a", "start_index": 0}]
NEEDLESS = [
    {"document_key": "titel"},
    {"position_keys": "page_no"},
    {"documents": {"b": "another text"}},
]
WAYS = {
    "plain": lambda **o: order_context(TEXTS, PLACES, **o),
    "langchain": lambda **o: OrderPreservingCompressor(**o).invoke(
        documents(TEXTS, PLACES)
    ),
    "llamaindex": lambda **o: llamaindex_oprag.order_nodes(nodes(TEXTS, PLACES), **o),
}


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
@pytest.mark.parametrize("option", NEEDLESS, ids=lambda each: next(iter(each)))
def test_a_needless_option_is_named_first(way, option):
    assert len(way()) == 2
    with pytest.raises(OpragError) as caught:
        way(**option)
    (name,) = option
    first = f"Leave {name}= out: without it these chunks are put in order. "
    assert caught.value.message.startswith(first)


@pytest.mark.parametrize("option", NEEDLESS, ids=lambda each: next(iter(each)))
def test_it_is_not_said_where_something_else_is_wrong(option):
    for places in ([{}, {}], [{"source": "a"}, {"source": "a"}]):
        with pytest.raises(OpragError) as caught:
            order_context(TEXTS, places, **option)
        assert "Leave" not in caught.value.message


def test_full_texts_that_contradict_a_chunk_are_never_to_be_left_out():
    with pytest.raises(OpragError) as caught:
        order_context(TEXTS, PLACES, documents={"a": "another text"})
    assert not isinstance(caught.value, DocumentNotFoundError)
    assert "Leave" not in caught.value.message


async def test_async_the_same_is_said():
    found = documents(TEXTS, PLACES)
    with pytest.raises(OpragError, match=r"^Leave position_keys= out"):
        await OrderPreservingCompressor(position_keys="nowhere").ainvoke(found)
    with pytest.raises(OpragError, match=r"^Leave documents= out"):
        await OrderPreservingCompressor(documents={"b": "x"}).ainvoke(found)


def test_full_texts_are_not_read_again_to_find_what_is_needless():
    read = []

    def document(name):
        read.append(name)
        return "one two "

    with pytest.raises(OpragError) as caught:
        order_context(TEXTS, PLACES, document_key="titel", documents=document)
    assert "Leave" not in caught.value.message
    assert read == []
