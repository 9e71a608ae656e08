"""Generated cases of retrieval, and the contexts that each way makes of them.

The same cases through plain Python, LangChain and LlamaIndex. They come from a seeded
generator of the standard library, so that they are the same with every version of
every package: what is recorded of them can be compared years later ::

    python -m tests.laws.generated_contexts 10000 > contexts.json

`generated_contexts.json` is such a record, a digest for every 50 of the first cases;
after a change that is meant to change contexts, with a line in CHANGELOG.md ::

    python -m tests.laws.generated_contexts --record
"""

from __future__ import annotations

import hashlib
import json
import random
import sys
import warnings
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from langchain_core.documents import Document
from llama_index.core.schema import MetadataMode, NodeWithScore, TextNode

from langchain_oprag import OrderPreservingCompressor
from llamaindex_oprag import OrderPreservingPostprocessor
from oprag import order_context, render
from oprag.tokens import resolve_token_counter

_TEXT = (
    "rent deposit heating garden tenant landlord repairs keys noise pets lease notice "
    "payment the of and in is shall be paid within thirty days May 1807 §4 (b) größe "
    "café 漢字 🙂 end. clause."
)
_WORDS = _TEXT.split()
_JOINTS = (" ", " ", " ", " ", ". ", ".\n", "\n\n", "  ")
_SCHEMES = ("own", "own", "own", "own", "start_index", "page", "chunk_index", "none")
_YEARS = (9, 10, "9", "10", 9.5, np.int64(9), np.float32(10), "1e1", "x", " 11 ")

RECORDED = Path(__file__).with_suffix(".json")
N_RECORDED = 1_500
BLOCK = 50


class Case(NamedTuple):
    """What was retrieved, best first, and the options."""

    texts: list[str]
    metadatas: list[dict[str, Any]]
    scores: list[float]
    options: dict[str, Any]
    rescore: str | None
    """Which the adapters take besides."""
    shown: bool
    """Whether LlamaIndex sends some of the metadata with the text."""


def cases(count: int, seed: int = 14) -> Iterator[Case]:
    """Generate cases; the first of them are the same for every count."""
    for number in range(count):
        yield _case(random.Random(seed * 1_000_003 + number))  # noqa: S311 -- no secret


def contexts(case: Case) -> dict[str, str]:
    """What is sent for a case, by the way it took; the error's class for none."""
    return {way.__name__.strip("_"): _outcome(way, case) for way in _WAYS}


def _case(draw: random.Random) -> Case:
    usual = draw.random() < 0.4
    scheme = "own" if usual else draw.choice(_SCHEMES)
    sources = {f"doc{i}.txt": _text(draw) for i in range(draw.choice((1, 1, 2, 3)))}
    overlap = draw.choice((0, 0, 0, 0 if usual else 5))
    chunks = [
        chunk
        for name, text in sources.items()
        for chunk in _chunks(draw, name, text, scheme, overlap)
    ]
    draw.shuffle(chunks)
    chunks = chunks[: draw.randint(1, 14)]
    if draw.random() < 0.05:
        chunks.append(draw.choice(chunks))
    if not usual and draw.random() < 0.2:
        _, metadata = draw.choice(chunks)
        metadata.update(draw.choice(_CHANGES))
    return Case(
        [text for text, _ in chunks],
        [metadata for _, metadata in chunks],
        [draw.random() for _ in chunks],
        _options(draw, sources, usual=usual),
        draw.choice((None, None, None, "score", "relevance_score", "mine")),
        draw.random() < 0.5,
    )


def _text(draw: random.Random) -> str:
    count = draw.randint(30, 150)
    return "".join(draw.choice(_WORDS) + draw.choice(_JOINTS) for _ in range(count))


_CHANGES: tuple[dict[str, Any], ...] = (
    *({"char_start": 0}, {"char_start": 3.0}, {"char_start": -1}, {"char_end": True}),
    *({"token_counter": "other"}, {"token_count": 2.0}, {"token_count": None}),
    *({"doc_key": ""}, {"doc_key": 7}, {"part_index": 1}, {"part_index": [1]}),
    *({"char_spans": "0-1,3-4"}, {"page": 2}, {"original_score": 0.5}),
)


def _chunks(
    draw: random.Random, name: str, text: str, scheme: str, overlap: int
) -> list[tuple[str, dict[str, Any]]]:
    bounds = [0]
    while bounds[-1] < len(text):
        bounds.append(min(len(text), bounds[-1] + draw.randint(15, 90)))
    starts = [max(0, start - overlap) for start in bounds[:-1]]
    spans = list(zip(starts, bounds[1:], strict=True))
    year = draw.choice(_YEARS)
    counted, in_parts = draw.random() < 0.8, draw.random() < 0.1
    made = []
    for index, (start, end) in enumerate(spans):
        piece = text[start:end]
        place = _place(scheme, name, index, start)
        if scheme == "own":
            place |= {"n_chunks": len(spans), "char_end": end}
            if counted:
                place |= {"token_count": _counter()(piece)}
                place |= {"token_counter": "cl100k_base"}
            if in_parts:
                place["part_index"] = index // 4
        made.append((piece, {**place, "title": f"About {name}", "year": year}))
    return made


