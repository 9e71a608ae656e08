"""Rules of every test: no model hub, no telemetry, no time limit per case."""

import asyncio
import gc
import os
import sys
from collections.abc import Iterator
from importlib.metadata import version

import pytest
from hypothesis import HealthCheck, settings

# Hardly anything that is imported is ever garbage, and looking for it takes long: on
# again once all tests are collected.
gc.disable()

# Read by libraries when they are imported, which is after this file.
os.environ.update(
    ANONYMIZED_TELEMETRY="False",
    HF_HUB_OFFLINE="1",
    LANGSMITH_TRACING="false",
    NUMBA_OPT="0",  # compiling what UMAP runs takes longer than running it
    TOKENIZERS_PARALLELISM="false",
    TRANSFORMERS_OFFLINE="1",
)

# Before Python 3.14, who asks for the thread's event loop without one gets a new one,
# once. LlamaIndex's sync methods do, and leave it open; the first `asyncio.run` of
# another test drops it, which is a warning, and so that test's failure. Told that there
# is none, they run one that they close.
asyncio.set_event_loop(None)

# How long one generated case takes says more about the machine than about the code.
settings.register_profile(
    "new", deadline=None, print_blob=True, suppress_health_check=[HealthCheck.too_slow]
)
# The cases are the same every time: a change is judged by itself, and a clone passes as
# it passed before. Each run of the profiles "new" and "fast" looks at new ones. The
# profile "few" is for a second run, beside other versions of what is installed.
settings.register_profile("same", settings.get_profile("new"), derandomize=True)
settings.register_profile("few", settings.get_profile("same"), max_examples=20)
settings.register_profile("fast", settings.get_profile("new"), max_examples=10)
settings.load_profile("same")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option for a run beside other versions of the libraries."""
    parser.addoption(
        "--again",
        action="store_true",
        help="leave out tests marked `once`, and try laws on a fifth of their cases",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Try laws on fewer cases if all of them are tried elsewhere."""
    if config.getoption("again"):
        settings.load_profile("few")


def pytest_collection_modifyitems(
    config: pytest.Config, items: list[pytest.Item]
) -> None:
    """Mark what is slow, and leave out what was tested before."""
    again = config.getoption("again")
    left_out = [item for item in items if again and item.get_closest_marker("once")]
    for item in items:
        # The tours through every place in both frameworks.
        if item.path.parent.name == "places" or item.get_closest_marker("once"):
            item.add_marker(pytest.mark.slow)
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item not in left_out]


def pytest_collection_finish() -> None:
    """Leave what was imported out of each search for garbage: it stays to the end."""
    gc.collect()
    gc.freeze()
    gc.enable()


@pytest.fixture(autouse=True, scope="module")
def ended_reader() -> Iterator[None]:
    """Let the process that reads files end by itself after each module.

    Killed, or ended while results are put together, it would not tell which lines it
    reached.
    """
    yield
    worker = sys.modules.get("oprag.files.worker")
    process = worker and worker._WORKER._process
    if worker and process and worker._WORKER._owner == os.getpid():
        worker._WORKER._process = None
        process.communicate()


@pytest.fixture(autouse=True, scope="module")
def closed_stores() -> Iterator[None]:
    """Close a module's Chroma stores: Chroma keeps all that were ever opened."""
    yield
    if client := sys.modules.get("chromadb.api.shared_system_client"):
        client.SharedSystemClient.clear_system_cache()


def pytest_report_header() -> str:
    """Say which frameworks the adapters are tested with."""
    frameworks = ("langchain-core", "langchain", "llama-index-core")
    return "frameworks: " + ", ".join(f"{name} {version(name)}" for name in frameworks)
