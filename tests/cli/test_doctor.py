"""`oprag doctor` on real Chroma directories, as LangChain and LlamaIndex write them."""

import json
from itertools import pairwise
from pathlib import Path

import docx
import pytest
from langchain_text_splitters import RecursiveCharacterTextSplitter
from llama_index.core.node_parser import SentenceSplitter
from llama_index.core.schema import NodeRelationship, RelatedNodeInfo, TextNode
from typer.testing import CliRunner

import langchain_oprag
import llamaindex_oprag
from oprag.errors import DocumentNotFoundError
from oprag.metadata import STAMP_KEYS
from oprag_cli.app import app
from oprag_cli.folder_texts import FolderTexts
from tests.cli.chroma_indexes import everything, langchain_store, llamaindex_index, rows
from tests.locating.texts import made_up, reference

pytestmark = pytest.mark.slow

TEXTS = {"laws.txt": reference(4_000), "o'brien — 85%.txt": made_up(4_000, 0.87)}
POSITIONS = {
    *("doc_key", "doc_uri", "chunk_index", "n_chunks", "char_start", "char_end"),
    "chunk_hash",
}


@pytest.fixture
def sources(tmp_path) -> Path:
    folder = tmp_path / "sources"
    (folder / "inside").mkdir(parents=True)
    for name, text in TEXTS.items():
        (folder / "inside" / name).write_bytes(text.encode())
    return folder


@pytest.fixture
def langchain_index(tmp_path) -> Path:
    """Overlapping chunks without positions, their paths those of another machine."""
    splitter = RecursiveCharacterTextSplitter(chunk_size=200, chunk_overlap=50)
    store = langchain_store(tmp_path / "chroma")
    for name, text in TEXTS.items():
        chunks = splitter.split_text(text)
        store.add_texts(chunks, [{"source": f"/data/{name}"}] * len(chunks))
    return tmp_path / "chroma"


@pytest.fixture
def llama_index(tmp_path) -> Path:
    """Nodes without offsets, PREVIOUS and NEXT."""
    splitter = SentenceSplitter(chunk_size=64, chunk_overlap=8)
    index = llamaindex_index(tmp_path / "chroma")
    for name, text in TEXTS.items():
        source = {NodeRelationship.SOURCE: RelatedNodeInfo(node_id=f"id of {name}")}
        fields = {"metadata": {"file_name": name}, "relationships": source}
        chunks = splitter.split_text(text)
        index.insert_nodes([TextNode(text=chunk, **fields) for chunk in chunks])
    return tmp_path / "chroma"


def run(*arguments: object, code: int = 0) -> str:
    result = CliRunner().invoke(app, ["doctor", *map(str, arguments)])
    assert result.exit_code == code, result.output
    return result.stdout


def report_of(*arguments: object, code: int = 0) -> dict[str, object]:
    return json.loads(run(*arguments, "--json", code=code))


def squeezed(text: str) -> str:
    return "".join(text.split())


def test_a_stripped_index_is_told_and_the_exit_code_says_so(langchain_index):
    shown = run(langchain_index, code=1)

    assert "Collection 'chunks': not ordered" in shown
    assert "missing_position" in shown
    assert "source" in shown
    assert "give the files that were indexed: --documents FOLDER --repair" in shown
    values = report_of(langchain_index, code=1)
    assert values["verdict"] == "not ordered"
    assert values["collection"] == "chunks"
    assert values["proofs"] is None


def test_a_repair_is_a_dry_run_unless_it_is_to_write(langchain_index, sources):
    before = rows(langchain_index)

    shown = run(langchain_index, "--documents", sources, "--repair", code=1)

    assert f"{len(before)} chunks of 2 documents would be written" in shown
    assert rows(langchain_index) == before
    assert not (langchain_index / "oprag-backups").exists()


