"""The names that users import: exactly those that are promised."""

import importlib
from types import ModuleType

import pytest

PROMISED = {
    package: set(names.split())
    for package, names in {
        "langchain_oprag": """
            EvidenceMiddleware EvidenceState LongReader LongUnitRetriever
            OffsetSentenceSplitter OffsetTokenSplitter OrderPreservingCompressor
            OrderPreservingRetriever OrderPreservingVectorStore SelfRouteChain
            aindex_documents annotate_positions as_documents as_passages chunk_store
            cited create_reading_tools create_retrieval_tool diagnose document_source
            format_documents index_documents order_documents
        """,
        "llamaindex_oprag": """
            LongReaderSynthesizer LongUnitRetriever OffsetSentenceNodeParser
            OffsetTokenNodeParser OrderPreservingPostprocessor
            OrderPreservingRetriever OrderPreservingRetrieverTool PositionAnnotator
            SelfRouteQueryEngine acited aindex_documents as_nodes as_passages
            chunk_store cited create_reading_tools diagnose document_source format_nodes
            index_documents order_nodes
        """,
        "oprag": """
            Chunk ChunkStore NamedTokenCounter OpragError Passage Place Price Span
            StoreSource StoredChunk diagnose document_order document_source
            group_documents locate order_context place_of plan_repair render
            split_sentences split_tokens
        """,
        "oprag_eval.data": """
            DATASETS Dataset Document Question check_gold load make_passkey read_own
        """,
        "oprag_eval.metrics": """
            answer_recall bracketed_match bracketed_option choice_match corpus_bleu
            evidence_recall exact_match first_number_match longrag_match meteor
            meteor_unavailable rouge_l token_f1 wrong_order
        """,
        "oprag_eval.reports": "ArmSummary Figure Summary write_reports",
        "oprag.testing": "StoreSuite StoreUnderTest",
    }.items()
}
"""The names under the version promise; a change here is a change for everybody."""


@pytest.fixture(params=sorted(PROMISED))
def package(request) -> ModuleType:
    """Each of the packages in turn."""
    return importlib.import_module(request.param)


def test_exactly_the_promised_names_are_public(package):
    assert set(package.__all__) == PROMISED[package.__name__]


def test_every_listed_name_is_there_and_documented(package):
    for name in package.__all__:
        assert name in dir(package)
        assert getattr(package, name).__doc__, name


def test_no_other_name_of_ours_is_there(package):
    visible = {
        name
        for name, value in vars(package).items()
        if not name.startswith("_")
        and getattr(value, "__module__", "").partition(".")[0] in PROMISED
    }

    assert visible <= set(package.__all__)


@pytest.mark.parametrize("name", ["oprag", "langchain_oprag", "llamaindex_oprag"])
def test_another_name_is_an_attribute_error(name):
    package = importlib.import_module(name)
    with pytest.raises(AttributeError, match="has no attribute 'order_contxt'"):
        _ = package.order_contxt
