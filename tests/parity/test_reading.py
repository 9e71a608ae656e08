"""Tools that read on: the same in both frameworks and the core."""

import asyncio
import re

import pytest
from langchain_core.documents import Document
from langchain_core.embeddings import DeterministicFakeEmbedding
from langchain_core.stores import InMemoryStore
from langchain_core.vectorstores import InMemoryVectorStore
from llama_index.core import Document as Source
from llama_index.core import MockEmbedding, VectorStoreIndex
from llama_index.core.storage.docstore import SimpleDocumentStore

import langchain_oprag
import llamaindex_oprag
from oprag import place_of
from oprag.agents import DocumentReader, name_for_readers
from oprag.documents import document_source
from oprag.effects import run_effects
from oprag.errors import DocumentNotFoundError
from oprag.stores import SearchFilter
from oprag.tokens import resolve_token_counter

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")
LEASE = "# Rent\n\n" + "".join(f"Clause {i} holds. " for i in range(300))
LEASE += "\n\n# End\n\nEither side may end it with six months of notice."
TEXTS = {"a/lease.txt": LEASE, "b/lease.txt": "Another.", "b/only.txt": "Alone."}
PAGES = [("First.", 1), ("Second page.", 2)]
ASKED = [
    ("read", {"document": "a/lease.txt"}, "[goes on at character "),
    ("read", {"document": "a/lease.txt", "start": 8, "end": 40}, ", characters 8-40"),
    ("read", {"document": "only.txt"}, "Alone."),
    ("read", {"document": "lease.txt"}, "Several end so: a/lease.txt, b/lease.txt."),
    ("read", {"document": "onli.txt"}, "There is no document 'onli.txt'"),
    ("read", {"document": "x" * 9_000}, "There is no document"),
    ("read", {"document": "only.txt", "start": 6}, "the text has 6"),
    ("read", {"document": "only.txt", "start": -1, "end": 3}, "the text has 6"),
    ("read", {"document": "only.txt", "start": 5, "end": 5}, "the text has 6"),
    ("read", {"document": "only.txt", "end": 10**9}, "the text has 6"),
    ("read", {"document": "only.txt", "page": 3}, "no pages: leave `page` out"),
    ("outline", {"document": "a/lease.txt"}, "characters 5302-5356: End"),
    ("outline", {"document": ""}, "There is no document"),
    ("documents", {}, "b/only.txt: 6 characters"),
    ("documents", {"containing": "b/"}, "b/lease.txt: 8 characters"),
    ("documents", {"containing": "zzz"}, ""),
]


def in_both(documents, **options):
    of_langchain = langchain_oprag.create_reading_tools(documents, **options)
    of_llamaindex = llamaindex_oprag.create_reading_tools(documents, **options)
    return (
        {tool.name: tool for tool in of_langchain},
        {tool.metadata.name: tool for tool in of_llamaindex},
    )


def call(name, given):
    return {"type": "tool_call", "id": "1", "name": name, "args": given}


@pytest.mark.parametrize(("name", "given", "part"), ASKED)
def test_answers_and_places_are_the_same_sync_and_async(name, given, part):
    langchain, llamaindex = in_both(TEXTS, token_budget=100)
    message = langchain[name].invoke(call(name, given))
    output = llamaindex[name].call(**given)
    assert message.content == output.content
    assert part in message.content
    assert [place_of(d) for d in message.artifact] == [
        *map(place_of, output.raw_output)
    ]
    assert asyncio.run(langchain[name].ainvoke(call(name, given))) == message
    assert asyncio.run(llamaindex[name].acall(**given)).content == output.content
    assert len(message.content) < 1_000


def test_pages_of_a_document_follow_one_another_without_a_gap_within_the_budget():
    count, start, read = resolve_token_counter(), 0, ""
    reader = DocumentReader(document_source(TEXTS), token_budget=120)
    while start < len(LEASE):
        page = run_effects(reader.read("a/lease.txt", start))
        assert count(page.text) <= 120
        (passage,) = page.passages
        (span,) = passage.spans
        assert (span.start, LEASE[slice(*span)]) == (start, passage.text)
        more = re.search(r"\[goes on at character (\d+) of", page.text)
        assert (int(more[1]) if more else len(LEASE)) == span.end
        start, read = span.end, read + passage.text
    assert read == LEASE


def test_of_elements_on_one_page_each_has_a_citation_by_which_it_is_read():
    pages = {"Elements": 0, "of": 2, "several": 2, "pages.": 3}
    given = [Document(t, metadata={"source": "a", "page": pages[t]}) for t in pages]
    store = InMemoryVectorStore(DeterministicFakeEmbedding(size=8))
    langchain_oprag.index_documents(given, store)
    reader = DocumentReader(document_source(given))
    alone = langchain_oprag.OrderPreservingRetriever(vectorstore=store).invoke("?")
    cited = langchain_oprag.OrderPreservingCompressor(documents=given)(given)

    named = [place_of(each).citation.split(", ")[1] for each in [*alone, *cited]]
    assert named[:4] == ["page 1", "page 3", "page 3", "page 4"]
    assert named[4:] == ["page 1", "page 3 (part 1)", "page 3 (part 2)", "page 4"]
    for each, page in zip(cited, named[4:], strict=True):
        (read,) = run_effects(reader.read("a", page=page)).passages
        assert read.citation == place_of(each).citation
        assert read.text == each.page_content


