"""RAPTOR (arXiv 2401.18059): chunks and summaries of them, searched as one pool.

Clusters are of texts that are alike, by UMAP and a Gaussian mixture in two passes. All
of it is seeded, so that a tree is the same whenever it is built on one machine with one
version of the libraries.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from oprag.calls import TokenUsage
from oprag.chunk import Hit
from oprag.context import ContextOptions, arrange
from oprag.tokens import NamedTokenCounter
from oprag_eval.artifacts import Facts, Matrix, best_first
from oprag_eval.bench import Bench, query_text
from oprag_eval.data import Document, Question
from oprag_eval.model_texts import kept_reply, summary_call
from oprag_eval.models import Completion
from oprag_eval.official.dos_rag import (
    OfficialSplitting,
    fill_officially,
    join_officially,
    pieces_of,
)
from oprag_eval.requests import read
from oprag_eval.splittings import Splitting
from oprag_eval.system import Attempt, Context, Count, Piece, System
from oprag_eval.systems.retrieved import Compat
from oprag_eval.workers import map_concurrently

_ENOUGH = 11
"""A layer of this many nodes or fewer has none above it."""
_SEPARATOR = "\n\n"


@dataclass(frozen=True, kw_only=True)
class Raptor(System):
    """Reads the best nodes of its documents' trees that fit the budget, best first.

    The tree is collapsed: chunks and summaries compete as equals, by cosine. Each
    document has its own tree. The nodes of all documents of a question are one pool.
    The defaults are the DOS RAG paper's.
    """

    name: str = "raptor"
    size: Count = 100
    """Tokens of the leaves, which are whole sentences."""
    summary_tokens: Count = 100
    """Tokens of a summary at most."""
    cluster_tokens: Count = 3500
    """Tokens of the texts that one summary is of, at most."""
    layers: Count = 5
    """Layers of summaries, at most; none above a layer of 11 nodes or fewer."""
    compat: Compat = "fixed"
    """`"official"`: the leaves, the filling and the joining of `vanilla-rag` with the
    same setting, which is then RAPTOR without its summaries."""

    @property
    def cut(self) -> Splitting:
        """The splitting into leaves."""
        kind = OfficialSplitting if self.compat == "official" else Splitting
        return kind("sentences", self.size)

    async def attempt(
        self, question: Question, budget: int | None, bench: Bench
    ) -> Attempt:
        """Build the trees if they are not there, choose nodes, and answer."""
        nodes: list[Hit] = []
        scores: list[float] = []
        usage = TokenUsage()
        query = bench.vectors.of_query(query_text(question))
        for document in bench.dataset.documents_of(question):
            tree, made_with = await self._tree(document, bench)
            usage += made_with
            made = {"doc_uri": document.doc_id, "note": "summary"}
            summaries = [Hit(text, made) for text in tree]
            if leaves := bench.chunks(document, self.cut):
                nodes += [*leaves, *summaries]
                scores += (bench.chunk_vectors(document, self.cut) @ query).tolist()
            if tree:
                scores += (bench.vectors.of_texts(tree) @ query).tolist()
        ranked = [nodes[place] for place in best_first(scores)]
        if self.compat == "official":
            kept = fill_officially(ranked, budget or 0, bench.counter)
            text = join_officially(kept)
        else:
            kept = _fitting(ranked, budget, bench.counter)
            text = _SEPARATOR.join(node.text for node in kept)
        pieces = tuple(piece for node in kept for piece in _pieces(node))
        return await read(question, Context(text, pieces), bench, index=usage)

    async def _tree(
        self, document: Document, bench: Bench
    ) -> tuple[list[str], TokenUsage]:
        """Return the summaries of a document layer by layer from below, and their cost.

        The tree is kept by content and settings: the text, the splitting, the counter,
        both models, seed, temperature. Tokens are those of all calls, now or before.
        """
        of = {
            "text": document.text,
            "model": bench.model.name,
            "settings": self.settings(),
            "counter": bench.counter.name,
            "embeddings": bench.vectors.name,
            "prompt": summary_call("", self.summary_tokens).prompt,
            "seed": bench.seed,
            "temperature": bench.temperature,
        }
        make = partial(self._built, document, bench)
        made = await bench.artifacts.made("raptor-tree", of, make)
        return made["summaries"], TokenUsage(**made["usage"])

    async def _built(self, document: Document, bench: Bench) -> Facts:
        layer = [leaf.text for leaf in bench.chunks(document, self.cut)]
        vectors = bench.chunk_vectors(document, self.cut)
        summaries: list[str] = []
        usage = TokenUsage()

        async def summary(members: Sequence[int]) -> Completion:
            text = _SEPARATOR.join(layer[one] for one in members)
            return await kept_reply(bench, summary_call(text, self.summary_tokens))

        for _ in range(self.layers):
            if len(layer) <= _ENOUGH:
                break
            sizes = [bench.counter(text) for text in layer]
            clusters = soft_clusters(
                vectors, sizes, max_tokens=self.cluster_tokens, seed=bench.seed
            )
            written = await map_concurrently(summary, clusters)
            layer = [each.text.strip() for each in written]
            summaries += layer
            usage = sum((each.usage for each in written), usage)
            vectors = bench.vectors.of_texts(layer)
        return {"summaries": summaries, "usage": usage.to_dict()}


def _pieces(node: Hit) -> tuple[Piece, ...]:
    """Return one piece; several for authors' chunks that are no slice of a document."""
    if "note" in node.metadata:
        return (Piece(node.metadata["doc_uri"], note=node.metadata["note"]),)
    return pieces_of(node)


