"""Neighbours by the links that LlamaIndex writes, within the filter of a search."""

from typing import Any

from llama_index.core import VectorStoreIndex
from llama_index.core.schema import TextNode

import llamaindex_oprag
from tests.kit.tenants import Tenants
from tests.real_stores.llamaindex_fakes import ChecksumEmbedding
from tests.real_stores.llamaindex_places import metadata_filters

TENANTS = Tenants("ababaabbaaabab", open=8)
"""A chunk of tenant b is beside nearly every one of tenant a."""


async def test_links_lead_past_the_nodes_of_another_tenant():
    nodes: list[Any] = []  # without oprag's keys, as LlamaIndex's own parsers make them
    for node in TENANTS.nodes():
        kept = {
            "tenant": node.metadata["tenant"],
            "source": node.metadata.get("doc_uri"),
        }
        place = {"start_char_idx": node.metadata["char_start"]}
        place["end_char_idx"] = node.metadata["char_end"]
        nodes.append(
            TextNode(
                id_=node.node_id,
                text=node.text,
                metadata=kept,
                excluded_embed_metadata_keys=list(kept),
                relationships=node.relationships,
                **place,
            )
        )
    linked = VectorStoreIndex(nodes, embed_model=ChecksumEmbedding())
    for where in (None, *metadata_filters()):
        base = linked.as_retriever(similarity_top_k=2, filters=where)
        retriever = llamaindex_oprag.OrderPreservingRetriever(base, widen=2)

        found = retriever.retrieve("?")

        awaited = await retriever.aretrieve("?")
        assert [each.text for each in awaited] == [each.text for each in found]
        everything = {word for each in found for word in each.node.text.split()}
        assert everything <= TENANTS.words_of("ab" if where is None else "a")
        assert len(found) > len(base.retrieve("?"))
