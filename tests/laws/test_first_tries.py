"""What users write first: it works, or the answer has the right word.

`first_tries/*.txt` have every function that somebody may begin with, with every word
that is known from other components, and below each what came of it: the chunks in
order, or the error. `python -m tests.laws.test_first_tries` writes them anew.
"""

import re
from pathlib import Path
from typing import Any

import pytest
from langchain_core.language_models import FakeListChatModel
from llama_index.core.base.response.schema import Response
from llama_index.core.schema import NodeWithScore
from llama_index.core.tools import ToolOutput
from llama_index.core.vector_stores import ExactMatchFilter, MetadataFilters

import langchain_oprag
import llamaindex_oprag
from oprag.errors import OpragError
from oprag.stores import StoredChunk
from tests.kit.frameworks import InLlamaIndex
from tests.langchain import corpus
from tests.llamaindex.recording import RecordingLLM
from tests.parity.components import nodes

HERE = Path(__file__).parent / "first_tries"
OPTIONS = (
    "k=2",
    "top_k=2",
    "top_n=2",
    "similarity_top_k=2",
    "token_budget=25",
    "max_tokens=25",
    "merge=True",
    'search_kwargs={"k": 2}',
    "filter=only",
    "chunk_overlap=20",
)
BEGINNINGS = {
    "langchain": (
        "order_documents(found, {})",
        "OrderPreservingRetriever(store, {}).invoke('q')",
        "OrderPreservingRetriever(store).invoke('q', {})",
        "OrderPreservingCompressor({}).invoke(found)",
        "OrderPreservingVectorStore(store, {}).similarity_search('q')",
        "create_retrieval_tool(store, {}).invoke('q')",
        "SelfRouteChain(llm=llm, retriever=searched, documents=texts, {}).invoke('q')",
    ),
    "llamaindex": (
        "order_nodes(found, {})",
        "OrderPreservingRetriever(index, {}).retrieve('q')",
        "OrderPreservingRetriever(index).retrieve('q', {})",
        "OrderPreservingPostprocessor({}).postprocess_nodes(found)",
        "OrderPreservingRetrieverTool.from_defaults(index, {}).call('q')",
        "SelfRouteQueryEngine.from_args(index, llm, documents=texts, {}).query('q')",
    ),
}
TRIES = [
    (framework, beginning.format(option))
    for framework, beginnings in BEGINNINGS.items()
    for beginning in beginnings
    for option in OPTIONS
]
ORDER = [2, 5, 0, 3]
"""Numbers of the chunks that were found, best first."""
_NUMBER = re.compile(r"chunk (\d{3})")
_NUMBER_SAID = re.compile(r"\d{3}")
_ANSWER = re.compile("Did you mean '|Set it on |Give it |Give what ")
"""What says how it is done."""


def names(framework: str) -> dict[str, Any]:
    book = corpus.book(6)
    shared = {"texts": {"book.txt": "".join(each.page_content for each in book)}}
    if framework == "langchain":
        package: Any = langchain_oprag
        store = corpus.RecordingStore(book)
        there = {
            "found": [book[number] for number in ORDER],
            "store": store,
            "searched": store.as_retriever(),
            "llm": FakeListChatModel(responses=["So it is."]),
            "only": lambda document: document.metadata["source"] == "book.txt",
        }
    else:
        package, held = llamaindex_oprag, InLlamaIndex()
        held.add([StoredChunk(d.page_content, d.metadata, d.id or "") for d in book])
        texts = [book[number].page_content for number in ORDER]
        match = ExactMatchFilter(key="source", value="book.txt")
        there = {
            "found": nodes(texts, [book[number].metadata for number in ORDER]),
            "index": held.documents,
            "llm": RecordingLLM(replies=["So it is."]),
            "only": MetadataFilters(filters=[match]),
        }
    public = {name: getattr(package, name) for name in package.__all__}
    return {**shared, **there, **public}


def read(result: Any) -> list[str]:
    """The texts that a component gives."""
    if isinstance(result, dict):
        return read(result["context"])
    if isinstance(result, Response):
        return read(result.source_nodes)
    if isinstance(result, ToolOutput):
        return [result.content]
    if isinstance(result, list):
        return [
            n.text if isinstance(n, NodeWithScore) else n.page_content for n in result
        ]
    return [result]


def outcome(written: str, known: dict[str, Any]) -> str:
    """What came of a try: the chunks in each result, or the error."""
    try:
        texts = read(eval(written, known))  # noqa: S307 -- made above
    except OpragError as error:
        return f"{type(error).__name__}: {error}"
    return "works: " + " | ".join(" ".join(_NUMBER.findall(text)) for text in texts)


def written_table(framework: str) -> str:
    tries = [written for each, written in TRIES if each == framework]
    found = [f"{each}\n{outcome(each, names(framework))}" for each in tries]
    return "\n\n".join(found) + "\n"


@pytest.fixture(scope="module", params=BEGINNINGS)
def table(request) -> tuple[str, str]:
    """Of each framework: its name, and what came of its tries."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HF_HUB_OFFLINE", "1")
        return request.param, written_table(request.param)


def test_what_comes_of_first_tries_is_approved(table):
    framework, found = table
    assert found == (HERE / f"{framework}.txt").read_text("utf-8")


def test_what_works_is_in_order_and_what_does_not_is_answered(table):
    _, found = table
    for entry in found.strip().split("\n\n"):
        written, said = entry.split("\n", 1)
        if said.startswith("works: "):
            numbers = _NUMBER_SAID.findall(said)
            assert numbers == sorted(set(numbers)) != [], written
        else:
            assert _ANSWER.search(said), entry


if __name__ == "__main__":
    for framework in BEGINNINGS:
        (HERE / f"{framework}.txt").write_text(written_table(framework), "utf-8")
