"""What goes out: the objects that came in, or new ones that say where they stand."""

from langchain_core.documents import Document

from langchain_oprag import OrderPreservingCompressor
from oprag.metadata import result_hash
from tests.langchain.corpus import chunk

SOURCE = "The first part. And the second. Far away the third."
#         0               16              32                 51


def piece(start: int, end: int, **metadata) -> Document:
    return Document(
        SOURCE[start:end],
        id=f"id-{start}",
        metadata={"source": "a.txt", "start_index": start, **metadata},
    )


FIRST, SECOND, THIRD = piece(0, 15), piece(16, 31), piece(32, 51)


# Merging


def test_touching_chunks_become_one_document_with_the_whole_span():
    left, right = piece(0, 16, title="t"), piece(16, 32, title="u")

    (merged,) = OrderPreservingCompressor(merge=True)([right, left])

    assert merged.page_content == SOURCE[0:32]
    assert merged.metadata == {
        "source": "a.txt",
        "start_index": 0,
        "title": "t",
        "oprag_rank": 0,
        "oprag_citation": "a.txt, characters 0-32",
        "oprag_document": "a.txt",
        "oprag_key": "a.txt",
        "oprag_start": 0,
        "oprag_end": 32,
        "oprag_exact": True,
        "oprag_hash": result_hash(SOURCE[0:32]),
        "oprag_ids": f"{left.id}\n{right.id}",
    }


def test_the_token_count_of_one_chunk_is_not_kept_for_several():
    counts = {"token_count": 4, "token_counter": "words"}
    documents = [
        piece(0, 16, **counts),
        piece(16, 32, **counts),
        piece(45, 51, **counts),
    ]

    merged, alone = OrderPreservingCompressor(merge=True)(documents)

    assert not counts.keys() & merged.metadata.keys()
    assert counts.items() <= alone.metadata.items()


def test_a_merged_page_keeps_its_number():
    pages = [chunk(0, page=3), chunk(1, page=3), chunk(0, page=0), chunk(1, page=0)]

    first, second = OrderPreservingCompressor(merge=True)(pages)

    assert [first.metadata["page"], second.metadata["page"]] == [0, 3]
    assert [first.metadata["oprag_part"], second.metadata["oprag_part"]] == [0, 3]


def test_a_merged_document_has_an_id_of_its_own_that_is_always_the_same():
    compressor = OrderPreservingCompressor(merge=True)

    (merged,) = compressor([SECOND, FIRST])
    (again,) = compressor([FIRST, SECOND])
    (other,) = compressor([SECOND, THIRD])

    assert merged.id == again.id
    assert len({merged.id, other.id, "id-0", "id-16", "id-32", None}) == 6


def test_a_merged_document_of_parts_without_ids_has_none():
    FIRST_ = FIRST.model_copy(update={"id": None})  # noqa: N806 -- a variant of FIRST

    assert OrderPreservingCompressor(merge=True)([FIRST_, SECOND])[0].id is None


# Documents of other kinds


class Titled(Document):
    title: str = ""


def test_a_document_class_of_the_users_own_keeps_all_but_merged_text():
    own = [
        Titled(text, metadata={"source": "a", "start_index": start}, title=text)
        for text, start in (("one ", 0), ("two", 4))
    ]

    copied = OrderPreservingCompressor()(own)
    assert [(type(each), each.title) for each in copied] == [
        (Titled, "one "),
        (Titled, "two"),
    ]
    assert all(
        each.metadata != first.metadata for each, first in zip(copied, own, strict=True)
    )
    # The title is not that of the merged text.
    (merged,) = OrderPreservingCompressor(merge=True)(own)
    assert type(merged) is Document
