"""LangChain's own loaders and parents: citations name files, with their text there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.vectorstores import InMemoryVectorStore
from langchain_text_splitters import RecursiveCharacterTextSplitter

from langchain_oprag import (
    OrderPreservingRetriever,
    create_retrieval_tool,
    format_documents,
)
from tests.files.mixed_files import pdf
from tests.langchain import compat
from tests.langchain.corpus import EMBEDDING
from tests.langchain.recording import RecordingChatModel

loaders = pytest.importorskip(
    "langchain_community.document_loaders", reason="with the oldest packages it is not"
)

LOADERS = {
    "one file": (lambda at: loaders.TextLoader(at / "north" / "lease.txt"), ["north"]),
    "a folder": (
        lambda at: loaders.DirectoryLoader(
            str(at), glob="**/*.txt", loader_cls=loaders.TextLoader
        ),
        ["north", "south"],
    ),
    "pages": (
        lambda at: loaders.PyPDFium2Loader(at / "north" / "lease.pdf"),
        ["north"],
    ),
    "rows": (lambda at: loaders.CSVLoader(at / "north" / "lease.csv"), ["north"]),
}
CITED = re.compile(
    r"\[\d+\] (\S+?)(?:, (?:page|row) (\d+))?, characters (\d+)-(\d+)"
    r"(?: to (?:page|row) (\d+), characters 0-(\d+))?\n"
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("leases")
    for name in ("north", "south"):
        (folder / name).mkdir()
        lines = [
            f"In year {year} the {name} rent is {700 + year}." for year in range(40)
        ]
        (folder / name / "lease.txt").write_text("\n\n".join(lines))
        (folder / name / "lease.csv").write_text("\n".join(["note", *lines[:6]]))
        pdf(folder / name / "lease.pdf", tuple(" ".join(lines[n::3]) for n in range(3)))
    return folder


def splitter(size, *, start=True):
    return RecursiveCharacterTextSplitter(
        chunk_size=size, chunk_overlap=size // 10, add_start_index=start
    )


def names_shown(shown, loaded):
    """Names that a text cites, where what it cites is the source's."""
    sources = {}
    for each in loaded:
        name = "/".join(Path(each.metadata["source"]).parts[-2:])
        page = each.metadata.get("page", -1) + 1
        sources[name, each.metadata.get("row", page)] = each.page_content
    names, shown = [], shown.replace("\n\n[…]", "")
    for found in CITED.finditer(shown):
        name, first, start, end, last, to = found.groups()
        assert (first is None) == name.endswith(".txt")
        over = range(int(first or 0), int(last or first or 0) + 1)
        texts = [sources[name, number] for number in over]
        texts[-1] = texts[-1][: int(to or end)]
        text = "\n\n".join(texts)[int(start) :]
        read = shown[found.end() :].split()
        assert " ".join(read).startswith(" ".join(text.split()))
        names.append(name)
    assert len(names) == len(re.findall(r"^\[\d+\]", shown, re.MULTILINE)) > 0
    return {*names}


@pytest.mark.parametrize("given", [False, True])
@pytest.mark.parametrize(("loader", "folders"), LOADERS.values(), ids=LOADERS)
def test_files_are_cited_by_one_name_wherever_a_model_reads(
    loader, folders, given, folder
):
    loaded = loader(folder).load()
    store = InMemoryVectorStore(EMBEDDING)
    store.add_documents(splitter(90).split_documents(loaded))
    options = {"documents": loaded} if given else {}
    tool = create_retrieval_tool(store, k=30, **options)
    calls = [
        AIMessage("", tool_calls=[{"name": tool.name, "args": {"query": q}, "id": q}])
        for q in ("rent", "year")
    ]
    model = RecordingChatModel(replies=[*calls, AIMessage("answer")])
    agent = compat.create_agent(model=model, tools=[tool])
    retriever = OrderPreservingRetriever(vectorstore=store, k=30, **options)

    read = [format_documents(retriever.invoke("rent"), citations=True)]
    read += [tool.invoke({"query": "rent"})]
    messages = agent.invoke({"messages": [("user", "rent?")]})["messages"]
    read += [each.content for each in messages if isinstance(each, ToolMessage)]

    suffix = Path(loaded[0].metadata["source"]).suffix
    names = {f"{name}/lease{suffix}" for name in folders}
    assert [names_shown(text, loaded) for text in read] == [names] * 4
