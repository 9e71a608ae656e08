"""The real PaperQA, with the function of `recipes/paper_qa` and without it."""

import json
import re

from tests.apps.environments import ROOT, outcome
from tests.kit.marked_text import inversions_by_text, marked_sections

PACKAGES = ("paper-qa==2026.8.12",)
PROGRAM = """
import asyncio, json
import numpy as np
from lmi import EmbeddingModel, LiteLLMModel
from lmi.types import LLMResult
from paperqa import Doc, Docs, Settings, Text
from zlib import crc32

class Embedding(EmbeddingModel):
    name: str = "scripted"
    async def embed_documents(self, texts):
        return [np.random.default_rng(crc32(t.encode())).random(32) for t in texts]

class Model(LiteLLMModel):
    async def acompletion(self, messages, **_):
        excerpt = messages[-1].content.split("---")[1].strip()
        reply = {"summary": excerpt, "relevance_score": crc32(excerpt.encode()) % 5}
        return [LLMResult(model="scripted", text=json.dumps(reply))]

async def main():
    settings, docs = Settings(), Docs()
    models = {"embedding_model": Embedding(), "settings": settings}
    settings.answer.evidence_k, settings.answer.answer_max_sources = 30, 12
    for name, texts in json.load(open("texts.json")).items():
        doc = Doc(docname=name, dockey=name, citation=name)
        pages = [Text(text=t, name=f"{name} pages 1", doc=doc) for t in texts]
        await docs.aadd_texts(pages, doc, **models)
    models |= {"llm_model": Model(), "summary_llm_model": Model()}
    contexts = []
    for serializer in (None, in_document_order(docs)):
        settings.custom_context_serializer = serializer
        session = await docs.aquery("Which rule?", **models)
        contexts.append(session.context)
    print(json.dumps(contexts))

asyncio.run(main())
"""


def test_the_same_summaries_are_read_in_document_order(installed, ours, tmp_path):
    python = installed("paper-qa", PACKAGES) / "python"
    lines = (ROOT / "recipes/paper_qa/in_document_order.py").read_text("utf-8")
    texts = {name: marked_sections(100 * n, 12, 3) for n, name in enumerate("ab")}
    (tmp_path / "texts.json").write_text(json.dumps(texts))

    (before, after), _ = outcome(
        [python, "-c", lines + PROGRAM],
        ours,
        tmp_path,
        HOME=str(tmp_path),
        LITELLM_LOCAL_MODEL_COST_MAP="true",
    )

    assert sum(inversions_by_text(before).values()) > 0
    assert inversions_by_text(after) == {0: 0, 1: 0}
    assert sorted(re.findall(r"\S\w+", before)) == sorted(re.findall(r"\S\w+", after))