def _place(scheme: str, name: str, index: int, start: int) -> dict[str, Any]:
    if scheme == "own":
        key = hashlib.sha256(name.encode()).hexdigest()
        place = {"doc_key": key, "doc_uri": name}
        return {**place, "chunk_index": index, "char_start": start}
    if scheme == "start_index":
        return {"source": name, "start_index": start}
    if scheme == "page":
        return {"source": name, "page": index // 3, "start_index": start % 97}
    if scheme == "chunk_index":
        return {"doc_id": name, "chunk_index": str(index)}
    return {"source": name}


@cache
def _counter() -> Any:
    return resolve_token_counter("cl100k_base")


def _options(
    draw: random.Random, sources: dict[str, str], *, usual: bool
) -> dict[str, Any]:
    options: dict[str, Any] = {"token_counter": "cl100k_base"}
    selections = ("budget",) * 4 + ("top_k", "segments", "expand")
    selection = "budget" if usual else draw.choice(selections)
    if selection != "budget":
        options["selection"] = selection
    if selection in {"segments", "expand"} or draw.random() < 0.6:
        options["token_budget"] = draw.choice((40, 80, 150, 300, 2_000))
    for name, chance, values in (
        ("top_n", 0.2, (1, 3, 5)),
        ("merge", 0.4, (True,)),
        ("max_gap", 0.2, (0, 30)),
        ("separator", 0.2, ("\n", "", " --- ")),
    ):
        if draw.random() < chance:
            options[name] = draw.choice(values)
    for name, chance, values in (
        ("overflow", 0.25, ("skip",)),
        ("order", 0.15, ("score",)),
        ("document_order", 0.4, ("first_seen", "score_sum", "title", "year")),
        ("gap_mark", 0.2, ("[…]",)),
        ("missing_position", 0.3, ("last", "rank")),
        ("missing_document", 0.05, ("one",)),
        ("position_keys", 0.1, ("chunk_index", "start_index", ["page", "start_index"])),
        ("document_key", 0.05, ("title",)),
        ("documents", 0.2, (sources,)),
    ):
        if not usual and draw.random() < chance:
            options[name] = draw.choice(values)
    return options


def _plain(case: Case) -> str:
    passages = order_context(case.texts, case.metadatas, case.scores, **case.options)
    separator = case.options.get("separator", "\n\n")
    cited = [f"{passage.citation} {list(passage.spans)}" for passage in passages]
    return "\n".join([render(passages, separator=separator), *cited])


def _langchain(case: Case) -> str:
    documents = [
        Document(text, metadata={**metadata, "relevance_score": score}, id=str(number))
        for number, (text, metadata, score) in enumerate(
            zip(case.texts, case.metadatas, case.scores, strict=True)
        )
    ]
    component = OrderPreservingCompressor(**case.options, rescore=case.rescore)
    made = component.compress_documents(documents, "?")
    return "\n".join(f"{d.id} {d.page_content} {_shown(d.metadata)}" for d in made)


def _llamaindex(case: Case) -> str:
    nodes = [
        NodeWithScore(
            node=TextNode(
                text=text,
                id_=str(number),
                metadata=metadata,
                excluded_llm_metadata_keys=sorted(
                    set(metadata) - ({"title"} if case.shown else set())
                ),
            ),
            score=score,
        )
        for number, (text, metadata, score) in enumerate(
            zip(case.texts, case.metadatas, case.scores, strict=True)
        )
    ]
    component = OrderPreservingPostprocessor(**case.options, rescore=case.rescore)
    return "\n".join(map(_node, component.postprocess_nodes(nodes)))


def _node(scored: NodeWithScore) -> str:
    node: Any = scored.node
    return (
        f"{node.node_id} {node.text} {_shown(node.metadata)} {scored.score} "
        f"{node.start_char_idx}-{node.end_char_idx} {node.excluded_llm_metadata_keys} "
        f"{node.excluded_embed_metadata_keys} {node.get_content(MetadataMode.LLM)}"
    )


_WAYS = (_plain, _langchain, _llamaindex)


def _shown(metadata: dict[str, Any]) -> str:
    """Metadata in its order, the same with every version of numpy."""
    return ", ".join(f"{key}={value}" for key, value in metadata.items())


def _outcome(way: Any, case: Case) -> str:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return str(way(case))
    except Exception as error:  # noqa: BLE001 -- which error it is, is recorded
        return f"error: {type(error).__name__}"


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:12]


def digests(count: int) -> list[dict[str, str]]:
    """For each case, a digest of what each way makes of it."""
    return [
        {way: _digest(text) for way, text in contexts(case).items()}
        for case in cases(count)
    ]


def blocks(count: int) -> list[dict[str, str]]:
    """As `digests`, one for every `BLOCK` cases."""
    found = digests(count)
    return [
        {
            way: _digest("".join(case[way] for case in found[first : first + BLOCK]))
            for way in found[0]
        }
        for first in range(0, count, BLOCK)
    ]


if __name__ == "__main__":
    if sys.argv[1] == "--record":
        RECORDED.write_text(json.dumps(blocks(N_RECORDED), indent=0) + "\n")
    else:
        sys.stdout.write(json.dumps(digests(int(sys.argv[1]))))
