"""The tree of one document: its chunks, and layers of summaries above them."""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from oprag.calls import TokenUsage
from oprag.evaluation.artifacts import Facts
from oprag.evaluation.bench import Bench
from oprag.evaluation.concurrently import made_together
from oprag.evaluation.data import Document
from oprag.evaluation.kept_replies import kept_reply
from oprag.evaluation.making_prompts import summary_call
from oprag.evaluation.raptor.clustering import soft_clusters
from oprag.evaluation.splittings import Splitting


@dataclass(frozen=True)
class TreeSettings:
    """How trees are built; what the papers have, by default."""

    splitting: Splitting
    """Of the leaves."""
    summary_tokens: int
    """Tokens of a summary."""
    cluster_tokens: int
    """Tokens of the texts that one summary is of, at most."""
    layers: int
    """Of summaries, at most."""
    enough: int
    """A layer of so many nodes or fewer has none above it."""

    def as_json(self) -> dict[str, Any]:
        """Return the settings as plain JSON values."""
        return {
            "splitting": self.splitting.settings(),
            "summary_tokens": self.summary_tokens,
            "cluster_tokens": self.cluster_tokens,
            "layers": self.layers,
            "enough": self.enough,
        }


@dataclass(frozen=True)
class Tree:
    """What is above the chunks of a document."""

    summaries: tuple[str, ...]
    """Layer by layer from below."""
    children: tuple[tuple[int, ...], ...]
    """Nodes that each is of: the chunks are numbered first, then the summaries."""
    usage: TokenUsage
    """Of all calls that it took, whether they were made now or before."""
    calls: int
    """How many they were."""


async def tree_of(document: Document, settings: TreeSettings, bench: Bench) -> Tree:
    """Return a document's tree, built if it was not built before.

    It is kept by content and settings: the text, the splitting, the counter, both
    models, the seed.

    Args:
        document: The document; an empty one has an empty tree.
        settings: How it is built.
        bench: Chunks, vectors, the model, the seed, the cache.

    Raises:
        ChatModelError: A summary cannot be had.
        MissingDependencyError: umap-learn or scikit-learn is not installed.
        SpendingCapError: The run may not spend more.
    """

    async def make() -> Facts:
        return await _built(document, settings, bench)

    digest = hashlib.sha256(document.text.encode("utf-8", "surrogatepass"))
    made = await bench.artifacts.made(
        "raptor-tree",
        {
            "text": digest.hexdigest(),
            "settings": settings.as_json(),
            "counter": bench.counter.name,
            "embeddings": bench.vectors.name,
            "model": bench.model.name,
            "prompt": summary_call("", settings.summary_tokens).prompt,
            "seed": bench.seed,
        },
        make,
    )
    return Tree(
        tuple(made["summaries"]),
        tuple(map(tuple, made["children"])),
        TokenUsage(**made["usage"]),
        len(made["summaries"]),
    )


async def _built(document: Document, settings: TreeSettings, bench: Bench) -> Facts:
    layer = [hit.text for hit in bench.chunks(document, settings.splitting)]
    vectors = bench.chunk_vectors(document, settings.splitting)
    below = 0
    summaries: list[str] = []
    children: list[list[int]] = []
    usage = TokenUsage()
    for _ in range(settings.layers):
        if len(layer) <= settings.enough:
            break
        clusters = soft_clusters(
            np.asarray(vectors),
            [bench.counter(text) for text in layer],
            max_tokens=settings.cluster_tokens,
            seed=bench.seed,
        )
        written = await made_together(
            [
                functools.partial(
                    _summary, [layer[one] for one in each], settings, bench
                )
                for each in clusters
            ]
        )
        children += [[below + one for one in each] for each in clusters]
        below += len(layer)
        layer = [text for text, _ in written]
        summaries += layer
        usage = sum((used for _, used in written), usage)
        vectors = bench.vectors.of_texts(layer)
    return {"summaries": summaries, "children": children, "usage": usage.to_dict()}


async def _summary(
    texts: Sequence[str], settings: TreeSettings, bench: Bench
) -> tuple[str, TokenUsage]:
    call = summary_call("\n\n".join(texts), settings.summary_tokens)
    completion = await kept_reply(bench, call)
    return completion.text.strip(), completion.usage
