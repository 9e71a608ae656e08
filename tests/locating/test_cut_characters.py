"""What is left of chunks that were cut inside a character has its place, or none."""

import random
import warnings
from typing import NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.documents import Document
from llama_index.core.schema import Document as Loaded
from llama_index.core.schema import (
    NodeRelationship,
    NodeWithScore,
    RelatedNodeInfo,
    TextNode,
)

from langchain_oprag import OrderPreservingCompressor, annotate_positions
from llamaindex_oprag import OrderPreservingPostprocessor, PositionAnnotator
from oprag import order_context, place_of
from oprag.chunk import Span
from oprag.diagnosing import diagnose, plan_repair
from oprag.documents import SourcePart, annotate_chunks
from oprag.errors import ConflictingPositionsError, MissingPositionError
from oprag.locating import locate, place_some
from oprag.stores import StoredChunk
from tests.diagnosing.test_repair import applied
from tests.kit.effort import cases
from tests.locating.comparing import tight

CLAUSE = "第{}条、賃借人は家賃を毎月支払うものとする🙂。"
LEASE = "".join(CLAUSE.format(number) for number in range(1, 25))
_WORDS = "家賃 毎月 支払う 🙂 größe\u3000rent 敷金 。 、 café 👩\u200d🚀 ab"
WORDS = _WORDS.split(" ")
MANY = settings(max_examples=cases(150), deadline=None)


class Cut(NamedTuple):
    text: str
    span: Span
    """The characters that are whole in it."""


def cut_bytes(draw: random.Random, text: str, overlap: int) -> list[Cut]:
    """Cut a text between bytes, as splitters do that count tokens of bytes."""
    data, ends = text.encode(), [0]
    for character in text:
        ends.append(ends[-1] + len(character.encode()))
    cuts, at, end = [], 0, 0
    while end < len(data):
        end = min(len(data), end + draw.randint(8, 50))
        first = next(n for n, place in enumerate(ends) if place >= at)
        last = max(n for n, place in enumerate(ends) if place <= end)
        piece = data[at:end].decode("utf-8", "replace")
        cuts.append(Cut(piece, Span(first, max(first, last))))
        at = max(at + 1, end - overlap)
    return cuts


def text_of(draw: random.Random) -> str:
    return "".join(draw.choice(WORDS) for _ in range(draw.randint(5, 60)))


def lease(overlap: int = 0) -> list[Cut]:
    return cut_bytes(random.Random(3), LEASE, overlap)  # noqa: S311 -- a text


@MANY
@given(st.randoms(use_true_random=False), st.sampled_from([0, 0, 7]))
def test_no_place_is_false_however_characters_are_cut(draw, overlap):
    text = text_of(draw)
    cuts = cut_bytes(draw, text, overlap)
    some = draw.sample(cuts, min(3, len(cuts)))

    whole = locate(text, [cut.text for cut in cuts])
    alone = place_some(text, [cut.text for cut in some], recorded=[None] * len(some))
    for cut, found in [*zip(cuts, whole, strict=True), *zip(some, alone, strict=True)]:
        if found.span is not None:
            assert tight(text, found.span) == tight(text, cut.span)
            is_slice = text[slice(*found.span)] == cut.text
            assert is_slice == (found.status == "exact")


@MANY
@given(st.randoms(use_true_random=False))
def test_no_number_is_false_in_whatever_order_cut_chunks_come(draw):
    text = text_of(draw)
    cuts = cut_bytes(draw, text, 0)
    mixed = draw.sample(cuts, len(cuts))
    part = SourcePart(text, [cut.text for cut in mixed])
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            (entries,) = annotate_chunks("a.txt", [part])
    except ConflictingPositionsError:
        return

    numbered = sorted(
        (int(entry["chunk_index"]), cut.text)
        for entry, cut in zip(entries, mixed, strict=True)
        if cut.text.strip("\ufffd").strip()
    )
    solid = [cut.text for cut in cuts if cut.text.strip("\ufffd").strip()]
    assert [text for _, text in numbered] == solid


@pytest.mark.parametrize("overlap", [0, 9])
def test_all_chunks_of_a_text_are_placed_by_what_is_left(overlap):
    cuts = lease(overlap)
    assert sum("\ufffd" in cut.text for cut in cuts) > len(cuts) / 2

    found = locate(LEASE, [cut.text for cut in cuts])

    assert [each.span for each in found] == [cut.span for cut in cuts]


