"""A look at a sample of the store beside the first question.

Developers should hear of problems of their index once, and not question by question.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any

from oprag.chaining import MOST_CHUNKS
from oprag.chunk import Hit
from oprag.context import ContextOptions, Problems
from oprag.diagnosing.checks import find_chains, group_chunks, read_group
from oprag.diagnosing.doctor import Examination
from oprag.diagnosing.sample import Sample
from oprag.effects import run_effects
from oprag.errors import PositionError
from oprag.positions import Unplaced
from oprag.stores import SearchedChunks, make_hit

_SAMPLE = 200
"""The number of chunks that are looked at."""
_DOCUMENTS = 3
"""The most documents whose other chunks are read, as these may show their order."""
_PATIENCE = 0.03
"""Seconds that a question waits for the findings."""
_FAILING = ("missing_document", "unscoped_position", "conflicting_text")
_DOUBTFUL = ("shared_name",)
_MEANING = {
    "missing_document": "name no document",
    "missing_position": "have no position",
    "ambiguous_position": "say no more than others do, such as the page",
    "unscoped_position": "count from a section or a parent",
    "conflicting_text": "overlap, and have other texts there",
    "shared_name": "are of several files with one name",
}
_WAY_OUT = (
    "Give the documents as they were loaded: documents=loader.load() "
    "(LlamaIndex: load_data())."
)
_NAME_IT = "Give document_key=, the key that names the document."


class FirstLook:
    """Looks at a store once, for a component; no question fails because of it.

    Chunks in memory are looked at immediately, all others in a thread. Of several
    questions at once, one begins to look, and one tells of the findings.
    """

    def __init__(self) -> None:
        self._found: str | None = None
        self._is_begun = False
        self._is_done = threading.Event()
        self._lock = threading.Lock()

    def __reduce__(self) -> tuple[Any, ...]:
        """Make copies that have not looked yet: each looks for itself."""
        return FirstLook, ()

    def __deepcopy__(self, _: Any) -> FirstLook:
        return FirstLook()

    def begin(
        self, chunks: Callable[[], SearchedChunks | None], options: ContextOptions
    ) -> None:
        """Begin to look, with the first question.

        Args:
            chunks: Gives the store as the question may read it; None if there is none.
            options: Those of the component.
        """
        with self._lock:
            if self._is_begun:
                return
            self._is_begun = True
        try:
            seen = None if options.documents is not None else chunks()
            if seen is None:
                self._is_done.set()
            elif seen.store.is_embedded and not seen.store.is_queried:
                self._look(seen, options)
            else:
                look = threading.Thread(
                    target=self._look, args=(seen, options), daemon=True
                )
                look.start()
        except Exception:  # noqa: BLE001 -- no question fails because of it
            self._is_done.set()

    def tell(self, problems: Problems) -> None:
        """Warn once of the findings, as soon as there are any."""
        if not self._is_begun or not self._is_done.wait(_PATIENCE):
            return
        with self._lock:
            found, self._found = self._found, None
        if found is not None:
            problems.tell_of_index(found)

    def _look(self, chunks: SearchedChunks, options: ContextOptions) -> None:
        try:
            self._found = judge_sample(chunks, options)
        except Exception:  # noqa: BLE001 -- no question fails because of it
            self._found = None
        finally:
            self._is_done.set()


def judge_sample(chunks: SearchedChunks, options: ContextOptions) -> str | None:
    """Return how many chunks of a sample will fail or are doubtful; None if none will.

    Args:
        chunks: The store, as a search may read it.
        options: Those of the component.
    """
    hits = [make_hit(chunk) for chunk in run_effects(chunks.first(_SAMPLE))]
    is_all = len(hits) < _SAMPLE
    keys = options.position_keys, options.document_key
    diagnosis = Examination(Sample(hits, is_all), None, *keys).diagnosis
    failing = {
        each.kind: each.chunks for each in diagnosis.problems if each.kind in _FAILING
    }
    doubtful = {
        each.kind: each.chunks for each in diagnosis.problems if each.kind in _DOUBTFUL
    }
    for kind, number in _count_unordered(hits, chunks, options, is_all=is_all).items():
        failing[kind] = failing.get(kind, 0) + number
    found = []
    if failing:
        become = "will fail in questions"
        if options.on_problem == "warn":
            become = "will stand in the order as retrieved"
        found.append(f"{_number(failing)} {become} ({_list_counts(failing)})")
    if doubtful:
        found.append(f"{_number(doubtful)} are doubtful ({_list_counts(doubtful)})")
    if not found:
        return None
    way_out = _NAME_IT if {*failing} == {"missing_document"} else _WAY_OUT
    return (
        f": of {'' if is_all else 'the first '}{len(hits):,} chunks of "
        f"{chunks.store.name} that were looked at, "
        f"{' and '.join(found)}. {way_out} verify() looks at more; verify_index=False "
        "looks at none."
    )


def _count_unordered(
    hits: Sequence[Hit],
    chunks: SearchedChunks,
    options: ContextOptions,
    *,
    is_all: bool,
) -> dict[str, int]:
    """Count the chunks without positions whose overlaps do not show their order."""
    counts: dict[str, int] = {}
    looked = 0
    for group in group_chunks(hits, options.document_key):
        members = [hits[i] for i in group.members]
        error = read_group(members, group.name, options.position_keys)
        if not isinstance(error, PositionError) or not Unplaced.is_said_by(error):
            continue
        looked += 1
        if looked > _DOCUMENTS:
            break
        ends_the_sample = hits[-1] is members[-1]
        whole: Sequence[Hit] | None = members
        if not is_all:
            whole = _read_whole(members, chunks, options, cut=ends_the_sample)
        if whole is None:
            continue
        hidden = chunks.filtered
        chains = find_chains(whole, error, options.position_keys, hidden=hidden)
        left = members
        if chains is not None:
            left = [hit for hit in members if not chains.is_page_ordered(hit)]
        counts[error.kind] = counts.get(error.kind, 0) + len(left)
    return {kind: number for kind, number in counts.items() if number}


def _read_whole(
    hits: Sequence[Hit], chunks: SearchedChunks, options: ContextOptions, *, cut: bool
) -> Sequence[Hit] | None:
    """Read all chunks of a document; None if it may have more, or that takes long."""
    unplaced = Unplaced.find_all(hits, options.document_key)
    if not unplaced or unplaced[0].selected_by is None:
        return None
    key, value = unplaced[0].selected_by
    read = run_effects(chunks.select({key: [value]}, MOST_CHUNKS + 1))
    if read is None:
        return None if cut else hits  # more chunks of it may follow
    return None if len(read) > MOST_CHUNKS else [make_hit(chunk) for chunk in read]


def _number(counts: dict[str, int]) -> str:
    return f"{sum(counts.values()):,}"


def _list_counts(counts: dict[str, int]) -> str:
    return ", ".join(
        f"{kind} {number:,}: they {_MEANING[kind]}"
        for kind, number in sorted(counts.items())
    )
