"""The objects that came in go out, or new ones with their places."""

from langchain_core.documents import Document

from langchain_oprag import OrderPreservingCompressor


def test_a_merged_document_of_parts_without_ids_has_none():
    place = {"source": "a.txt", "start_index": 0}
    nameless = Document("one ", metadata=place)
    named = Document("two", id="2", metadata={**place, "start_index": 4})

    (merged,) = OrderPreservingCompressor(merge=True)([nameless, named])

    assert merged.id is None


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
