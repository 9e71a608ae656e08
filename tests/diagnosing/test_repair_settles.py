"""A repair leaves nothing for a second one, takes nothing away, and hides no damage."""

import random

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from langchain_text_splitters import RecursiveCharacterTextSplitter

from langchain_oprag import OffsetTokenSplitter
from oprag.diagnosing import diagnose, plan_repair
from oprag.documents import rebuild
from oprag.errors import OpragError
from oprag.metadata import DOC_VERSION, STAMP_KEYS
from oprag.stores import StoredChunk
from tests.diagnosing.test_repair import applied
from tests.diagnosing.test_wholeness import NAME, OUTCOMES, read_by, stored, without
from tests.documents.damages import changed, damaged
from tests.kit.effort import cases

NO_STAMPS = (*STAMP_KEYS, DOC_VERSION)


def repaired(seed: int) -> tuple[list[StoredChunk], list[StoredChunk], dict[str, str]]:
    """The chunks of a damaged document, the same after a repair, and its source.

    Some lack what proves their text, and some sources were edited since.
    """
    rng = random.Random(seed)  # noqa: S311 -- damage, no secret
    foreign, size_too = rng.random() < 0.5, rng.random() < 0.3
    case = damaged("lease.pdf", rng, foreign=foreign, size_too=size_too)
    chunks = without(case.chunks, *rng.choice([(), (), STAMP_KEYS, NO_STAMPS]))
    source = case.texts[rng.random() < 0.2]
    if rng.random() < 0.3:
        source = changed(source, rng)
    if rng.random() < 0.2:
        source = source.replace("\n\n", "\n")
    documents = {case.name: source}
    return chunks, applied(chunks, plan_repair(chunks, documents)), documents


@pytest.mark.filterwarnings("ignore::oprag.errors.PositionWarning")
@settings(max_examples=cases(100))
@given(seed=st.integers(0, 2**32))
@example(84)  # what these disclose is repaired at once
@example(153)
@example(240)
@example(410)
def test_no_document_is_less_readable_after_a_repair_and_a_second_plan_is_empty(seed):
    chunks, after, documents = repaired(seed)

    assert plan_repair(after, documents).changes == ()

    for name in {str(chunk.metadata.get("doc_uri")) for chunk in chunks}:
        before = OUTCOMES.index(read_by(name, chunks))
        assert OUTCOMES.index(read_by(name, after)) >= before


def damaged_in_one_chunk(seed: int) -> tuple[list[StoredChunk], str]:
    """The chunks of a document, one of them cut or altered, and its source."""
    rng = random.Random(seed)  # noqa: S311 -- damage, no secret
    source = " ".join(f"w{rng.randrange(100)}" for _ in range(rng.randint(3, 40)))
    if rng.random() < 0.5:
        size, overlap = rng.choice([5, 500]), rng.choice([0, 2])
        chunks = stored(
            source, cut=OffsetTokenSplitter(chunk_size=size, chunk_overlap=overlap)
        )
    else:
        split = RecursiveCharacterTextSplitter(
            chunk_size=rng.choice([20, 500]), chunk_overlap=rng.choice([0, 8])
        )
        chunks = stored(source, cut=split)
    at = rng.randrange(len(chunks))
    text = chunks[at].text
    # Of one character, which a chunk may have, all is cut off.
    size, middle = rng.randint(1, max(1, len(text) - 1)), len(text) // 2
    cut_or_altered = [
        text[:-size],
        text[size:],
        text[:middle] + "Z" + text[middle + 1 :],
    ]
    chunks[at] = chunks[at]._replace(text=rng.choice(cut_or_altered))
    return chunks, source


def is_whole(chunks: list[StoredChunk], source: str) -> bool:
    try:
        found = rebuild(NAME, chunks, exact=False)
    except OpragError:
        return False
    assert found.text.split() == source.split()
    return True


@settings(max_examples=cases(150))
@given(seed=st.integers(0, 2**32))
def test_damage_is_seen_after_a_repair_unless_the_document_is_whole(seed):
    chunks, source = damaged_in_one_chunk(seed)
    before = diagnose(chunks, documents={NAME: source})

    after = applied(chunks, plan_repair(chunks, {NAME: source}))

    found = diagnose(after)
    if not is_whole(after, source):
        assert not before.healthy
        assert not found.healthy
        assert found.verdict == "damaged" or before.verdict != "damaged"
    assert plan_repair(after, {NAME: source}).changes == ()
