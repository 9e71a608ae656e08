"""Runs a flow in the environment of Langflow, with its own engine and components.

Files, Split Text, a vector store, our component, Chat Output. Given are the component's
file, whether the files are connected to it, its budget, and the files; then, as
JSON, what was found and what the output shows.
"""

import asyncio
import json
import sys
from pathlib import Path

from langchain_core.embeddings import DeterministicFakeEmbedding
from langchain_core.vectorstores import InMemoryVectorStore
from lfx.base.vectorstores.model import (
    LCVectorStoreComponent,
    check_cached_vector_store,
)
from lfx.components.files_and_knowledge.file import FileComponent
from lfx.components.input_output import ChatOutput
from lfx.components.processing.split_text import SplitTextComponent
from lfx.custom.eval import eval_custom_component_code
from lfx.graph import Graph


class Store(LCVectorStoreComponent):
    name = "Store"
    search_type = "similarity"
    number_of_results = 12
    outputs = LCVectorStoreComponent.outputs[:1]

    def _validate_outputs(self):
        pass

    @check_cached_vector_store
    def build_vector_store(self):
        store = InMemoryVectorStore(DeterministicFakeEmbedding(size=32))
        store.add_documents(
            [record.to_lc_document() for record in self._prepare_ingest_data()]
        )
        return store


async def run(
    recipe: str, connected: str, budget: str, *paths: str
) -> dict[str, object]:
    files, split, store = FileComponent(), SplitTextComponent(), Store()
    files.set(path=list(paths))
    split.set(data_inputs=files.load_files(), chunk_size=400, chunk_overlap=0)
    split.set(separator=". ")
    store.set(ingest_data=split.split_text, search_query="Who pays for the roof?")
    order = eval_custom_component_code(recipe)()
    order.set(results=store.search_documents, token_budget=int(budget))
    if connected == "yes":
        order.set(files=files.load_files())
    output = ChatOutput()
    output.set(input_value=order.context)
    async for _ in Graph(split, output).async_start():
        pass
    shown = output.get_output_by_method(output.message_response).value.text
    found = [record.get_text() for record in store.search_documents()]
    return {"found": found, "shown": shown, "logs": str(order.get_output_logs())}


RECIPE = Path(sys.argv[1]).read_text()
print(json.dumps(asyncio.run(run(RECIPE, *sys.argv[2:]))))  # noqa: T201
