"""Retrieved nodes and their neighbours, in the order of the document."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from benchmarks.speed.setup import Setup
from benchmarks.speed.timing import Measured, race, ratio

_N_STORED = 5_000
_N_RETRIEVED = 1_000
_TURNS = 2
"""At least: the peer takes seconds."""
_ONE_OF = 5
"""At most one of so many nodes is found."""
_REACH = 2  # neighbours on each side
_NAME = "book.txt"


class _Nodes(NamedTuple):
    """Nodes of one document: those that are stored, and those that were found."""

    docstore: Any
    found: list[Any]


def measure(setup: Setup) -> Iterator[Measured]:
    """Measure all rows of the group.

    LlamaIndex follows the links from node to node. Ours takes the numbers around each,
    and leaves the order to the postprocessor.
    """
    from llama_index.core.postprocessor import PrevNextNodePostprocessor

    nodes = _nodes(setup)
    links = PrevNextNodePostprocessor(
        docstore=nodes.docstore, num_nodes=_REACH, mode="both"
    )
    functions = _functions(nodes)
    functions["peer"] = lambda: links.postprocess_nodes(nodes.found)
    given: dict[str, list[Any]] = {}

    def kept(name: str) -> None:
        given[name] = functions[name]()

    times = race(
        {name: lambda name=name: kept(name) for name in functions},  # type: ignore[misc]
        setup,
        repeats=min(setup.repeats, _TURNS),
    )
    ids = {name: {each.node.node_id for each in given[name]} for name in given}
    for name in ("memory", "docstore"):
        assert ids[name] == ids["peer"]
        yield ratio(f"neighbours.{name}", times["peer"], times[name])


def ours(setup: Setup) -> Mapping[str, Callable[[], object]]:
    """What oprag does, to compare one commit with another."""
    return _functions(_nodes(setup))


def _nodes(setup: Setup) -> _Nodes:
    from llama_index.core.schema import Document, NodeRelationship, NodeWithScore
    from llama_index.core.storage.docstore import SimpleDocumentStore

    from llamaindex_oprag import OffsetTokenNodeParser

    parser = OffsetTokenNodeParser(chunk_size=64)
    nodes = parser([Document(text=setup.text, id_=_NAME)])[:_N_STORED]
    nodes[-1].relationships.pop(NodeRelationship.NEXT, None)
    docstore = SimpleDocumentStore()
    docstore.add_documents(nodes)
    draw = random.Random(0)  # noqa: S311 -- not for security
    chosen = draw.sample(nodes, min(_N_RETRIEVED, len(nodes) // _ONE_OF))
    return _Nodes(docstore, [NodeWithScore(node=node, score=1.0) for node in chosen])


def _functions(nodes: _Nodes) -> dict[str, Callable[[], list[Any]]]:
    own = nodes.found[0].node.metadata["doc_key"]

    def stored() -> dict[int, Any]:
        return {
            node.metadata["chunk_index"]: node
            for node in nodes.docstore.docs.values()
            if node.metadata["doc_key"] == own
        }

    by_number = stored()
    return {
        "memory": lambda: _in_order(by_number, nodes.found),
        "docstore": lambda: _in_order(stored(), nodes.found),
    }


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
