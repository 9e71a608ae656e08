"""Indexing into every store of both frameworks: again, changed, removed, repaired."""

import os
from pathlib import Path

import pytest

from oprag.documents import rebuild
from oprag.metadata import document_key
from tests.kit.frameworks import Held
from tests.kit.interrupted import content
from tests.real_stores.everywhere import everywhere, opened
from tests.real_stores.killed_indexing import KINDS, Store, killed_runs, said_by_two
from tests.real_stores.langchain_places import AWKWARD_NAMES

pytestmark = pytest.mark.filterwarnings(
    "ignore:Payload indexes have no effect in the local Qdrant"
)

BEFORE = {
    name: f"What {name} says, in many words. Line by line. 🙂 Ünï.\r\n" * 60
    for name in AWKWARD_NAMES
}
CHANGED, GONE, *KEPT = AWKWARD_NAMES
AFTER = {
    CHANGED: BEFORE[CHANGED][:900] + "An insertion. " + BEFORE[CHANGED][900:],
    "new ' name": "A new text. " * 40,
} | {name: BEFORE[name] for name in KEPT}


@pytest.fixture(params=everywhere(lambda place: place.id != "llamaindex-faiss"))
def stored(request) -> Held:
    """A store that can replace what it holds."""
    return opened(request.param, request)


def assert_holds(stored: Held, texts: dict[str, str]) -> None:
    """Each document comes back as it is, and no other chunk is there."""
    chunks = list(stored.chunks.read())
    for name, text in texts.items():
        own = list(stored.chunks.read({document_key(name): None}))
        assert rebuild(name, own).text == text
        assert {chunk.metadata["size"] for chunk in own} == {len(text)}
        assert len(own) == own[0].metadata["n_chunks"]
    assert {chunk.metadata.get("doc_uri") for chunk in chunks} == set(texts)
    assert len({chunk.id for chunk in chunks}) == len(chunks)


@pytest.mark.parametrize("awaited", [False, True], ids=["sync", "awaited"])
def test_a_store_follows_its_documents(stored, awaited, request):
    if awaited and "postgres-collection" in request.node.name:
        pytest.skip("it is made for sync calls alone")
    first = stored.index(BEFORE, batch_size=16, awaited=awaited)
    assert first.added == tuple(BEFORE)
    assert_holds(stored, BEFORE)
    before = content(stored.chunks)

    again = stored.index(BEFORE, remove_missing=not awaited, awaited=awaited)
    assert again.unchanged == tuple(BEFORE)
    assert content(stored.chunks) == before

    halves = [chunk.id for chunk in stored.chunks.read({document_key(CHANGED): None})][
        ::3
    ]
    stored.delete(halves)
    repaired = stored.index(BEFORE, awaited=awaited)
    assert repaired.updated == (CHANGED,)
    assert repaired.chunks_added == len(halves)
    assert content(stored.chunks) == before

    changed = stored.index(AFTER, remove_missing=True, batch_size=7)
    assert changed.updated == (CHANGED,)
    assert changed.added == ("new ' name",)
    assert changed.removed == (GONE,)
    assert set(changed.unchanged) == set(KEPT)
    assert_holds(stored, AFTER)


KILLS = int(os.environ.get("OPRAG_KILLS", "3"))
"""Runs that are killed, of each framework into each store."""


FORKED = pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are forked")
FRAMEWORKS = pytest.mark.parametrize("framework", ["langchain", "llamaindex"])


def stores(request, framework: str, kind: str, folder: Path) -> list[Store]:
    """Two empty ones."""
    places = [str(folder / "store"), str(folder / "clean")]
    if kind == "postgres":
        places = [request.getfixturevalue("new_database")() for _ in places]
    return [Store(framework, kind, place) for place in places]


@FORKED
@FRAMEWORKS
@pytest.mark.parametrize("kind", KINDS)
def test_killed_at_any_moment_every_document_is_old_or_new(
    request, framework, kind, tmp_path
):
    both = stores(request, framework, kind, tmp_path)
    assert killed_runs(*both, tmp_path / "texts", KILLS) >= 1


@FORKED
@FRAMEWORKS
@pytest.mark.parametrize("kind", ["chroma", "postgres"])
def test_two_processes_leave_what_one_does(request, framework, kind, tmp_path):
    both = stores(request, framework, kind, tmp_path)
    said = said_by_two(*both, tmp_path / "texts")

    once = {"did all", "found it done"}
    assert [{*said[:2]}, {*said[3:5]}] == [once] * 2
    assert said[2::3] == ["as clean"] * 2
