"""Generated cases of retrieval, and the contexts that each way makes of them.

The same cases through plain Python, LangChain and LlamaIndex, with every option that
decides what is read and in which order. They come from a seeded generator of the
standard library, so that they are the same with every version of every package: what
is recorded of them can be compared years later.

`generated_contexts.txt` is such a record: a digest of the texts (not of their places)
for each case and way. This names the cases that differ from it ::

    python -m tests.laws.generated_contexts

and after a change that is meant to change contexts, with a line in CHANGELOG.md, this
records them anew ::

    python -m tests.laws.generated_contexts --record
"""

import base64
import hashlib
import random
import sys
import warnings
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from langchain_core.documents import Document
from llama_index.core.schema import MetadataMode, NodeWithScore, TextNode

from langchain_oprag import OrderPreservingCompressor
from llamaindex_oprag import OrderPreservingPostprocessor
from oprag import order_context, render
from oprag.errors import (
    BudgetTooSmallError,
    MissingDocumentError,
    OpragError,
    PositionError,
)
from oprag.tokens import resolve_token_counter

_TEXT = (
    "rent deposit heating garden tenant landlord repairs keys noise pets lease notice "
    "payment the of and in is shall be paid within thirty days May 1807 §4 (b) größe "
    "café 漢字 🙂 end. clause."
)
_WORDS = _TEXT.split()
_JOINTS = (" ", " ", " ", " ", ". ", ".\n", "\n\n", "  ")
_SCHEMES = (
    *("own", "own", "own", "start_index", "start_index", "start_index"),
    *("page", "chunk_index", "chunk_index", "none"),
)

RECORDED = Path(__file__).with_suffix(".txt")
N_RECORDED = 20_000
_A_LINE = 6
"""Cases of one line of the record."""
_BYTES = 3
"""Of a digest."""


class Case(NamedTuple):
    """The hits, best first, and the options."""

    texts: list[str]
    metadatas: list[dict[str, Any]]
    scores: list[float]
    options: dict[str, Any]
    shown: bool
    """Whether LlamaIndex sends some of the metadata with the text."""


def cases(count: int, seed: int = 14) -> Iterator[Case]:
    """Generate cases; the first of them are the same for every count."""
    for number in range(count):
        yield _case(random.Random(seed * 1_000_003 + number))  # noqa: S311 -- no secret


def contexts(case: Case) -> dict[str, str]:
    """The text sent for a case, by its way; the error's class for none."""
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
        draw.random() < 0.5,
    )


def _text(draw: random.Random) -> str:
    count = draw.randint(30, 150)
    return "".join(draw.choice(_WORDS) + draw.choice(_JOINTS) for _ in range(count))


_CHANGES: tuple[dict[str, Any], ...] = (
    *({"char_start": 0}, {"char_start": 3.0}, {"char_start": -1}, {"char_end": True}),
    *({"token_counter": "other"}, {"token_count": 2.0}, {"token_count": None}),
    *({"doc_key": ""}, {"doc_key": 7}, {"part_index": 1}, {"part_index": [1]}),
    {"page": 2},
)


def _chunks(
    draw: random.Random, name: str, text: str, scheme: str, overlap: int
) -> list[tuple[str, dict[str, Any]]]:
    bounds = [0]
    while bounds[-1] < len(text):
        bounds.append(min(len(text), bounds[-1] + draw.randint(15, 90)))
    starts = [max(0, start - overlap) for start in bounds[:-1]]
    spans = list(zip(starts, bounds[1:], strict=True))
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
        made.append((piece, {**place, "title": f"About {name}"}))
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
    recall = not usual and draw.random() < 0.25
    if recall:
        options["selection"] = "recall"
    if recall or draw.random() < 0.6:
        options["token_budget"] = draw.choice((40, 80, 150, 300, 2_000))
    for name, chance, values in (
        ("top_n", 0.2, (1, 3, 5)),
        ("merge", 0.4, (True,)),
        ("separator", 0.2, ("\n", "", " --- ")),
    ):
        if draw.random() < chance:
            options[name] = draw.choice(values)
    for name, chance, values in (
        ("order", 0.15, ("rank",)),
        ("sort_documents", 0.3, ("best_rank",)),
        ("citations", 0.1, (True,)),
        ("position_keys", 0.1, ("chunk_index", "start_index", ["page", "start_index"])),
        ("document_key", 0.05, ("title",)),
        ("on_problem", 0.1, ("warn",)),
        ("documents", 0.2, (sources,)),
    ):
        if not usual and draw.random() < chance:
            options[name] = draw.choice(values)
    return options


def _plain(case: Case) -> str:
    passages = order_context(case.texts, case.metadatas, case.scores, **case.options)
    cited = case.options.get("citations", False)
    sent = render(
        passages, separator=case.options.get("separator", "\n\n"), citations=cited
    )
    budget = case.options.get("token_budget")
    if budget is not None and _counter()(sent) > budget:
        return f"over the budget of {budget}"
    return "\n".join(f"{passage.rank} {passage.text}" for passage in passages)


def documents_of(case: Case) -> list[Document]:
    return [
        Document(text, metadata={**metadata, "relevance_score": score}, id=str(number))
        for number, (text, metadata, score) in enumerate(
            zip(case.texts, case.metadatas, case.scores, strict=True)
        )
    ]


def nodes_of(case: Case) -> list[NodeWithScore]:
    return [
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


def _langchain(case: Case) -> str:
    component = OrderPreservingCompressor(**case.options)
    made = component.compress_documents(documents_of(case), "?")
    return "\n".join(f"{d.id} {d.page_content}" for d in made)


def _llamaindex(case: Case) -> str:
    component = OrderPreservingPostprocessor(**case.options)
    return "\n".join(map(_node, component.postprocess_nodes(nodes_of(case))))


def _node(scored: NodeWithScore) -> str:
    node: Any = scored.node
    sent = node.get_content(MetadataMode.LLM)
    return f"{node.node_id} {scored.score} {sent}"


_WAYS = (_plain, _langchain, _llamaindex)


_FAMILIES = (BudgetTooSmallError, MissingDocumentError, PositionError, OpragError)


def _outcome(way: Any, case: Case) -> str:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return str(way(case))
    except OpragError as error:
        family = next(each for each in _FAMILIES if isinstance(error, each))
        return f"error: {family.__name__}"


def _digest(text: str) -> str:
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
    return base64.b64encode(digest[:_BYTES]).decode()


def digests(cases: Iterator[Case]) -> Iterator[str]:
    """For each case, the digests of what each way makes of it, one after another."""
    for case in cases:
        yield "".join(map(_digest, contexts(case).values()))


def recorded() -> list[str]:
    return RECORDED.read_text().split()


def written(digests: list[str]) -> str:
    lines = range(0, len(digests), _A_LINE)
    return "".join(" ".join(digests[n : n + _A_LINE]) + "\n" for n in lines)


if __name__ == "__main__":
    made = list(digests(cases(N_RECORDED)))
    if sys.argv[1:] == ["--record"]:
        RECORDED.write_text(written(made))
    else:
        pairs = enumerate(zip(recorded(), made, strict=True))
        differing = [number for number, (known, found) in pairs if known != found]
        sys.stdout.write(f"{len(differing)} of {len(made)} cases differ: {differing}\n")
