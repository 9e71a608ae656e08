"""What each place hands out says where it stands."""

from langchain_core.documents import BaseDocumentCompressor

from tests.langchain.compat import ContextualCompressionRetriever
from tests.langchain.places.ingredients import ingredients
from tests.langchain.places.registry import places_of
from tests.langchain.places.running import each_mode, each_place

PLACES = [*places_of("retrievers"), *places_of("compressors")]


@each_mode
@each_place(PLACES)
async def test_every_result_has_its_rank_and_citation_and_the_place_of_its_text(
    place, mode
):
    names = ingredients(oprag=True)
    built = eval(place.how, names)  # noqa: S307 -- the column of our own page
    if isinstance(built, BaseDocumentCompressor):
        built = ContextualCompressionRetriever(
            base_compressor=built, base_retriever=names["retriever"]
        )
    question = names["question"]
    if mode == "invoke":
        found = built.invoke(question)
    else:
        found = await built.ainvoke(question)

    ranks = [document.metadata["oprag_rank"] for document in found]
    assert min(ranks) == 0
    assert len({*ranks}) == len(ranks)
    for document in found:
        metadata = document.metadata
        assert metadata["oprag_citation"].startswith(metadata["source"])
        if "oprag_start" in metadata and metadata["oprag_exact"]:
            span = metadata["oprag_end"] - metadata["oprag_start"]
            assert span == len(document.page_content)
    assert any("oprag_start" in document.metadata for document in found)
