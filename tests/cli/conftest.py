"""Two real embedding models: the demo's own, and a tiny one for speed."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from oprag.cli.embedding_models import (
    SentenceTransformerEmbeddings,
    load_embedding_model,
    packaged_weights,
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark as slow what runs a model: loading the library alone takes seconds."""
    for item in items:
        if {"minilm", "tiny_model"} & set(getattr(item, "fixturenames", ())):
            item.add_marker(pytest.mark.slow)


@pytest.fixture(scope="session")
def minilm() -> SentenceTransformerEmbeddings:
    """The model that the demo uses, from its package."""
    return load_embedding_model(packaged=packaged_weights())


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
        shutil.copy(packaged_weights() / name, folder)
    return folder
