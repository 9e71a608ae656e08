"""Results that are put into a store and come out of it with their places."""

from __future__ import annotations

import pytest
from langchain_core.documents import Document
from llama_index.core import StorageContext, VectorStoreIndex
from llama_index.core.schema import NodeWithScore

from langchain_oprag import OffsetTokenSplitter, OrderPreservingCompressor, as_passages
from langchain_oprag.stores import chunk_store
from llamaindex_oprag import OffsetTokenNodeParser, OrderPreservingPostprocessor
from oprag import place_of
from oprag.metadata import RESULT_KEYS, named_id
from tests.stores.langchain_places import PLACES, add
from tests.stores.llamaindex_fakes import ChecksumEmbedding
from tests.stores.llamaindex_places import LLAMAINDEX_STORES
from tests.stores.test_llamaindex_stores import as_read

TEXT = "".join(f"Rule {n} of the house says that {n} comes first. " for n in range(60))


@pytest.mark.parametrize(
    "place", [place for place in PLACES if not place.slow], ids=lambda place: place.id
)
def test_a_langchain_store_keeps_the_places_of_results(place, request, tmp_path):
    splitter = OffsetTokenSplitter(chunk_size=16)
    chunks = splitter.create_documents([TEXT], [{"source": "a.txt"}])
    for chunk in chunks:  # with a gap before the next
        chunk.page_content = chunk.page_content[:-1]
        chunk.metadata["char_end"] -= 1
    made = OrderPreservingCompressor(merge=True)(chunks[::3] + chunks[1:3])
    for result in made:
        result.id = named_id(result.page_content)

    with place.make(tmp_path, request.getfixturevalue) as store:
        add(store, list(made))
        found = [
            Document(chunk.text, metadata=chunk.metadata)
            for chunk in chunk_store(store).read()
        ]

    assert len(found) == len(made)
    by_text = {passage.page_content: place_of(passage) for passage in made}
    assert {each.page_content: place_of(each) for each in found} == by_text
    spans = {passage.text: passage.spans for passage in as_passages(found)}
    assert spans == {text: place.spans for text, place in by_text.items()}


@pytest.mark.parametrize(
    "place",
    [place for place in LLAMAINDEX_STORES if "folder" not in place.id],
    ids=lambda place: place.id,
)
def test_a_llamaindex_store_keeps_the_places_of_results(place, request):
    nodes = OffsetTokenNodeParser(chunk_size=16)(as_read([("a.txt", [TEXT])]))
    for node in nodes:  # with a gap before the next
        node.set_content(node.get_content()[:-1])
        node.metadata["char_end"] -= 1
    component = OrderPreservingPostprocessor(merge=True)
    chosen = [NodeWithScore(node=node) for node in nodes[::3] + nodes[1:3]]
    made = component.postprocess_nodes(chosen)

    index = VectorStoreIndex(
        [each.node for each in made],
        storage_context=StorageContext.from_defaults(vector_store=place.make(request)),
        embed_model=ChecksumEmbedding(),
    )
    found = index.as_retriever(similarity_top_k=len(made)).retrieve("?")

    assert {each.text: place_of(each) for each in found} == {
        each.text: place_of(each) for each in made
    }
    for each in found:
        shown = {*each.metadata} - {*each.node.excluded_llm_metadata_keys}
        assert not shown & {*RESULT_KEYS}
