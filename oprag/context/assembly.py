"""The steps composed: retrieved hits in, ordered passages within a budget out.

    hits -> chunks -> without duplicates -> selected -> in order -> passages

What fits a token budget is decided in `budgeting.py`. `arrange` is the one door, for
plain Python and for both adapters. It has a shorter way to the same result for the
usual case (`columns.py`); what is right is said here.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from types import NoneType
from typing import TYPE_CHECKING, Any

from oprag.chunk import Chunk, Hit, Passage
from oprag.context import columns as short_way
from oprag.context.budgeting import BudgetFiller, Finished, SentText, finish
from oprag.context.columns import Columns
from oprag.context.docstrings import list_options
from oprag.context.lasting import with_lasting_ranks
from oprag.context.options import (
    DEFAULTS,
    DESCRIPTIONS,
    ContextKeywords,
    ContextOptions,
)
from oprag.context.placing import find_places
from oprag.context.problems import Problems, with_problem
from oprag.context.results import Arranged, Result, scores_of, written_ranks
from oprag.documents import SourceLike
from oprag.errors import (
    InconsistentChunksError,
    InvalidOptionError,
    MissingDocumentError,
    OpragError,
    PositionError,
    kind_of,
    named,
)
from oprag.metadata import DOC_KEY
from oprag.positions import (
    check_positions,
    read_chunks,
    read_documents,
    within_one_version,
    without_duplicates,
)

if sys.version_info >= (3, 11):
    from typing import Unpack
elif TYPE_CHECKING:
    from typing_extensions import Unpack
else:
    Unpack = tuple  # 3.10 has none; only `typing.get_type_hints` looks at it


class OrderContextKeywords(ContextKeywords, total=False):
    """What `order_context` takes, for type checkers."""

    documents: SourceLike | None


@list_options({name: DESCRIPTIONS[name] for name in DEFAULTS})
def order_context(
    texts: Sequence[str],
    metadatas: Sequence[Mapping[str, Any]] | None = None,
    scores: Sequence[float | None] | None = None,
    *,
    top_n: int | None = None,
    **options: Unpack[OrderContextKeywords],
) -> list[Passage]:
    """Put retrieved texts into the order of their documents, within a budget.

    For applications without LangChain or LlamaIndex; the adapters do the same.

    Args:
        texts: Best first, as retrieval returned them. May be empty.
        metadatas: One mapping per text, with the document's identity and the
            position under any of the known keys, or under your own with
            `document_key=` and `position_keys=`.
        scores: One per text, as reported; carried along and used only by
            `document_order="score_sum"`. The order of `texts` is the relevance.
        top_n: Texts to keep, of the best; None for all.
        **options: The others of `ContextOptions`: `token_budget=`, `merge=`,
            `order=` and so on.

    Returns:
        Passages in reading order; `passage.text` to send, `passage.citation` to
        cite. `oprag.render` joins them. Unmerged, there is one per chunk. With
        `on_problem="warn"` and a problem they stand as they were retrieved, and the
        metadata of their chunks say `problem`.

    Raises:
        InvalidOptionError: An option is unknown or its value is not possible; the
            lists differ in length; `texts` is a single text; or an entry is no text
            or no mapping.
        MissingDocumentError: A text does not say which document it is from.
        PositionError: Positions are missing or contradict each other.
        BudgetTooSmallError: Not even the best chunk fits.

    Warns:
        PositionWarning: In the place of the two before, with `on_problem="warn"`.

    Example:
        >>> passages = order_context(
        ...     ["the end", "the beginning"],
        ...     [{"source": "a", "start_index": 90}, {"source": "a", "start_index": 0}],
        ... )
        >>> [passage.text for passage in passages]
        ['the beginning', 'the end']
    """
    checked = ContextOptions.from_options({"top_n": top_n, **options})
    if isinstance(texts, (str, Mapping)) or not isinstance(texts, Collection):
        message = (
            f"texts is {named(texts)}. It takes a list of texts: texts=[text]. Their "
            "metadata come second, as a list of as many mappings."
        )
        raise InvalidOptionError(message, option="texts", value=texts)
    if isinstance(metadatas, Mapping):
        message = "metadatas is one mapping. Give one for each text: metadatas=[{…}]."
        raise InvalidOptionError(message, option="metadatas", value=metadatas)
    metadatas = [{} for _ in texts] if metadatas is None else metadatas
    scores = [None] * len(texts) if scores is None else scores
    lengths = {"texts": len(texts), "metadatas": len(metadatas), "scores": len(scores)}
    if len(set(lengths.values())) > 1:
        message = (
            "texts, metadatas and scores belong together and differ in length: "
            f"{lengths}. Give one metadata mapping and one score per text."
        )
        raise InvalidOptionError(message, option="metadatas", value=lengths)
    _check_entries("texts", texts, str, "a text")
    _check_entries("metadatas", metadatas, Mapping, "a mapping; {} for none")
    _check_entries("scores", scores, (Real, NoneType), "a number; None for none")
    hits = [
        Hit(text, metadata, score=score)
        for text, metadata, score in zip(texts, metadatas, scores, strict=True)
    ]
    arranged = arrange(hits, checked)
    if arranged.problem is not None:
        Problems("order_context").tell(arranged.problem)
    return arranged.passages()


def arrange(
    hits: Sequence[Hit] | Callable[[], Sequence[Hit]],
    options: ContextOptions,
    *,
    sent_text: SentText | None = None,
    columns: Columns | None = None,
) -> Arranged:
    """Select the best hits, put them in order, and join them into passages.

    Args:
        hits: Best first, or a function that makes them, which is called only where
            `columns` do not tell enough. Not changed.
        options: See `ContextOptions`.
        sent_text: What the framework sends for a chunk, if not just its text;
            the budget counts this.
        columns: The same hits in a form that takes less time to make; with what is
            sent before each, where there is `sent_text`.

    Raises:
        MissingDocumentError: See `read_documents`.
        PositionError: See `read_chunks`, `check_positions`, `merge_neighbours`.
        BudgetTooSmallError: See `fill_budget`.
        InvalidOptionError: See `ContextOptions.needed_budget`, `document_order`.
    """

    def steps() -> Arranged:
        return _by_steps(hits() if callable(hits) else hits, options, sent_text)

    # Chunks of other splitters mostly have no document key, and the first tells.
    if columns is None or not columns.metadatas or DOC_KEY not in columns.metadatas[0]:
        return steps()
    return short_way.arranged(columns, options, steps) or steps()


def _by_steps(
    hits: Sequence[Hit], options: ContextOptions, sent_text: SentText | None
) -> Arranged:
    try:
        return _made(hits, prepared_chunks(hits, options), options, sent_text)
    except InconsistentChunksError:  # of a full text, which is whole or not at all
        raise
    except (MissingDocumentError, PositionError) as error:
        if options.on_problem == "error":
            raise
        problem = error
    return as_retrieved(hits, options, problem, sent_text)


def as_retrieved(
    hits: Sequence[Hit],
    options: ContextOptions,
    problem: OpragError,
    sent_text: SentText | None = None,
) -> Arranged:
    """Keep the order as retrieved, within the budget (`on_problem="warn"`).

    Args:
        hits: Best first. Not changed.
        options: See `ContextOptions`.
        problem: In whose place this is returned.
        sent_text: As `arrange` takes it.
    """
    options = options.as_retrieved()
    chunks = _without_doubtful_places(prepared_chunks(hits, options), problem)
    return _made(hits, chunks, options, sent_text, problem)


def _without_doubtful_places(
    chunks: Sequence[Chunk], problem: OpragError
) -> list[Chunk]:
    """The chunks with their problem, and what is known for sure of where they stand."""
    doubtful = getattr(problem, "document", "")
    kind = kind_of(problem)
    return [
        (
            chunk._replace(position=None, span=None, part=None)
            if chunk.document in (doubtful, "")
            else chunk
        )._replace(metadata=with_problem(chunk.metadata, kind, chunk.name))
        for chunk in chunks
    ]


def _made(
    hits: Sequence[Hit],
    chunks: list[Chunk],
    options: ContextOptions,
    sent_text: SentText | None,
    problem: OpragError | None = None,
) -> Arranged:
    best = chunks if options.top_n is None else chunks[: options.top_n]
    budget = options.token_budget or options.needed_budget()
    if budget is None:
        used_all = len(best) == len(chunks)
        return _BySteps(finish(best, options), used_all, hits, options, problem)
    filler = BudgetFiller(options, sent_text)
    listed = filler.listed(best, budget)
    taken = filler.taken(listed, budget)
    # Segments leave out what is worth nothing; more of the same would not be used.
    used_all = (
        [chunk.position for chunk in taken] == [chunk.position for chunk in listed]
        and options.selection != "segments"
        and len(best) == len(chunks)
    )
    return _BySteps(filler.finished(taken), used_all, hits, options, problem)


@dataclass(frozen=True)
class _BySteps(Arranged):
    made: Finished
    used_all: bool
    hits: Sequence[Hit]
    options: ContextOptions
    problem: OpragError | None = None

    def passages(self) -> list[Passage]:
        return self.made.passages()

    def results(
        self, make: Callable[[Result], Any], *, rescored: bool = False
    ) -> list[Any]:
        hits = {id(hit.source): hit for hit in self.hits}
        passages = self.passages()
        problem = None if self.problem is None else kind_of(self.problem)
        return [
            make(
                Result.of_passage(
                    passage,
                    score=score,
                    whole=self.problem is not None
                    or all(
                        c.metadata is hits[id(c.source)].metadata
                        for c in passage.chunks
                    ),
                    problem=problem,
                    named=self.options.document_key is not None,
                )
            )
            for passage, score in zip(
                passages, scores_of(len(passages), rescored), strict=True
            )
        ]


def prepared_chunks(hits: Sequence[Hit], options: ContextOptions) -> list[Chunk]:
    """Read where hits stand and check it; drop what came twice, or in two versions.

    Args:
        hits: Best first, or as another component handed them out.
        options: Where documents and positions are, and what to do without.

    Returns:
        Chunks best first, ready to be selected.

    Raises:
        MissingDocumentError: See `read_documents`.
        PositionError: See `read_chunks` and `check_positions`.
    """
    documents = read_documents(
        hits,
        document_key=options.document_key,
        missing_document=options.missing_document,
        position_keys=options.position_keys,
    )
    chunks = read_chunks(
        hits,
        documents,
        position_keys=options.position_keys,
        missing_position=options.missing_position,
    )
    chunks = within_one_version(without_duplicates(chunks))
    if options.missing_position == "locate" and (texts := options.source_text()):
        chunks = without_duplicates(find_places(chunks, texts.read))
    else:
        chunks = check_positions(chunks, missing_position=options.missing_position)
    names = [chunk.name for chunk in chunks]
    ranks = written_ranks([chunk.metadata for chunk in chunks], names)
    how = options.document_order
    return chunks if ranks is None else with_lasting_ranks(chunks, ranks, how)


def _check_entries(name: str, entries: Sequence[Any], kind: Any, wanted: str) -> None:
    """Reject an entry of another type, and say which it is."""
    for index, entry in enumerate(entries):
        if not isinstance(entry, kind):
            place = f"{name}[{index}]"
            message = f"{place} is {named(entry)}. It has to be {wanted}."
            raise InvalidOptionError(message, option=place, value=entry)
