"""`LongUnitRetriever`: short nodes are searched, long units come back whole."""

from __future__ import annotations

from llama_index.core.schema import IndexNode, MetadataMode, NodeWithScore, TextNode

from llamaindex_oprag import LongUnitRetriever
from oprag.units import group_documents
from tests.kit.words import words
from tests.llamaindex.components import Retrieved

TEXTS = {
    "bridge.md": "Ann built the bridge over the Une in 1912. It is of stone.",
    "ann.md": "Ann was an engineer. She was born in 1880 in Ulm.",
    "mill.md": "The mill stands by the weir. It grinds no more.",
    "chronicle.md": "\n".join(f"The year {year} was good." for year in range(60)),
}
UNITS = group_documents(TEXTS, [("bridge.md", "ann.md")], 100, words)
"""A pair, the mill, and the chronicle in parts."""


def node(name: str, start: int = 0, score: float | None = None) -> NodeWithScore:
    text = TEXTS[name][start : start + 20]
    metadata = {"doc_id": name, "char_start": start, "char_end": start + len(text)}
    return NodeWithScore(node=TextNode(text=text, metadata=metadata), score=score)


def listed(*nodes: NodeWithScore, **options) -> LongUnitRetriever:
    settings = {"units": UNITS, "documents": TEXTS, **options}
    return LongUnitRetriever(Retrieved(nodes), **settings)


def of(scored: NodeWithScore) -> list[str]:
    return scored.node.metadata["unit_documents"]


class TestOutput:
    def test_metadata_are_shown_to_no_model(self):
        part, pair = listed(node("chronicle.md", 700, 0.5), node("ann.md")).retrieve(
            "?"
        )

        for each in (part, pair):
            shown = each.node.get_content(MetadataMode.EMBED)
            assert shown == each.node.text
        assert (part.score, pair.score) == (0.5, None)
        assert part.node.metadata["doc_uri"] == "chronicle.md"
        assert pair.node.metadata["oprag_rank"] == 1
        assert (pair.node.start_char_idx, pair.node.end_char_idx) == (None, None)
        assert part.node.node_id != pair.node.node_id

    def test_index_nodes_are_resolved_first(self):
        stands_for = node("mill.md")
        pointer = IndexNode(text="about the mill", index_id="m", obj=stands_for.node)
        retriever = listed(NodeWithScore(node=pointer, score=1.0))

        assert [of(each) for each in retriever.retrieve("?")] == [["mill.md"]]
