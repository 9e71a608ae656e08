"""Neighbouring chunks become passages, by offsets alone."""

import pytest
from langchain_core.documents import Document

from oprag import order_context
from oprag.context import CitationNumbers, ContextOptions, result_metadata
from oprag.errors import PositionError
from oprag.metadata import text_hash

SOURCE = "One fine day. It rained.  Then the sun came out again. The end."


def _merge(*spans, source=SOURCE, documents=None, **options):
    texts = [source[start:end] for start, end in spans]
    metadatas = [{"source": "s", "start_index": start} for start, _ in spans]
    given = {"s": source} if documents else None
    return order_context(texts, metadatas, merge=True, documents=given, **options)


@pytest.mark.parametrize("best", [0, 1])
def test_of_what_differs_a_passage_has_what_its_best_chunk_has(best):
    whole = {"source": "s", "author": "Lee", "page": 0}
    own = [{"citation_id": "a", "table": 1, "n": 7}, {"citation_id": "b", "n": 8}]
    places = [{"start_index": 0}, {"start_index": 14}]
    texts = [SOURCE[:14], SOURCE[14:]]
    ranked = [best, 1 - best]

    (passage,) = order_context(
        [texts[n] for n in ranked],
        [{**whole, **own[n], **places[n]} for n in ranked],
        merge=True,
    )
    options = ContextOptions(position_keys="n")
    for given, number in ((None, own[best]["n"]), (options, 7)):
        made = result_metadata(passage, given, whole=False)
        kept = {key: made[key] for key in made if key != "oprag"}
        assert kept == {**whole, **places[0], **own[best], "n": number}


def test_a_larger_gap_starts_a_new_passage():
    passages = _merge((0, 13), (26, 54))

    assert [p.text for p in passages] == [SOURCE[0:13], SOURCE[26:54]]
    assert len(_merge((0, 13), (21, 54))) == 1
    assert len(_merge((0, 13), (22, 54))) == 2


def test_replaced_text_is_not_joined():
    metadatas = [
        {"source": "s", "char_start": 0, "char_end": 3, "chunk_hash": text_hash("abc")},
        {"source": "s", "char_start": 3, "char_end": 6, "chunk_hash": text_hash("def")},
    ]

    passages = order_context(["abc", "a whole window"], metadatas, merge=True)
    assert [(p.text, p.exact) for p in passages] == [
        ("abc", True),
        ("a whole window", False),
    ]


def test_a_span_past_the_end_of_a_source_that_is_read_is_an_error():
    metadatas = [{"source": "s", "start_index": 60}]
    texts = {"s": SOURCE}

    with pytest.raises(PositionError, match=r"60-71.*63 characters") as caught:
        order_context(["beyond this"], metadatas, merge=True, documents=texts.get)
    assert (caught.value.start, caught.value.end) == (60, 71)


def test_what_counts_from_a_parent_is_joined_and_claims_no_characters_anywhere():
    parent = {"source": "a.txt", "doc_id": "f7129805-1e94-4f0e-9a43-0b8a51b0fd5f"}
    metadatas = [{**parent, "start_index": start} for start in (4, 0)]
    (passage,) = order_context(["x y.", "One x y."], metadatas, merge=True)
    numbers = CitationNumbers()
    numbers.add(numbers.assign([passage]))
    for each in (passage, numbers.resolve([passage])[1]):
        assert (each.citation, each.exact) == ("a.txt", False)


@pytest.mark.parametrize("key", ["page", "row"])
@pytest.mark.parametrize("seen", [None, []])
def test_in_a_list_of_pages_a_passage_is_cited_by_its_pages(key, seen):
    pages = ["The rent. It is due.", "Pets are allowed.", "The end."]
    loaded = [
        Document(text, metadata={"source": "a.pdf", key: number})
        for number, text in enumerate(pages)
    ]
    texts = ["It is due.", "Pets are allowed.", "The rent."]
    metadatas = [{"source": "a.pdf", key: number} for number in (0, 1, 0)]
    one, two = ("page 1", "page 2") if key == "page" else ("row 0", "row 1")

    def cited(count, **options):
        passages = order_context(
            texts[:count], metadatas[:count], documents=loaded, seen=seen, **options
        )
        return [passage.citation for passage in passages]

    alone = [f"{one}, characters 10-20", f"{two}, characters 0-17"]
    assert cited(2) == [f"a.pdf, {place}" for place in alone]
    joined = f"a.pdf, {one}, characters 0-20 to {two}, characters 0-17"
    assert cited(3, merge=True) == [joined]
