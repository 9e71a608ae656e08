"""The first page, with the real clients of OpenAI and of Ollama, and a scripted server.

Only the key and the address differ from what is printed.
"""

import pytest
from llama_index.core.instrumentation import get_dispatcher

from tests.docs.blocks import BLOCK, blocks_of, run
from tests.docs.fresh import encodings
from tests.docs.start_page import ADDRESS, PAGE, REPLY, blocks_for, sections
from tests.kit.openai_server import ScriptedServer
from tests.kit.pdf_folder import write_pdfs

_OF_LLAMAINDEX = ("llama_index.embeddings", "llama_index.llms")
CLIENTS = {
    ("LangChain", "openai"): ["langchain_openai"],
    ("LangChain", "ollama"): ["langchain_ollama"],
    ("LlamaIndex", "openai"): [f"{package}.openai" for package in _OF_LLAMAINDEX],
    ("LlamaIndex", "ollama"): [f"{package}.ollama" for package in _OF_LLAMAINDEX],
}


def test_the_page_has_no_other_code():
    blocks = {title: len(BLOCK.findall(text)) for title, text in sections().items()}

    assert {title for title, number in blocks.items() if number} == {
        *("LangChain", "LlamaIndex", "In a trace")
    }
    assert sum(blocks.values()) == len(blocks_of(PAGE))


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
