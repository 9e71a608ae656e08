"""A reranking for kotaemon: the best of what it retrieved, in document order.

Put this file beside kotaemon's flowsettings.py, and add there:

    KH_RERANKINGS["order"] = {
        "spec": {"__type__": "document_order.DocumentOrder", "top_n": 10},
        "default": True,
    }

`top_n` has to be what the settings call "Number of document chunks to retrieve".
kotaemon asks one reranking; the spec of another, given as `first`, is asked before.
Install oprag with `pip install --no-deps oprag`. kotaemon reads these lines at its
first start only. If it has run before, add the reranking once, in its folder:

    from ktem.rerankings.manager import reranking_models_manager as manager

    spec = {"__type__": "document_order.DocumentOrder", "top_n": 10}
    manager.add("order", spec, default=True)
"""

import logging
import re

from kotaemon.base import Document, Param
from kotaemon.rerankings.base import BaseReranking

logger = logging.getLogger(__name__)


class DocumentOrder(BaseReranking):
    top_n: int = Param(10, help="As many chunks as kotaemon keeps, of the best.")
    first: BaseReranking | None = None  # asked before

    def run(self, documents: list[Document], query: str) -> list[Document]:
        if self.first is not None:
            documents = self.first.run(documents, query)
        try:
            return self._ordered(documents)
        except Exception:  # what was found counts for more than its order
            logger.exception("The order as retrieved is kept.")
            return documents

    def _ordered(self, documents: list[Document]) -> list[Document]:
        from oprag import order_context

        ids = [document.doc_id for document in documents]
        places = _places(ids)
        passages = order_context(
            ids,
            [places.get(each, {}) for each in ids],
            top_n=self.top_n,
            document_key="file",
            position_keys="row",
        )
        return [documents[passage.rank] for passage in passages]


def _places(ids: list[str]) -> dict[str, dict[str, object]]:
    """File and row of each chunk, from the tables that list chunks as they were made.

    What is stored of a chunk itself does not say where it stands.
    """
    from ktem.db.engine import engine
    from sqlalchemy import MetaData, Table, inspect, select

    places = {}
    with engine.connect() as database:
        for name in inspect(engine).get_table_names():
            if not re.fullmatch(r"index__\d+__index", name):
                continue
            table = Table(name, MetaData(), autoload_with=engine).c
            asked = select(table.target_id, table.source_id, table.id).where(
                table.relation_type == "document", table.target_id.in_(ids)
            )
            for chunk, file, row in database.execute(asked):
                places[chunk] = {"file": f"{name} {file}", "row": row}
    return places
