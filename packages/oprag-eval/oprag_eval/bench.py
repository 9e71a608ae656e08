"""The bench of all systems: documents, chunks, vectors, the model, the cache."""

from __future__ import annotations

import copy
from collections import OrderedDict
from collections.abc import Callable, Collection, Hashable, Iterable, Sequence
from pathlib import Path
from typing import Any, Literal, TypeAlias, TypeVar

from oprag.chunk import Hit
from oprag.stores import (
    Bm25,
    ChunkStore,
    SearchedChunks,
    SearchFilter,
    StoredChunk,
    Wanted,
)
from oprag.tokens import NamedTokenCounter, TokenizerSpec, resolve_token_counter
from oprag_eval.artifacts import Artifacts, Matrix, Vectors, best_first
from oprag_eval.data import Dataset, Document, Question
from oprag_eval.models import Model
from oprag_eval.question_words import AnswerStyle, Wording
from oprag_eval.splittings import Splitting

Made = TypeVar("Made")

Search: TypeAlias = Literal["vectors", "hybrid"]
"""How chunks are found. `"vectors"`: by cosine with the question. `"hybrid"`: by that
and by its words, fused as `bm25=True` does it in a retriever."""

_KEPT = 64
"""Things of a kind that are kept in memory, such as the chunks of this many documents
in one splitting. If a question is asked of more documents, as many are kept. A run asks
in the order of the set."""
_FOUND_OF_ALL = 1000
"""Chunks that are found for a question that is asked of all documents, if no number
is asked for: as many as fill the largest budgets."""


