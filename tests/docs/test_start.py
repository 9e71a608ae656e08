"""The first page, with the real clients of OpenAI and of Ollama, and a scripted server.

Only the key and the address differ from what is printed.
"""

import re

import pytest
from llama_index.core.instrumentation import get_dispatcher

from tests.docs.blocks import BLOCK, blocks_of, run
from tests.docs.fresh import encodings
from tests.docs.test_docs import ROOT
from tests.kit.openai_server import ScriptedServer
from tests.kit.pdf_folder import write_pdfs

PAGE = ROOT / "docs" / "start.md"
ADDRESS = "http://localhost:11434"
REPLY = (
    "With six months of notice [2]. The deposit is paid back within thirty days [3]."
)


_OF_LLAMAINDEX = ("llama_index.embeddings", "llama_index.llms")
CLIENTS = {
    ("LangChain", "openai"): ["langchain_openai"],
    ("LangChain", "ollama"): ["langchain_ollama"],
    ("LlamaIndex", "openai"): [f"{package}.openai" for package in _OF_LLAMAINDEX],
    ("LlamaIndex", "ollama"): [f"{package}.ollama" for package in _OF_LLAMAINDEX],
}


def sections() -> dict[str, list[tuple[str, str]]]:
    """The blocks under each heading; of each model first, then those for all."""
    found: dict[str, list[tuple[str, str]]] = {}
    for part in re.split(r"^## ", PAGE.read_text("utf-8"), flags=re.MULTILINE)[1:]:
        title, _, text = part.partition("\n")
        found[title] = BLOCK.findall(text)
    return found


def blocks_for(framework: str, model: str) -> list[tuple[str, str]]:
    """What somebody pastes who uses this framework with this model, traces included."""
    openai, ollama, *rest = sections()[framework]
    traces = sections()["In a trace"]
    traces = traces[:2] if framework == "LangChain" else traces[2:]
    return [openai if model == "openai" else ollama, *rest, *traces]


def test_the_page_has_no_other_code():
    titles = {title for title, blocks in sections().items() if blocks}

    assert titles == {"LangChain", "LlamaIndex", "In a trace"}
    assert sum(map(len, sections().values())) == len(blocks_of(PAGE))


@pytest.mark.slow
@pytest.mark.parametrize("model", ["openai", "ollama"])
@pytest.mark.parametrize("framework", ["LangChain", "LlamaIndex"])
def test_what_is_pasted_gives_a_cited_answer(framework, model, tmp_path, monkeypatch):
    for package in CLIENTS[framework, model]:
        pytest.importorskip(package)
    write_pdfs(tmp_path / "pdfs")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(encodings()))
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    handlers = [*get_dispatcher().event_handlers]
    monkeypatch.setattr(get_dispatcher(), "event_handlers", handlers)
    with ScriptedServer(lambda _: REPLY) as server:
        for variable in ("OPENAI_BASE_URL", "OPENAI_API_BASE"):
            monkeypatch.setenv(variable, server.base_url)
        blocks = [
            (language, code.replace(ADDRESS, server.ollama_url))
            for language, code in blocks_for(framework, model)
        ]
        assert run(blocks, PAGE.name) == 3

        (request, *_) = server.requests
        assert "[3] lease.pdf, page 3, characters 0-119" in request.prompt
