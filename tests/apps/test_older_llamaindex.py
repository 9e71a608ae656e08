"""The lines of docs/llamaindex.md, beside the LlamaIndex that create-llama pins."""

import re
from itertools import groupby

from tests.apps.environments import ENCODINGS, ROOT, outcome

PACKAGES = ("llama-index-core==0.12.52.post1",)
PYTHONS = ("3.12", "3.11", "3.13")
PROGRAM = """
import json
from llama_index.core import Document, MockEmbedding, Settings, VectorStoreIndex
from llama_index.core.node_parser import SentenceSplitter

Settings.embed_model = MockEmbedding(embed_dim=8)
Settings.llm = None
texts = [" ".join(f"Rule {n} of {name}." for n in range(90)) for name in "ab"]
parser = SentenceSplitter(chunk_size=60, chunk_overlap=10)
index = VectorStoreIndex.from_documents(
    [Document(text=text) for text in texts], transformations=[parser]
)
found = index.as_retriever(similarity_top_k=12).retrieve("Which rule?")[::-1]
last = DocumentOrder()
engine = index.as_query_engine(similarity_top_k=12, node_postprocessors=[last])
answer = engine.query("Which rule?").source_nodes
place = lambda each: (each.node.ref_doc_id, each.node.start_char_idx)
lists = found, last.postprocess_nodes(found), answer
print(json.dumps([[place(each) for each in nodes] for nodes in lists]))
"""


def test_nodes_of_a_document_are_in_order_alone_and_in_an_engine(
    installed, ours, tmp_path
):
    python = installed("older-llamaindex", PACKAGES, pythons=PYTHONS) / "python"
    page = (ROOT / "docs/llamaindex.md").read_text()
    (lines,) = re.findall(r"```python\n(.*?class DocumentOrder.*?)```", page, re.DOTALL)

    (found, *orders), _ = outcome(
        [python, "-c", lines.rpartition("```python\n")[2] + PROGRAM],
        ours,
        tmp_path,
        NLTK_DATA=str(ENCODINGS.parent / "nltk_cache"),
    )

    for order in orders:
        assert sorted(order) == sorted(found)
        documents = [document for document, _ in groupby(order, lambda e: e[0])]
        assert len(documents) == len({*documents}) == 2
        for one in documents:
            starts = [start for document, start in order if document == one]
            assert starts == sorted(starts)
