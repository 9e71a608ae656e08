"""PrivateGPT reads the passages of each document in document order.

Tried with PrivateGPT 1.0.1, whose own setting PGPT_FORMAT_CONTEXT=xml does so too; but
it puts the passages of files of one name under one heading. Here each file is by
itself. Start PrivateGPT by this file in place of `private-gpt serve`:

    python in_document_order.py serve

It needs `pip install "oprag[llamaindex]"`. Without that, and where anything fails here,
PrivateGPT keeps its own order, and its log says why.
"""

import logging
from collections.abc import Iterator
from typing import Any

from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.schema import NodeWithScore, QueryBundle
from private_gpt.cli.main import main
from private_gpt.components.tools.builders.semantic_search_builder import (
    SemanticSearchToolBuilder,
)

_log = logging.getLogger(__name__)
_own_steps = SemanticSearchToolBuilder._node_postprocessors_fn


class DocumentOrder(BaseNodePostprocessor):
    """Puts passages in the order of their documents."""

    def _postprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        try:
            from llamaindex_oprag import OrderPreservingPostprocessor

            return OrderPreservingPostprocessor().postprocess_nodes(nodes)
        except Exception:  # else the model would be told of the error alone
            _log.exception("Passages stay in PrivateGPT's own order.")
            return nodes


def _steps(
    self: SemanticSearchToolBuilder, *args: Any, **options: Any
) -> Iterator[BaseNodePostprocessor]:
    yield from _own_steps(self, *args, **options)
    yield DocumentOrder()


SemanticSearchToolBuilder._node_postprocessors_fn = _steps

if __name__ == "__main__":
    main()
