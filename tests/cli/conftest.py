"""A real embedding model, tiny for speed, and a scripted chat model."""

import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner

from oprag_cli.app import app
from oprag_cli.embedding_models import find_packaged_weights
from tests.files.mixed_files import make_folder
from tests.kit.openai_server import ScriptedServer


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark as slow what runs a model: loading the library alone takes seconds."""
    for item in items:
        if "tiny_model" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.slow)


@pytest.fixture(scope="session")
def tiny_model(tmp_path_factory) -> Path:
    """Folder of a real model with one small, untrained layer."""
    import torch
    from transformers import BertConfig, BertModel

    torch.manual_seed(0)
    config = BertConfig(
        hidden_size=32, num_hidden_layers=1, num_attention_heads=2, intermediate_size=32
    )
    folder = tmp_path_factory.mktemp("tiny-model")
    BertModel(config).save_pretrained(folder)
    for name in ("tokenizer.json", "tokenizer_config.json", "vocab.txt"):
        shutil.copy(find_packaged_weights() / name, folder)
    return folder


@pytest.fixture(autouse=True)
def environment(monkeypatch) -> None:
    """A key, and nothing else of the machine's own settings."""
    for name in ("OPRAG_MODEL", "OPENAI_BASE_URL", "OPENAI_API_BASE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("OPENAI_API_KEY", "none")


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """Files of every kind."""
    return make_folder(tmp_path_factory.mktemp("files") / "notes")


@pytest.fixture(scope="module")
def options(tiny_model, tmp_path_factory) -> list[str]:
    """Those of a command that makes an index, in a folder that is not there yet."""
    folder = tmp_path_factory.mktemp("index") / "new"
    return ["--embedding-model", str(tiny_model), "--directory", str(folder)]


@pytest.fixture
def scripted(monkeypatch):
    """Give a command while a model answers from a script; result and requests."""

    def given(script, *arguments: object):
        with ScriptedServer(script) as server:
            monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
            return CliRunner().invoke(app, [*map(str, arguments)]), server.requests

    return given
