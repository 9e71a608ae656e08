"""`RayIngestionPipeline` with the node parsers of oprag: see docs/large_indexes.md."""

import pytest
import ray
from llama_index.core.ingestion import IngestionPipeline
from llama_index.ingestion.ray import RayIngestionPipeline, RayTransformComponent

from llamaindex_oprag import OffsetSentenceNodeParser, OffsetTokenNodeParser
from tests.scale.corpus import pages


@pytest.mark.parametrize("parser", [OffsetSentenceNodeParser, OffsetTokenNodeParser])
def test_the_nodes_are_those_of_one_process(parser, address):
    documents = [*pages("llamaindex", 8, each=1)]
    alone = IngestionPipeline(
        transformations=[parser(chunk_size=40)], disable_cache=True
    ).run(documents=documents)
    ray.init(address=address, log_to_driver=False)
    try:
        split = RayTransformComponent(parser, chunk_size=40)
        together = RayIngestionPipeline(transformations=[split]).run(
            documents=documents
        )
    finally:
        ray.shutdown()

    assert len(together) > 8
    assert [(n.text, n.metadata) for n in together] == [
        (n.text, n.metadata) for n in alone
    ]
    assert [n.node_id for n in together] == [n.node_id for n in alone]
