"""What each place hands out says where it stands, and shows it to no model."""

from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.query_engine import RetrieverQueryEngine

from tests.llamaindex.places.ingredients import ingredients
from tests.llamaindex.places.registry import places_of
from tests.llamaindex.places.running import build, each_mode, each_place

PLACES = [*places_of("retrievers"), *places_of("postprocessors")]


@each_mode
@each_place(PLACES)
async def test_every_result_has_its_rank_and_citation_and_the_place_of_its_text(
    place, mode
):
    names = ingredients(oprag=True)
    built = build(place.how, names)
    if isinstance(built, BaseRetriever):
        built = RetrieverQueryEngine.from_args(built, llm=names["llm"])
    elif isinstance(built, list):
        built = RetrieverQueryEngine.from_args(
            names["retriever"], llm=names["llm"], node_postprocessors=built
        )
    question = names["question"]
    response = (
        built.query(question) if mode == "query" else await built.aquery(question)
    )

    assert response.source_nodes
    for scored in response.source_nodes:
        node = scored.node
        assert type(node.metadata["oprag_rank"]) is int
        assert isinstance(node.metadata["oprag_citation"], str)
        for key in ("oprag_rank", "oprag_citation", "oprag_start", "oprag_end"):
            if key in node.metadata:
                assert key in node.excluded_llm_metadata_keys
                assert key in node.excluded_embed_metadata_keys
        if "oprag_start" in node.metadata and node.metadata["oprag_exact"]:
            span = node.metadata["oprag_end"] - node.metadata["oprag_start"]
            assert span == len(node.get_content())
