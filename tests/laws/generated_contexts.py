"""Generated cases of retrieval, and the contexts that each way makes of them.

The same cases through plain Python, LangChain and LlamaIndex. They come from a seeded
generator of the standard library, so that they are the same with every version of
every package: what is recorded of them can be compared years later ::

    python -m tests.laws.generated_contexts 10000 > contexts.json
"""

from __future__ import annotations

import hashlib
import json
import random
import sys
import warnings
from collections.abc import Iterator
from functools import cache
from typing import Any, NamedTuple

from langchain_core.documents import Document
from llama_index.core.schema import NodeWithScore, TextNode

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
_SCHEMES = ("own", "own", "own", "start_index", "page", "chunk_index", "none")


class Case(NamedTuple):
    """What was retrieved, best first, and the options."""

    texts: list[str]
    metadatas: list[dict[str, Any]]
    scores: list[float]
    options: dict[str, Any]


def cases(count: int, seed: int = 14) -> Iterator[Case]:
    """Generate cases; the first of them are the same for every count."""
    for number in range(count):
        yield _case(random.Random(seed * 1_000_003 + number))  # noqa: S311 -- no secret


def contexts(case: Case) -> dict[str, str]:
    """What is sent for a case, by the way it took; the error's class for none."""
    return {way.__name__.strip("_"): _outcome(way, case) for way in _WAYS}


def _case(draw: random.Random) -> Case:
    scheme = draw.choice(_SCHEMES)
    sources = {f"doc{i}.txt": _text(draw) for i in range(draw.choice((1, 1, 2, 3)))}
    overlap = draw.choice((0, 0, 0, 5))
    chunks = [
        chunk
        for name, text in sources.items()
        for chunk in _chunks(draw, name, text, scheme, overlap)
    ]
    draw.shuffle(chunks)
    chunks = chunks[: draw.randint(1, 14)]
    if draw.random() < 0.05:
        chunks.append(draw.choice(chunks))
    return Case(
        [text for text, _ in chunks],
        [metadata for _, metadata in chunks],
        [draw.random() for _ in chunks],
        _options(draw, sources),
    )


def _text(draw: random.Random) -> str:
    count = draw.randint(30, 150)
    return "".join(draw.choice(_WORDS) + draw.choice(_JOINTS) for _ in range(count))


def _chunks(
    draw: random.Random, name: str, text: str, scheme: str, overlap: int
) -> list[tuple[str, dict[str, Any]]]:
    bounds = [0]
    while bounds[-1] < len(text):
        bounds.append(min(len(text), bounds[-1] + draw.randint(15, 90)))
    starts = [max(0, start - overlap) for start in bounds[:-1]]
    spans = list(zip(starts, bounds[1:], strict=True))
    made = []
    for index, (start, end) in enumerate(spans):
        piece = text[start:end]
        place: dict[str, Any]
        if scheme == "own":
            place = {
                "doc_key": hashlib.sha256(name.encode()).hexdigest(),
                "doc_uri": name,
                "chunk_index": index,
                "n_chunks": len(spans),
                "char_start": start,
                "char_end": end,
                "token_count": _counter()(piece),
                "token_counter": "cl100k_base",
            }
        elif scheme == "start_index":
            place = {"source": name, "start_index": start}
        elif scheme == "page":
            place = {"source": name, "page": index // 3, "start_index": start % 97}
        elif scheme == "chunk_index":
            place = {"doc_id": name, "chunk_index": str(index)}
        else:
            place = {"source": name}
        made.append((piece, {**place, "title": f"About {name}"}))
    return made


@cache
def _counter() -> Any:
    return resolve_token_counter("cl100k_base")


def _options(draw: random.Random, sources: dict[str, str]) -> dict[str, Any]:
    options: dict[str, Any] = {}
    selection = draw.choice(("budget", "budget", "budget", "segments", "expand"))
    if selection != "budget":
        options["selection"] = selection
    if selection != "budget" or draw.random() < 0.6:
        options["token_budget"] = draw.choice((40, 80, 150, 300, 2_000))
    for name, chance, values in (
        ("top_n", 0.2, (1, 3, 5)),
        ("overflow", 0.25, ("skip",)),
        ("order", 0.15, ("score",)),
        ("document_order", 0.3, ("first_seen", "score_sum", "title")),
        ("merge", 0.4, (True,)),
        ("max_gap", 0.2, (0, 30)),
        ("missing_position", 0.3, ("last", "rank")),
        ("separator", 0.2, ("\n", "", " --- ")),
        ("documents", 0.2, (sources,)),
    ):
        if draw.random() < chance:
            options[name] = draw.choice(values)
    options["token_counter"] = "cl100k_base"
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
    component = OrderPreservingCompressor(**case.options)
    made = component.compress_documents(documents, "?")
    return "\n".join(f"{d.id} {d.page_content} {_place(d.metadata)}" for d in made)


def _llamaindex(case: Case) -> str:
    nodes = [
        NodeWithScore(
            node=TextNode(
                text=text,
                id_=str(number),
                metadata=metadata,
                excluded_llm_metadata_keys=sorted(set(metadata) - {"title"}),
            ),
            score=score,
        )
        for number, (text, metadata, score) in enumerate(
            zip(case.texts, case.metadatas, case.scores, strict=True)
        )
    ]
    component = OrderPreservingPostprocessor(**case.options)
    made = component.postprocess_nodes(nodes)
    return "\n".join(
        f"{n.node_id} {n.get_content()} {_place(n.metadata)}" for n in made
    )


_WAYS = (_plain, _langchain, _llamaindex)


def _place(metadata: dict[str, Any]) -> list[Any]:
    return [metadata.get(key) for key in ("char_start", "char_end", "part_index")]


def _outcome(way: Any, case: Case) -> str:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return str(way(case))
    except Exception as error:  # noqa: BLE001 -- which error it is, is recorded
        return f"error: {type(error).__name__}"


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:12]


if __name__ == "__main__":
    recorded = [
        {way: _digest(text) for way, text in contexts(case).items()}
        for case in cases(int(sys.argv[1]))
    ]
    sys.stdout.write(json.dumps(recorded))
