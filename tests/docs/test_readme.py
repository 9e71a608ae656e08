"""The lines that the README says to change, run in place of those that they replace."""

import re

from langchain_core.embeddings import DeterministicFakeEmbedding
from langchain_core.vectorstores import InMemoryVectorStore
from llama_index.core import Document, MockEmbedding, Settings, VectorStoreIndex
from llama_index.core.llms import MockLLM

from langchain_oprag import OffsetSentenceSplitter, index_documents
from llamaindex_oprag import OffsetSentenceNodeParser
from oprag import place_of
from tests.docs.test_docs import ROOT
from tests.kit.pdf_folder import LEASE

QUESTION = "Is the deposit paid back?"


def changed(framework: str) -> str:
    """The lines that a diff of the README adds."""
    readme = (ROOT / "README.md").read_text("utf-8")
    of_framework = readme.partition(f"**{framework}**: ")[2]
    diff = re.search(r"^```diff\n(.*?)^```", of_framework, re.MULTILINE | re.DOTALL)[1]
    return "".join(re.findall(r"^\+ (.*\n)", diff, re.MULTILINE))


def test_the_line_for_langchain_gives_the_chunks_in_order(tmp_path):
    (tmp_path / "lease.txt").write_text(LEASE, "utf-8")
    vectorstore = InMemoryVectorStore(DeterministicFakeEmbedding(size=8))
    splitter = OffsetSentenceSplitter(chunk_size=30)
    index_documents(tmp_path, vectorstore, splitter=splitter)
    names = {"vectorstore": vectorstore}

    exec(changed("LangChain"), names)  # noqa: S102 -- our own README
    found = names["retriever"].invoke(QUESTION)

    starts = [place_of(chunk).start for chunk in found]
    assert len(starts) > 1
    assert starts == sorted(starts)
    assert names["retriever"].verify()


def test_the_lines_for_llamaindex_give_the_nodes_in_order(monkeypatch):
    monkeypatch.setattr(Settings, "_llm", MockLLM())
    index = VectorStoreIndex.from_documents(
        [Document(text=LEASE, id_="lease.txt")],
        transformations=[OffsetSentenceNodeParser(chunk_size=30)],
        embed_model=MockEmbedding(8),
    )
    names = {"index": index}

    exec(changed("LlamaIndex"), names)  # noqa: S102 -- our own README
    names["in_order"].token_budget = 100
    found = names["engine"].query(QUESTION).source_nodes

    starts = [place_of(node).start for node in found]
    assert len(starts) > 1
    assert starts == sorted(starts)