def test_a_text_that_has_such_characters_itself_keeps_them():
    text = "First \ufffd and \ufffdsecond.\n\n\ufffdThird 漢字 is here."
    chunks = ["First \ufffd", "and \ufffdsecond.", "\ufffdThird 漢", "\ufffd is here."]

    found = locate(text, chunks)

    assert [each.status for each in found] == ["exact", "exact", "exact", "inside"]
    assert [each.span and text[slice(*each.span)] for each in found] == [
        *chunks[:3],
        "is here.",
    ]


def test_both_annotators_write_where_what_is_left_stands_and_no_proof():
    cuts = lease()
    chunks = [Document(cut.text, metadata={"source": "a.txt"}) for cut in cuts]
    source = RelatedNodeInfo(node_id="a.txt")
    nodes = [
        TextNode(text=cut.text, relationships={NodeRelationship.SOURCE: source})
        for cut in cuts
    ]

    annotated = annotate_positions(chunks, {"a.txt": LEASE})
    parsed = PositionAnnotator([Loaded(text=LEASE, id_="a.txt")])(nodes)

    for made in (annotated, parsed):
        for each, cut in zip(made, cuts, strict=True):
            there = (each.metadata["char_start"], each.metadata["char_end"])
            assert there == cut.span
            assert ("chunk_hash" in each.metadata) == ("\ufffd" not in cut.text)
    hits = [annotated[n] for n in (9, 2, 5, 3)]
    for document in OrderPreservingCompressor(merge=True)(hits):
        place = place_of(document)
        assert place.exact == (LEASE[place.start : place.end] == document.page_content)


def test_retrieved_chunks_are_placed_or_refused_by_name():
    cuts = lease()
    left = [cut.text.strip("\ufffd") for cut in cuts]
    numbers = [n for n, text in enumerate(left) if LEASE.count(text) == 1][5::-1]
    hits = [Document(cuts[n].text, metadata={"source": "a"}) for n in numbers]
    nodes = [
        NodeWithScore(node=TextNode(text=cuts[n].text, metadata={"source": "a"}))
        for n in numbers
    ]
    options = {"documents": {"a": LEASE}}

    compressor = OrderPreservingCompressor(**options)
    component = OrderPreservingPostprocessor(**options)
    for made in (compressor(hits), component.postprocess_nodes(nodes)):
        places = [place_of(each) for each in made]
        assert [(p.start, p.end) for p in places] == [
            tuple(cuts[n].span) for n in sorted(numbers)
        ]
        assert {place.proof for place in places} == {"compared"}
        for place, n in zip(places, sorted(numbers), strict=True):
            assert place.exact == ("\ufffd" not in cuts[n].text)

    twice = "家賃は毎月🙂。" * 2
    texts = ["賃は毎月\ufffd", "\ufffd。"]
    metadatas = [{"source": "a", "start_index": -1}] * 2
    with pytest.raises(MissingPositionError, match=r"cut inside a character \(U\+FFFD"):
        order_context(texts, metadatas)
    with pytest.raises(MissingPositionError, match="rank 0 was cut inside a character"):
        order_context(texts, metadatas, documents={"a": twice})


def test_the_doctor_names_the_cause_and_a_repair_places_what_is_left():
    cuts = lease()
    stored = [
        StoredChunk(cut.text, {"source": "a"}, f"{n:03}") for n, cut in enumerate(cuts)
    ]
    texts = {"a": LEASE}
    cut = sum("\ufffd" in chunk.text for chunk in stored)
    found = {problem.kind: problem for problem in diagnose(stored).problems}
    assert found["cut_characters"].chunks == cut
    assert not found["cut_characters"].serious

    repaired = applied(stored, plan_repair(stored, texts))

    places = [(c.metadata["char_start"], c.metadata["char_end"]) for c in repaired]
    assert places == [tuple(each.span) for each in cuts]
    after = diagnose(repaired, documents=texts)
    assert after.verdict == "ordered"
    assert after.proofs.proved == len(cuts)
    assert plan_repair(repaired, texts).changes == ()
