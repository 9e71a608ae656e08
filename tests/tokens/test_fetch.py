"""The file of cl100k where it is not on this machine: a proxy on loopback has it.

The proxy answers for tiktoken's host, with a certificate that the test has made.
"""

import shutil
import socket
import ssl
import subprocess
import threading
from contextlib import contextmanager
from time import monotonic

import pytest

from oprag.tokens.fetch import wait_at_most
from oprag.tokens.huggingface import _check_reachable
from tests.kit.fresh_interpreter import run
from tests.kit.openai_server import ScriptedServer
from tests.tokens.test_counters import CL100K

HOST = "openaipublic.blob.core.windows.net"
ELSEWHERE = ["llama_index"]  # carries the file


@pytest.fixture(scope="module")
def certificate(tmp_path_factory):
    openssl = shutil.which("openssl")
    if openssl is None:
        pytest.skip("openssl makes the certificate")
    folder = tmp_path_factory.mktemp("certificate")
    files = ["-keyout", str(folder / "key.pem"), "-out", str(folder / "cert.pem")]
    subject = ["-subj", f"/CN={HOST}", "-addext", f"subjectAltName=DNS:{HOST}"]
    command = [openssl, "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2"]
    subprocess.run([*command, *files, *subject], check=True, capture_output=True)
    return folder


@contextmanager
def proxy(answer):
    """A proxy at a free port; yields its address and what it was asked."""
    asked = []
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def serve():
            while True:
                try:
                    connection, _ = listening.accept()
                except OSError:
                    return
                asked.append(connection)
                answer(connection)

        threading.Thread(target=serve, daemon=True).start()
        yield f"http://127.0.0.1:{listening.getsockname()[1]}", asked
    for connection in asked:
        connection.close()


def serving(body, certificate):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate / "cert.pem", certificate / "key.pem")

    def answer(connection):
        connection.recv(65_536)
        connection.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
        with context.wrap_socket(connection, server_side=True) as secure:
            secure.recv(65_536)
            head = f"HTTP/1.1 200 OK\r\nContent-Length: {len(body)}\r\n\r\n"
            secure.sendall(head.encode() + body)

    return answer


def hanging(_connection):
    """Says nothing, and lets nobody go."""


def run_behind(address, code, **environment):
    names = ("HTTPS_PROXY", "https_proxy")
    nothing = {"NO_PROXY": "", "no_proxy": ""}
    return run(
        code,
        without=ELSEWHERE,
        network=True,
        **{**dict.fromkeys(names, address), **nothing, **environment},
    )


COUNT = """
import asyncio, time, warnings
from langchain_core.documents import Document
import langchain_oprag
from oprag.tokens import resolve_token_counter
compressor = langchain_oprag.OrderPreservingCompressor(token_budget=100)
splitter = langchain_oprag.OffsetSentenceSplitter()
print("made")
documents = [
    Document("One two three.", metadata={"source": "a", "start_index": 0}),
    Document("Four five six.", metadata={"source": "a", "start_index": 20}),
]
longest = 0.0
async def beat():
    global longest
    while True:
        began = time.perf_counter()
        await asyncio.sleep(0.002)
        longest = max(longest, time.perf_counter() - began)
async def main():
    beating = asyncio.create_task(beat())
    await asyncio.sleep(0.01)
    asked = [compressor.acompress_documents(documents, "?") for _ in range(4)]
    found = await asyncio.gather(*asked)
    beating.cancel()
    return found
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    began = time.perf_counter()
    found = asyncio.run(main())
    compressor.compress_documents(documents, "?")
    seconds = time.perf_counter() - began
assert all(len(documents) == 2 for documents in found)
names = [warning.category.__name__ for warning in caught]
names = [name for name in names if name != "UnfilledBudgetWarning"]
print(resolve_token_counter().name, *names)
print(seconds, longest)
"""
ESTIMATED = "approximate OpragWarning"


@pytest.mark.once
def test_the_file_is_fetched_at_the_first_count_and_kept(certificate, tmp_path):
    trusted = {"REQUESTS_CA_BUNDLE": str(certificate / "cert.pem")}
    cache = {"TIKTOKEN_CACHE_DIR": str(tmp_path / "new")}
    with proxy(serving(CL100K.read_bytes(), certificate)) as (address, asked):
        made, counter, seconds = run_behind(
            address, COUNT, **trusted, **cache
        ).splitlines()

    assert (made, counter) == ("made", "cl100k_base")
    assert len(asked) == 1
    assert (tmp_path / "new" / CL100K.name).read_bytes() == CL100K.read_bytes()
    assert float(seconds.split()[0]) < 5

    code = "from oprag.tokens import resolve_token_counter as r; print(r().name)"
    assert run(code, without=ELSEWHERE, **cache) == "cl100k_base\n"


