"""The place of a result outlives every store of both frameworks."""

import uuid

import pytest
from langchain_core.documents import Document

from langchain_oprag import order_documents
from oprag import place_of
from oprag.stores import StoredChunk
from tests.real_stores.everywhere import everywhere, opened

TEXT = "It rained. It snowed all day long.\n\nThen the sun came out over größe 🙂."
SPANS = ((0, 10), (11, 34), (36, 50))


def results() -> list[Document]:
    """A passage with gaps, one under a name with blanks, and one without a place."""
    chunks = [
        Document(TEXT[start:end], metadata={"source": "a.txt", "start_index": start})
        for start, end in SPANS
    ]
    unplaced = [
        Document(text, metadata={"source": "b c/ü.txt"}) for text in ("One.", "Two.")
    ]
    ordered = order_documents(
        [chunks[2], *unplaced, *chunks[:2]], merge=True, on_problem="warn"
    )
    renamed = order_documents(
        [Document("Three.", metadata={"team": "red 7"})], document_key="team"
    )
    return [*ordered, *renamed]


@pytest.mark.filterwarnings("ignore::oprag.errors.PositionWarning")
@pytest.mark.parametrize("place", everywhere())
def test_a_store_gives_the_place_of_a_result_back(place, request):
    held, given = opened(place, request), results()
    held.add(
        [
            StoredChunk(each.page_content, each.metadata, str(uuid.uuid4()))
            for each in given
        ]
    )

    found = held.find(held.search(len(given)))

    places = {
        each.text: place_of({"text": each.text, "metadata": each.metadata})
        for each in found
    }
    assert places == {each.page_content: place_of(each) for each in given}
    assert None not in places.values()