def test_a_repair_writes_positions_and_leaves_texts_and_vectors(
    langchain_index, sources
):
    kept = everything(langchain_index)

    values = report_of(langchain_index, "--documents", sources, "--repair", "--write")

    assert values["healthy"]
    assert values["proofs"]["proved"] == values["chunks"]
    assert everything(langchain_index) == kept
    for metadata in rows(langchain_index).values():
        assert set(metadata) - {*STAMP_KEYS} == {"source", *POSITIONS}
        name = metadata["source"].removeprefix("/data/")
        start, end = metadata["char_start"], metadata["char_end"]
        assert 0 <= start < end <= len(TEXTS[name])
    assert run(langchain_index)  # healthy without the sources too
    again = report_of(langchain_index, "--documents", sources, "--repair", "--write")
    assert again["repair"]["changes"] == []
    shown = run(langchain_index, "--documents", sources, "--repair", "--write")
    assert "Repair: there is nothing to write" in shown


@pytest.mark.parametrize("index", ["langchain_index", "llama_index"])
def test_after_a_repair_both_frameworks_order_and_rebuild(index, sources, request):
    folder = request.getfixturevalue(index)
    run(folder, "--documents", sources, "--repair", "--write")
    names = {metadata.get("doc_uri") for metadata in rows(folder).values()}

    store, index = langchain_store(folder), llamaindex_index(folder)
    by_langchain = langchain_oprag.OrderPreservingRetriever(vectorstore=store, k=40)
    by_llamaindex = llamaindex_oprag.OrderPreservingRetriever(
        index.as_retriever(similarity_top_k=40)
    )
    for found in (by_langchain.invoke("anything"), by_llamaindex.retrieve("anything")):
        read = [(c.metadata["doc_key"], c.metadata["chunk_index"]) for c in found]
        assert len(read) > 1
        assert all(a[0] != b[0] or a < b for a, b in pairwise(read))

    for source in (
        langchain_oprag.document_source(store, exact=False),
        llamaindex_oprag.document_source(index, exact=False),
    ):
        for name in names:
            text = TEXTS[name.rpartition("/")[2]]
            assert squeezed(source.get(name)) == squeezed(text)


def test_a_backup_lies_where_it_is_said_and_gives_everything_back(
    langchain_index, sources
):
    before = rows(langchain_index)
    values = report_of(langchain_index, "--documents", sources, "--repair", "--write")
    backup = Path(values["repair"]["backup"])
    lines = [json.loads(line) for line in backup.read_text("utf-8").splitlines()]

    assert backup.parent == langchain_index / "oprag-backups"
    assert {line["id"]: line["metadata"] for line in lines} == before
    assert rows(langchain_index) != before
    assert "not ordered" in run(langchain_index, "--restore", backup)
    assert rows(langchain_index) == before


PAGE = (
    "<html><head><title>A church</title></head><body>\n<h1>A church</h1>\n"
    + "".join(f"<p>Stone <b>{n}</b> of the wall lies here.</p>\n" for n in range(40))
    + "</body></html>\n"
)


def test_html_that_was_indexed_as_it_is_shown_is_proved_by_what_is_shown(tmp_path):
    sources = tmp_path / "sources"
    sources.mkdir()
    (sources / "church.html").write_text(PAGE, "utf-8")
    shown = FolderTexts(sources).get("church.html")
    texts = shown.split("\n\n")
    store = langchain_store(tmp_path / "chroma")
    store.add_texts(texts, [{"source": "church.html"}] * len(texts))

    report_of(tmp_path / "chroma", "--documents", sources, "--repair", "--write")

    assert "<b>" not in shown
    starts = {m["char_start"] for m in rows(tmp_path / "chroma").values()}
    assert starts == {shown.index(text) for text in texts}