def _fitting(
    ranked: Sequence[Hit], budget: int | None, counter: NamedTokenCounter
) -> list[Hit]:
    """Take nodes up to the first that does not fit; separators count."""
    hits = [Hit(node.text, {"source": str(rank)}) for rank, node in enumerate(ranked)]
    options = ContextOptions(
        order="rank", token_budget=budget, token_counter=counter, separator=_SEPARATOR
    )
    return list(ranked[: len(arrange(hits, options).passages)])


_DIMENSIONS = 10
_LOCAL_NEIGHBOURS = 10
_MOST_COMPONENTS = 50
_BELONGS = 0.1
"""Probability over which a text belongs to a cluster; it may belong to several."""
_FEWEST = 4
"""Texts that can be clustered; fewer are one cluster."""


def soft_clusters(
    vectors: Matrix, sizes: Sequence[int], *, max_tokens: int, seed: int
) -> list[list[int]]:
    """Cluster texts.

    Args:
        vectors: One row per text.
        sizes: Tokens of each.
        max_tokens: Tokens of a cluster at most: a larger one is clustered again, and
            if that leaves it whole, cut into neighbours. One text may exceed it.
        seed: The seed of UMAP and of the mixtures.

    Returns:
        The texts of each cluster, ascending. Every text is in one at least.

    Source:
        RAPTOR (arXiv 2401.18059), as the authors' code does it. There UMAP is not
        seeded, a text that is unlikely everywhere is in no cluster, and a cluster
        that cannot be divided is clustered for ever.
    """
    every = list(range(len(vectors)))
    found = [every]
    if len(every) >= _FEWEST:
        with warnings.catch_warnings():
            # Of small graphs, and of mixtures to which others are preferred.
            warnings.simplefilter("ignore")
            found = _two_passes(vectors, seed)
    clusters: list[list[int]] = []
    for members in found:
        if len(members) == 1 or sum(sizes[one] for one in members) <= max_tokens:
            clusters.append(members)
        elif len(members) == len(every):
            clusters += _neighbours(members, sizes, max_tokens)
        else:
            inner = soft_clusters(
                vectors[members],
                [sizes[one] for one in members],
                max_tokens=max_tokens,
                seed=seed,
            )
            clusters += [[members[one] for one in cluster] for cluster in inner]
    return clusters


def _two_passes(vectors: Matrix, seed: int) -> list[list[int]]:
    """Cluster everything, and then each cluster that is large enough."""
    clusters: list[list[int]] = []
    near = max(2, int((len(vectors) - 1) ** 0.5))
    for members in _memberships(_reduced(vectors, near, seed), seed):
        if len(members) <= _DIMENSIONS + 1:
            clusters.append(members)
            continue
        local = _reduced(vectors[members], _LOCAL_NEIGHBOURS, seed)
        clusters += [
            [members[one] for one in cluster] for cluster in _memberships(local, seed)
        ]
    return clusters


def _reduced(vectors: Matrix, neighbours: int, seed: int) -> Any:
    from umap import UMAP

    reducer = UMAP(
        n_neighbors=neighbours,
        n_components=min(_DIMENSIONS, len(vectors) - 2),
        metric="cosine",
        random_state=seed,
        n_jobs=1,  # a seed demands it, or UMAP warns
    )
    # A text unlike all others has no place; the middle is as good as any.
    return np.nan_to_num(reducer.fit_transform(vectors).astype(np.float64))


def _memberships(points: Any, seed: int) -> list[list[int]]:
    """Fit the mixture that the criterion prefers; return the members of each part."""
    from sklearn.mixture import GaussianMixture
    from threadpoolctl import threadpool_limits

    most = min(_MOST_COMPONENTS, len(points))
    # On few points threads cost more than they bring, and sums depend on them.
    with threadpool_limits(1):
        fitted = [
            GaussianMixture(n_components=number, random_state=seed).fit(points)
            for number in range(1, most)
        ]
    best = min(fitted, key=lambda each: each.bic(points))
    probable = best.predict_proba(points)
    belongs = probable > _BELONGS
    belongs[np.arange(len(points)), probable.argmax(axis=1)] = True
    members = [np.flatnonzero(column).tolist() for column in belongs.T]
    return [each for each in members if each]


def _neighbours(
    members: Sequence[int], sizes: Sequence[int], max_tokens: int
) -> list[list[int]]:
    """Cut into stretches of at most `max_tokens` tokens, in order."""
    stretches: list[list[int]] = []
    room = 0
    for member in members:
        if not stretches or sizes[member] > room:
            stretches.append([])
            room = max_tokens
        stretches[-1].append(member)
        room -= sizes[member]
    return stretches
