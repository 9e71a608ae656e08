"""Clusters of texts that are alike: UMAP and a Gaussian mixture, in two passes.

Seeded throughout, so that a tree is the same whenever it is built on one machine with
one version of the libraries.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from oprag_eval.artifacts import Matrix

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
            where that leaves it whole, cut into neighbours. One text may exceed it.
        seed: Of UMAP and of the mixtures.

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
        n_jobs=1,  # what a seed demands; unsaid, UMAP warns of it
    )
    # A text unlike all others has no place; the middle is as good as any.
    return np.nan_to_num(reducer.fit_transform(vectors).astype(np.float64))


def _memberships(points: Any, seed: int) -> list[list[int]]:
    """Fit the mixture that the criterion prefers; give who belongs to each part."""
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
    """Cut into stretches of at most so many tokens, in order."""
    stretches: list[list[int]] = []
    room = 0
    for member in members:
        if not stretches or sizes[member] > room:
            stretches.append([])
            room = max_tokens
        stretches[-1].append(member)
        room -= sizes[member]
    return stretches
