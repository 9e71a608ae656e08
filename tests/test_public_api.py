"""The names that users import: what is promised is there, and nothing else."""

import importlib
from types import ModuleType

import pytest

PROMISED = {
    "langchain_oprag": {
        "LongReader",
        "LongUnitRetriever",
        "OffsetSentenceSplitter",
        "OffsetTokenSplitter",
        "OrderPreservingCompressor",
        "OrderPreservingRetriever",
        "SelfRouteChain",
        "annotate_positions",
        "diagnose",
        "aindex_documents",
        "document_source",
        "index_documents",
    },
    "llamaindex_oprag": {
        "LongReaderSynthesizer",
        "LongUnitRetriever",
        "OffsetSentenceNodeParser",
        "OffsetTokenNodeParser",
        "OrderPreservingPostprocessor",
        "OrderPreservingRetriever",
        "PositionAnnotator",
        "SelfRouteQueryEngine",
        "aindex_documents",
        "diagnose",
        "document_source",
        "index_documents",
    },
    "oprag.evaluation.data": {"Dataset", "Document", "Question", "load", "read_own"},
    "oprag.evaluation.metrics": {"choice_match", "longrag_match", "token_f1"},
    "oprag.evaluation.reports": {"Summary", "write_reports"},
    "oprag": {"Chunk", "OpragError", "Passage", "document_order", "order_context"},
}
"""Names that code and documentation outside this repository rely on."""


@pytest.fixture(params=sorted(PROMISED))
def package(request) -> ModuleType:
    """Each of the three packages in turn."""
    return importlib.import_module(request.param)


def by_kind(name: str) -> tuple[int, str]:
    """Order constants before classes before functions, each alphabetically."""
    return (0 if name.isupper() else 1 if name[0].isupper() else 2), name


def test_promised_names_stay(package):
    assert PROMISED[package.__name__] <= set(package.__all__)


def test_names_are_listed_once_and_in_order(package):
    assert list(package.__all__) == sorted(set(package.__all__), key=by_kind)


def test_every_listed_name_is_there_and_documented(package):
    for name in package.__all__:
        assert getattr(package, name).__doc__, name


def test_no_other_name_of_ours_is_there(package):
    visible = {
        name
        for name, value in vars(package).items()
        if not name.startswith("_")
        and getattr(value, "__module__", "").partition(".")[0] in PROMISED
    }

    assert visible <= set(package.__all__)