@pytest.mark.once
def test_import_and_construction_load_no_counter():
    code = """
import langchain_oprag, llamaindex_oprag, oprag
from langchain_core.documents import Document
from langchain_core.language_models import FakeListChatModel
from langchain_core.vectorstores import InMemoryVectorStore
from langchain_core.embeddings import DeterministicFakeEmbedding
from llama_index.core import MockEmbedding, VectorStoreIndex
from llama_index.core.llms import MockLLM
store = InMemoryVectorStore(DeterministicFakeEmbedding(size=4))
llm = FakeListChatModel(responses=[""])
retriever = langchain_oprag.OrderPreservingRetriever(vectorstore=store, token_budget=9)
langchain_oprag.OrderPreservingCompressor(token_budget=9)
langchain_oprag.OffsetSentenceSplitter()
langchain_oprag.OffsetTokenSplitter()
langchain_oprag.SelfRouteChain(llm=llm, retriever=retriever, documents={})
langchain_oprag.LongReader(llm=llm, retriever=retriever)
index = VectorStoreIndex([], embed_model=MockEmbedding(4))
inner = index.as_retriever()
llamaindex_oprag.OrderPreservingRetriever(inner, token_budget=9)
llamaindex_oprag.OrderPreservingPostprocessor(token_budget=9)
llamaindex_oprag.OffsetSentenceNodeParser()
llamaindex_oprag.OffsetTokenNodeParser()
llamaindex_oprag.SelfRouteQueryEngine.from_args(inner, MockLLM(), documents={})
llamaindex_oprag.LongReaderSynthesizer(MockLLM())
from oprag.tokens import counters
counters._counter_by_name("approximate")
assert counters._counter_by_name.cache_info().currsize == 1
assert counters._decide_default.cache_info().currsize == 0
"""
    run("import warnings\nwarnings.simplefilter('ignore')" + code)


@pytest.mark.once
def test_a_network_that_hangs_costs_five_seconds_once_and_blocks_no_event_loop(
    tmp_path,
):
    with proxy(hanging) as (address, asked):
        _, counter, measured = run_behind(
            address, COUNT, TIKTOKEN_CACHE_DIR=str(tmp_path)
        ).splitlines()
    seconds, longest = map(float, measured.split())

    assert counter == ESTIMATED
    assert len(asked) == 1
    assert 4.9 < seconds < 7
    assert longest < 0.5  # 0.05 on a machine with nothing else to do


@pytest.mark.parametrize("body", [b"", b"<html>Log in to this network</html>"])
def test_what_is_not_the_file_is_neither_used_nor_kept(body, certificate, tmp_path):
    trusted = {"REQUESTS_CA_BUNDLE": str(certificate / "cert.pem")}
    code = """
from oprag.errors import TokenizerError
from oprag.tokens import resolve_token_counter
try:
    resolve_token_counter("cl100k_base")
except TokenizerError as error:
    print(error)
"""
    with proxy(serving(body, certificate)) as (address, _):
        found = run_behind(address, code, **trusted, TIKTOKEN_CACHE_DIR=str(tmp_path))

    assert "Hash mismatch" in found
    assert list(tmp_path.iterdir()) == []


INDEX = """
import warnings
from langchain_core.documents import Document
from langchain_core.embeddings import DeterministicFakeEmbedding
from langchain_core.vectorstores import InMemoryVectorStore
import langchain_oprag
from oprag import split_sentences, split_tokens
from oprag.errors import OpragError
store = InMemoryVectorStore(DeterministicFakeEmbedding(size=4))
document = Document("One. Two.", metadata={"source": "a"})
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    split_sentences("One. Two."), split_tokens("One. Two.")
    (chunk,) = langchain_oprag.OffsetSentenceSplitter().split_documents([document])
    langchain_oprag.index_documents([document], store)
    again = langchain_oprag.index_documents([document], store)
print(chunk.metadata["token_counter"], *(each.category.__name__ for each in caught))
print(again.unchanged)
(stored,) = store.store.values()
stored["metadata"]["token_counter"] = "cl100k_base"  # as on a day with a network
try:
    langchain_oprag.index_documents([document], store)
except OpragError as error:
    print(error)
named = langchain_oprag.OffsetSentenceSplitter(tokenizer="approximate")
print(langchain_oprag.index_documents([document], store, splitter=named).updated)
"""


@pytest.mark.once
@pytest.mark.parametrize("missing", [[], ["tiktoken"]])
def test_splitting_and_indexing_estimate_with_one_warning_and_recut_nothing(
    missing, tmp_path
):
    without = [*ELSEWHERE, *missing]
    cut, again, refused, named = run(
        INDEX, without=without, TIKTOKEN_CACHE_DIR=str(tmp_path)
    ).splitlines()

    assert cut == ESTIMATED
    assert again == "('a',)"
    assert refused.startswith("The chunks of 'a' in the store were cut by cl100k_base")
    assert named == "('a',)"


def test_a_server_that_does_not_answer_is_given_up_in_time():
    with socket.create_server(("127.0.0.1", 0)) as silent:
        began = monotonic()
        with pytest.raises(TimeoutError, match="the hub did not answer"):
            wait_at_most(0.2, "the hub", silent.accept)

    assert monotonic() - began < 3


def test_a_server_that_answers_anything_is_within_reach():
    with ScriptedServer([]) as server:
        _check_reachable(server.base_url)