def test_the_readings_of_a_page_are_what_is_shown_and_what_is_there(tmp_path):
    pages = {
        "a.html": b"<p>shown</p>",
        "empty.htm": b"<p></p>",
        "old.html": "<meta charset=latin-1><p>für".encode("latin-1"),
        "a.txt": b"<p>text</p>",
    }
    for name, data in pages.items():
        (tmp_path / name).write_bytes(data)
    (word := docx.Document()).add_heading("Lease")
    word.save(tmp_path / "lease.docx")
    texts = FolderTexts(tmp_path)

    assert {name: texts.readings(name) for name in [*pages, "lease.docx"]} == {
        "a.html": ["shown", "<p>shown</p>"],
        "empty.htm": ["<p></p>"],
        "old.html": ["für"],
        "a.txt": ["<p>text</p>"],
        "lease.docx": ["# Lease"],
    }


@pytest.mark.parametrize(
    ("arguments", "hint"),
    [
        (["{index}", "--collection", "laws"], "Collections: 'chunks'"),
        (["{index}", "--repair"], "--documents"),
        (["{index}", "--write"], "--repair"),
        (["{index}", "--repair", "--documents", "{here}", "--sample", "3"], "--sample"),
        (["{index}", "--documents", "nowhere"], "nowhere"),
        (["{index}", "--restore", "{here}/not-a-backup"], "is not a backup"),
        (["{index}", "--restore", "{here}/binary"], "is not a backup"),
    ],
)
def test_a_wrong_call_is_told_and_exits_with_2(
    langchain_index, tmp_path, arguments, hint
):
    (tmp_path / "not-a-backup").write_text("[1]\n", "utf-8")
    (tmp_path / "binary").write_bytes(b"\xff\x00")
    given = [a.format(index=langchain_index, here=tmp_path) for a in arguments]
    before = rows(langchain_index)

    result = CliRunner().invoke(app, ["doctor", *given])

    assert result.exit_code == 2
    assert hint in " ".join(result.stderr.split())
    assert result.stdout == ""
    assert rows(langchain_index) == before


def test_options_may_be_given(tmp_path):
    metadatas = [{"work": "w", "seq": number} for number in (1, 2)]
    langchain_store(tmp_path / "chroma").add_texts(["a", "b"], metadatas)

    shown = run(tmp_path / "chroma", code=1)
    given = ("--position-key", "seq", "--document-key", "work")
    values = report_of(tmp_path / "chroma", *given)

    assert "keys: seq, work" in shown
    assert "What to do: name the key" in shown
    assert values["problems"] == []
    assert values["verdict"] == "ordered"


def test_a_sample_is_said_to_be_one(tmp_path):
    metadatas = [{"source": "a", "start_index": 10 * number} for number in range(9)]
    texts = [f"text {number}" for number in range(9)]
    langchain_store(tmp_path / "chroma").add_texts(texts, metadatas)

    shown = run(tmp_path / "chroma", "--sample", 5)
    values = report_of(tmp_path / "chroma", "--sample", 5)

    assert "no fault in the sample (5 of 9 chunks sampled, 1 document)" in shown
    assert (values["verdict"], values["total"]) == ("sampled", 9)
    assert ": ordered (9 chunks, 1 document)" in run(tmp_path / "chroma")


def test_a_name_is_matched_by_the_end_of_its_path(tmp_path):
    for name in ("a/plan.md", "b/plan.md", "b/other.md", r"a\b.md"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(name, "utf-8")
    texts = FolderTexts(tmp_path)

    (tmp_path / "other.md").write_text("other.md", "utf-8")
    exact = FolderTexts(tmp_path)

    assert {name: exact.get(name) for name in exact.names()} == {
        name: name for name in ("a/plan.md", "b/plan.md", "b/other.md", "other.md")
    } | {r"a\b.md": r"a\b.md"}
    assert texts.get("/home/ann/b/plan.md") == "b/plan.md"
    assert texts.get(r"C:\docs\other.md") == "b/other.md"
    assert texts.get(r"/home/a\b.md") == r"a\b.md"
    for name in ("plan.md", "/home/plan.md", "lost.md", "", "/"):
        with pytest.raises(DocumentNotFoundError):
            texts.get(name)
