"""Retrieved nodes and their neighbours, in the order of the document."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from benchmarks.speed.setup import Setup
from benchmarks.speed.timing import Measured, Times, race, ratio

_N_STORED = 5_000
_N_RETRIEVED = 1_000
_TURNS = 5
_REACH = 2  # neighbours on each side
_NAME = "book.txt"


def measure(setup: Setup) -> Iterator[Measured]:
    """Measure all rows of the group.

    LlamaIndex follows the links from node to node. Ours takes the numbers around each,
    and leaves the order to the postprocessor.
    """
    from llama_index.core.postprocessor import PrevNextNodePostprocessor
    from llama_index.core.schema import Document, NodeRelationship, NodeWithScore
    from llama_index.core.storage.docstore import SimpleDocumentStore

    from llamaindex_oprag import OffsetTokenNodeParser
    from oprag.metadata import document_key

    parser = OffsetTokenNodeParser(chunk_size=64)
    nodes = parser([Document(text=setup.text, id_=_NAME)])[:_N_STORED]
    nodes[-1].relationships.pop(NodeRelationship.NEXT, None)
    docstore = SimpleDocumentStore()
    docstore.add_documents(nodes)
    chosen = random.Random(0).sample(nodes, _N_RETRIEVED)  # noqa: S311 -- no secret
    found = [NodeWithScore(node=node, score=1.0) for node in chosen]
    links = PrevNextNodePostprocessor(docstore=docstore, num_nodes=_REACH, mode="both")
    by_number = {node.metadata["chunk_index"]: node for node in nodes}

    def stored() -> dict[int, Any]:
        own = document_key(_NAME)
        return {
            node.metadata["chunk_index"]: node
            for node in docstore.docs.values()
            if node.metadata["doc_key"] == own
        }

    expected = [node.node_id for node in _in_order(by_number, found)]
    given = {node.node.node_id for node in links.postprocess_nodes(found)}
    assert set(expected) == given
    functions: dict[str, Callable[[], object]] = {
        "memory": lambda: _in_order(by_number, found),
        "docstore": lambda: _in_order(stored(), found),
    }
    # The peer takes long: once, and ours before and after it.
    before = race(functions, _TURNS)
    (wall,), (cpu,) = race({"peer": lambda: links.postprocess_nodes(found)}, 1)["peer"]
    after = race(functions, _TURNS)
    for name in functions:
        ours = Times(*(a + b for a, b in zip(before[name], after[name], strict=True)))
        turns = len(ours.cpu)
        yield ratio(f"neighbours.{name}", Times([wall] * turns, [cpu] * turns), ours)


def _in_order(by_number: Mapping[int, Any], found: list[Any]) -> list[Any]:
    from llama_index.core.schema import NodeWithScore

    from llamaindex_oprag import OrderPreservingPostprocessor

    scores: dict[int, float] = {}
    for each in found:
        number = each.node.metadata["chunk_index"]
        for near in range(number - _REACH, number + _REACH + 1):
            if near in by_number:
                scores.setdefault(near, each.score)
    nodes = [NodeWithScore(node=by_number[n], score=s) for n, s in scores.items()]
    return OrderPreservingPostprocessor().postprocess_nodes(nodes)
