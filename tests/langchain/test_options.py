"""The shared options: the same in both components, and checked by the core alone."""

import pytest

from langchain_oprag import OrderPreservingCompressor, OrderPreservingRetriever
from oprag.errors import InvalidOptionError
from tests.langchain.corpus import ListRetriever, chunk, numbers

RANKED = [chunk(number) for number in (5, 9, 1)]


def retriever(**options):
    base = ListRetriever(documents=RANKED)
    return OrderPreservingRetriever(base_retriever=base, **options)


@pytest.fixture(params=[OrderPreservingCompressor, retriever])
def make(request):
    return request.param


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("token_budget", 0),
        ("token_budget", 1.5),
        ("token_budget", True),
        ("order", "reverse"),
        ("document_order", ""),
        ("position_keys", []),
        ("document_key", 7),
    ],
)
def test_what_the_core_refuses_is_refused_on_construction_and_assignment(
    make, option, value
):
    with pytest.raises(InvalidOptionError, match=f"{option}="):
        make(**{option: value})
    component = make()
    before = getattr(component, option)
    with pytest.raises(InvalidOptionError, match=f"{option}="):
        setattr(component, option, value)
    assert getattr(component, option) == before


def test_options_are_plain_json_values(make):
    options = {
        "token_budget": 100,
        "order": "document",
        "document_order": "first_seen",
        "merge": True,
        "citations": True,
        "position_keys": ["page", "start_index"],
        "document_key": "source",
        "token_counter": "cl100k_base",
        "separator": "\n",
        "documents": {"book.txt": "text"},
    }
    component = make(**options)

    assert {name: getattr(component, name) for name in options} == options


def test_full_texts_are_neither_read_nor_copied_on_construction(make):
    class Library(dict):
        def __getitem__(self, key):
            raise AssertionError

        __iter__ = items = values = keys = get = __getitem__

    library = Library(book="text")

    assert make(documents=library).documents is library


def test_callables_are_taken_for_keys(make):
    component = make(
        position_keys=lambda document: -document.metadata["start_index"] % 1000,
        document_key=lambda document: document.id.split("-")[0],
    )
    result = (
        component.invoke("q") if hasattr(component, "invoke") else component(RANKED)
    )

    assert numbers(result) == [9, 5, 1]
