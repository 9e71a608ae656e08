"""RAPTOR (arXiv 2401.18059): chunks and summaries of them, searched as one pool."""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import numpy as np

from oprag.calls import TokenUsage
from oprag.chunk import Chunk
from oprag.context import fill_budget, too_small
from oprag.evaluation.artifacts import Facts
from oprag.evaluation.bench import Bench, query_text
from oprag.evaluation.contexts import Context
from oprag.evaluation.data import Document, Question
from oprag.evaluation.making import kept_reply, made_together, summary_call
from oprag.evaluation.reading import read
from oprag.evaluation.splittings import Splitting, SplitUnit
from oprag.evaluation.system import Attempt, Count, Piece, System
from oprag.evaluation.systems.clustering import soft_clusters
from oprag.evaluation.vectors import Matrix, best_first
from oprag.tokens import NamedTokenCounter


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
            "settings": asdict(settings),
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


_SEPARATOR = "\n\n"


class _Node(NamedTuple):
    text: str
    piece: Piece


@dataclass(frozen=True)
class Raptor(System):
    """Reads the best nodes of its documents' trees that fit the budget, best first.

    The tree is collapsed: chunks and summaries compete as equals, by cosine. Each
    document has a tree of its own; the nodes of all of a question's are one pool.
    """

    name: str
    tree: TreeSettings

    def settings(self) -> dict[str, Any]:
        """Return how the trees are built."""
        return asdict(self.tree)

    async def attempt(
        self, question: Question, budget: int | None, bench: Bench
    ) -> Attempt:
        """Build the trees if they are not there, choose nodes, and answer.

        Raises:
            BudgetTooSmallError: Not even the best node fits.
            ChatModelError: See `tree_of`.
            MissingDependencyError: See `tree_of`.
        """
        nodes: list[_Node] = []
        scores: list[float] = []
        usage, calls = TokenUsage(), 0
        query = bench.vectors.of_query(query_text(question))
        for document in bench.documents(question):
            tree = await tree_of(document, self.tree, bench)
            usage, calls = usage + tree.usage, calls + tree.calls
            if found := self._nodes(document, tree, bench):
                nodes += found
                scores += (self._vectors(document, tree, bench) @ query).tolist()
        ranked = [nodes[place] for place in best_first(scores)]
        kept = _fitting(ranked, budget, bench.counter)
        text = _SEPARATOR.join(node.text for node in kept)
        pieces = tuple(node.piece for node in kept)
        context = Context(text, pieces, bench.counter(text), "")
        return await read(
            question, context, bench, usage={"index": usage}, calls={"index": calls}
        )

    def _nodes(self, document: Document, tree: Tree, bench: Bench) -> list[_Node]:
        name = document.doc_id
        chunks = bench.chunks(document, self.tree.splitting)
        leaves = [
            _Node(
                hit.text,
                Piece(name, hit.metadata["char_start"], hit.metadata["char_end"]),
            )
            for hit in chunks
        ]
        summaries = [
            _Node(text, Piece(name, note="summary")) for text in tree.summaries
        ]
        return leaves + summaries

    def _vectors(self, document: Document, tree: Tree, bench: Bench) -> Matrix:
        def stacked() -> Matrix:
            leaves = bench.chunk_vectors(document, self.tree.splitting)
            if not tree.summaries:
                return leaves
            return np.vstack([leaves, bench.vectors.of_texts(tree.summaries)])

        return bench.kept(("raptor vectors", document.doc_id, self.tree), stacked)


def _fitting(
    ranked: Sequence[_Node], budget: int | None, counter: NamedTokenCounter
) -> list[_Node]:
    """Take nodes up to the first that does not fit; separators count."""
    if budget is None or not ranked:
        return list(ranked)
    chunks = [Chunk(node.text, "", rank) for rank, node in enumerate(ranked)]
    filled = fill_budget(
        chunks,
        budget,
        cost=lambda chunk: counter(chunk.text),
        join_cost=counter(_SEPARATOR),
    )
    kept = list(ranked[: len(filled)])
    # Joined, texts may take a few tokens more than apart.
    while (tokens := counter(_SEPARATOR.join(node.text for node in kept))) > budget:
        if len(kept) == 1:
            raise too_small(budget, tokens)
        kept.pop()
    return kept


def raptor(
    *,
    name: str = "raptor",
    unit: SplitUnit = "sentences",
    size: Count = 100,
    summary_tokens: Count = 100,
    cluster_tokens: Count = 3500,
    layers: Count = 5,
) -> Raptor:
    """The DOS RAG paper's variant: leaves of whole sentences up to 100 tokens.

    Args:
        name: Of the system.
        unit: Of the leaves.
        size: Of the leaves, in that unit.
        summary_tokens: Tokens of a summary at most.
        cluster_tokens: Tokens of what one summary is of, at most.
        layers: Of summaries, at most; none above a layer of 11 nodes or fewer.
    """
    splitting = Splitting(unit, size)
    settings = TreeSettings(splitting, summary_tokens, cluster_tokens, layers, 11)
    return Raptor(name, settings)
