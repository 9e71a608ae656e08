"""LangChain's own loaders and parents: citations name files, with their text there."""

import re
from pathlib import Path

import pytest
from langchain_core.vectorstores import InMemoryVectorStore
from langchain_text_splitters import RecursiveCharacterTextSplitter

from langchain_oprag import (
    OrderPreservingRetriever,
    create_retrieval_tool,
    format_documents,
)
from tests.files.mixed_files import pdf
from tests.langchain.corpus import EMBEDDING

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


def names_shown(shown):
    return {*re.findall(r"^\[\d+\] (\S+?), .*characters \d", shown, re.MULTILINE)}


@pytest.mark.parametrize("given", [False, True])
@pytest.mark.parametrize(("loader", "folders"), LOADERS.values(), ids=LOADERS)
def test_files_are_cited_by_one_name_wherever_a_model_reads(
    loader, folders, given, folder
):
    loaded = loader(folder).load()
    store = InMemoryVectorStore(EMBEDDING)
    splitter = RecursiveCharacterTextSplitter(
        chunk_size=90, chunk_overlap=9, add_start_index=True
    )
    store.add_documents(splitter.split_documents(loaded))
    options = {"documents": loaded} if given else {}
    tool = create_retrieval_tool(store, k=30, **options)
    retriever = OrderPreservingRetriever(vectorstore=store, k=30, **options)

    read = [format_documents(retriever.invoke("rent"), citations=True)]
    read += [tool.invoke({"query": "rent"})]

    suffix = Path(loaded[0].metadata["source"]).suffix
    names = {f"{name}/lease{suffix}" for name in folders}
    assert [names_shown(text) for text in read] == [names] * 2