def test_every_section_of_an_outline_can_be_read():
    reader = DocumentReader(document_source(TEXTS))
    for line in run_effects(reader.outline("a/lease.txt")).text.splitlines():
        start, end, title = re.match(r"characters (\d+)-(\d+): (.+)", line).groups()
        read = run_effects(reader.read("a/lease.txt", int(start), int(end)))
        assert read.passages[0].text.startswith(title)


def test_a_page_is_read_by_what_the_citation_calls_it():
    given = [
        Document(text, metadata={"source": "a.pdf", "page": number - 1})
        for text, number in PAGES
    ]
    store = InMemoryVectorStore(DeterministicFakeEmbedding(size=8))
    langchain_oprag.index_documents(given, store)
    for documents in (given, store):
        read, outline, listed = langchain_oprag.create_reading_tools(documents)
        for page in (2, "2", "page 2"):
            said = read.invoke({"document": "a.pdf", "page": page})
            assert said == "[1] a.pdf, page 2, characters 0-12\nSecond page."
        assert "has pages. Say which" in read.invoke({"document": "a.pdf"})
        assert outline.invoke({"document": "a.pdf"}).startswith(
            "page 1, characters 0-6"
        )
        assert listed.invoke({}) == "a.pdf: 2 pages, 18 characters"


def test_documents_of_every_store_are_listed_and_read_by_their_citation():
    path, text = "/h/x/z/a.txt", "All of it."
    original = Source(text=text, metadata={"file_path": path})
    index = VectorStoreIndex([], embed_model=MockEmbedding(8))
    llamaindex_oprag.index_documents([original], index)
    docstore, store = SimpleDocumentStore(), InMemoryStore()
    docstore.add_documents([original])
    store.mset([(path, text)])
    chunks = InMemoryVectorStore(DeterministicFakeEmbedding(size=8))
    given = [Document(text, metadata={"source": path})]
    langchain_oprag.index_documents(given, chunks)
    for documents in (index, docstore):
        read, _, listed = llamaindex_oprag.create_reading_tools(documents)
        assert listed.call().content == "z/a.txt: 10 characters"
        assert read.call("z/a.txt").content.endswith(text)
    for documents in (store, chunks):
        read, _, listed = langchain_oprag.create_reading_tools(documents)
        assert listed.invoke({}) == "z/a.txt: 10 characters"
        assert read.invoke({"document": "z/a.txt"}).endswith(text)


def test_pages_with_one_label_are_all_there_and_told_apart():
    labels = {"Cover.": "1", "First.": "1", "Second.": "2"}
    given = [
        Document(text, metadata={"source": "a.pdf", "page": n, "page_label": label})
        for n, (text, label) in enumerate(labels.items())
    ]
    read, outline, listed = langchain_oprag.create_reading_tools(given)

    assert listed.invoke({}) == "a.pdf: 3 pages, 19 characters"
    assert len(outline.invoke({"document": "a.pdf"}).splitlines()) == 3
    refused = read.invoke({"document": "a.pdf", "page": "1"})
    assert refused.endswith("page 1 (part 0), page 1 (part 1), page 2.")
    for page, text in (("1 (part 0)", "Cover."), ("page 1 (part 1)", "First.")):
        assert read.invoke({"document": "a.pdf", "page": page}).endswith(text)
    cover, *_ = langchain_oprag.OrderPreservingCompressor(documents=given)(given)
    assert place_of(cover).citation == "a.pdf, page 1 (part 0), characters 0-6"


def test_an_outline_has_headings_as_they_are_written_and_none_of_code():
    text = "# C#\n\n```sh\n# no\n````\n## Use ##\n\n~~~\n# no"
    outline = DocumentReader(document_source({"a": text})).outline("a")
    places = ["characters 2-25: C#", f"characters 25-{len(text)}: Use"]
    assert run_effects(outline).text.splitlines() == places


def test_a_filter_binds_what_is_read_and_listed():
    store = InMemoryVectorStore(DeterministicFakeEmbedding(size=8))
    given = [Document(f"Of {name}.", metadata={"source": name}) for name in "ab"]
    langchain_oprag.index_documents(given, store)
    ids = [i for i, each in store.store.items() if each["metadata"]["source"] == "a"]
    source = langchain_oprag.document_source(store)
    permitted = source.within(SearchFilter(ids=frozenset(ids)))
    read, _, listed = langchain_oprag.create_reading_tools(permitted)
    assert listed.invoke({}) == "a: 5 characters"
    assert "no document 'b'" in read.invoke({"document": "b"})


def test_documents_whose_paths_end_alike_are_read_apart():
    paths = ["/d/2023/q1/a.txt", "/d/2024/q1/a.txt"]
    documents = [Document(path, metadata={"source": path}) for path in paths]
    reader = DocumentReader(document_source(documents))

    assert run_effects(reader.read("2024/q1/a.txt")).passages[0].text == paths[1]
    with pytest.raises(DocumentNotFoundError, match=r"so: 2023/q1/a\.txt, 2024"):
        run_effects(reader.read("q1/a.txt"))


def test_names_are_relative_or_end_where_they_differ():
    windows = "C:\\Users\\ann\\x\\y\\a.md"
    names = ["/h/1/y/a.md", windows, "b.md", "notes/a/b.md"]
    assert name_for_readers({name: name for name in names}, "notes") == {
        "/h/1/y/a.md": "1/y/a.md",
        windows: "x/y/a.md",
        "b.md": "b.md",
        "notes/a/b.md": "a/b.md",
    }
    assert name_for_readers({"etc./b.md": "etc./b.md"}, ".") == {
        "etc./b.md": "etc./b.md"
    }
