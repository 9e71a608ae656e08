"""The objects that came in go out, or new ones with their places."""

from langchain_core.documents import Document

from langchain_oprag import OrderPreservingCompressor
from oprag.metadata import without_reserved_keys

SOURCE = "The first part. And the second. Far away the third."
#         0               16              32                 51


def piece(start: int, end: int, **metadata) -> Document:
    return Document(
        SOURCE[start:end],
        id=f"id-{start}",
        metadata={"source": "a.txt", "start_index": start, **metadata},
    )


# Merging


def test_a_merged_document_keeps_what_all_say_but_for_their_token_counts():
    counts = {"token_count": 4, "token_counter": "words"}
    left, right = (
        piece(start, start + 16, title="t", topic=start, **counts) for start in (0, 16)
    )

    merged, alone = OrderPreservingCompressor(merge=True)(
        [right, left, piece(45, 51, **counts)]
    )

    assert merged.page_content == SOURCE[0:32]
    assert without_reserved_keys(merged.metadata) == {
        "source": "a.txt",
        "start_index": 0,
        "title": "t",
    }
    assert counts.items() <= alone.metadata.items()


def test_a_merged_document_of_parts_without_ids_has_none():
    nameless = piece(0, 15).model_copy(update={"id": None})

    assert (
        OrderPreservingCompressor(merge=True)([nameless, piece(16, 31)])[0].id is None
    )


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