class Bench:
    """Documents, their chunks and vectors, the model, and the cache.

    Args:
        dataset: Questions and documents.
        model: Answers, chooses pages to look up, and writes summaries and gists.
        vectors: The vectors of the embedding model.
        token_counter: Counts budgets and contexts; None for cl100k.
        window: Tokens that the model reads and writes; None when not known.
        max_reply: Of these, the tokens kept for the reply.
        cache: Folder for objects that systems make of a document (trees, pages, gists).
            None: in memory.
        seed: The seed of everything that is drawn.
        temperature: The temperature of the model. None: its provider's.
        answer_style: How answers are asked for; reports read it from the run's
            settings, in which it has the same name.
        wording: The words in which it is asked. None: our own.
    """

    def __init__(
        self,
        dataset: Dataset,
        model: Model,
        vectors: Vectors,
        *,
        token_counter: TokenizerSpec = None,
        window: int | None = None,
        max_reply: int = 1024,
        cache: Path | None = None,
        seed: int = 42,
        temperature: float | None = None,
        answer_style: AnswerStyle = "letter",
        wording: Wording | None = None,
    ) -> None:
        self.dataset = dataset
        self.model = model
        self.vectors = vectors
        self.counter: NamedTokenCounter = resolve_token_counter(token_counter)
        self.window = window
        self.max_reply = max_reply
        self.artifacts = Artifacts(cache)
        self.seed = seed
        self.temperature = temperature
        self.answer_style = answer_style
        self.wording = wording or Wording()
        asked = (len(self._names_of(q)) for q in dataset.questions)
        self._most = max(_KEPT, *asked, 0)
        self._held: dict[Hashable, OrderedDict[Hashable, Any]] = {}

    def _names_of(self, question: Question) -> tuple[str, ...]:
        """Name the documents that a question is asked of."""
        named = () if self.dataset.search_all else question.doc_ids
        return named or tuple(self.dataset.documents)

    def trial(self, model: Model) -> Bench:
        """Return the same bench with another model, whose answers are not kept."""
        trial = copy.copy(self)
        trial.model = model
        trial.artifacts = Artifacts()
        return trial

    def chunks(self, document: Document, splitting: Splitting) -> list[Hit]:
        """Return a document's chunks in order, with positions and token counts."""
        kind, name = ("chunks", splitting), document.doc_id
        return self.kept(kind, name, lambda: splitting.hits(document, self.counter))

    def chunk_vectors(self, document: Document, splitting: Splitting) -> Matrix:
        """Return one row per chunk, in the same order."""
        texts = [hit.text for hit in self.chunks(document, splitting)]
        kind, name = ("vectors", splitting), document.doc_id
        return self.kept(kind, name, lambda: self.vectors.of_texts(texts))

    def ranked(
        self,
        question: Question,
        *splittings: Splitting,
        search: Search = "vectors",
        k: int | None = None,
    ) -> list[Hit]:
        """Return the chunks of the question's documents, best first.

        Args:
            question: It is searched for with `query_text`.
            splittings: How the documents are cut. Several: chunks of all of them.
            search: How chunks are found. Of equals, those come first that stand
                first, in the order of documents and positions.
            k: Chunks that each of the searches finds, at most. None: all chunks, and
                1,000 if the question is asked of all documents.
        """

        def rank() -> list[Hit]:
            hits, matrices = self._searched(question, splittings)
            alone = question.doc_ids and not self.dataset.search_all
            most = k or (len(hits) if alone else _FOUND_OF_ALL)
            query = self.vectors.of_query(query_text(question))
            scores = [one for rows in matrices for one in (rows @ query).tolist()]
            found = best_first(scores)[:most]
            if search == "vectors":
                return [hits[place]._replace(score=scores[place]) for place in found]
            key = self._names_of(question), splittings
            words = self.kept("words", key, lambda: WordSearch(hits))
            fused = words.fused(query_text(question), found, most)
            return [hits[place] for place in fused]

        return self.kept("ranking", (question.question_id, splittings, search, k), rank)

    def _searched(
        self, question: Question, splittings: tuple[Splitting, ...]
    ) -> tuple[list[Hit], list[Matrix]]:
        """Return the chunks of a question's documents, and their vectors."""

        def gather() -> tuple[list[Hit], list[Matrix]]:
            hits: list[Hit] = []
            matrices: list[Matrix] = []
            for document in self.dataset.documents_of(question):
                for splitting in splittings:
                    if chunks := self.chunks(document, splitting):
                        hits += chunks
                        matrices.append(self.chunk_vectors(document, splitting))
            return hits, matrices

        return self.kept("searched", (self._names_of(question), splittings), gather)

    def kept(self, kind: Hashable, name: Hashable, make: Callable[[], Made]) -> Made:
        """Return a thing made without a model, which is made once while it is in use.

        `kind` is its kind and everything else that decides it; `name` names its
        material. Of one kind, the thing that was unused for longest is dropped.
        """
        held = self._held.setdefault(kind, OrderedDict())
        if name in held:
            held.move_to_end(name)
        else:
            held[name] = make()
            if len(held) > self._most:
                held.popitem(last=False)
        made: Made = held[name]
        return made


def query_text(question: Question) -> str:
    """Return the query: the question, and its options if it has some.

    Source:
        DOS RAG's code searches with the options; we do so for every system.
    """
    return "\n".join([question.question, *question.options])


class WordSearch(ChunkStore):
    """Chunks, named by their places in a list, ranked by the words of a question."""

    name = "the chunks of an evaluation"

    def __init__(self, hits: Sequence[Hit]) -> None:
        self._all = [
            StoredChunk(hit.text, hit.metadata, str(place))
            for place, hit in enumerate(hits)
        ]
        self._bm25 = Bm25(self)

    def fused(self, question: str, found: Sequence[int], k: int) -> list[int]:
        """Fuse the results of a vector search with those for the question's words.

        Returns:
            Places, best first; see `oprag.stores.Bm25.fused`.
        """
        known = [(str(place), self._all[place].text) for place in found]
        searched = SearchedChunks(self, SearchFilter(), "bm25")
        fused = self._bm25.fuse(question, known, k, searched)
        return [
            found[each] if isinstance(each, int) else int(each.id) for each in fused
        ]

    def read(
        self,
        wanted: Wanted | None = None,  # noqa: ARG002 -- nobody asks for documents
        ids: Collection[str] | None = None,
    ) -> Iterable[StoredChunk]:
        """Return all, or those of some ids."""
        return self._all if ids is None else [self._all[int(each)] for each in ids]

    def count(self) -> int:
        """Count them."""
        return len(self._all)
