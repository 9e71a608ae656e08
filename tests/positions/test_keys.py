"""Which document a chunk belongs to."""

from types import SimpleNamespace

import pytest

from oprag import order_context
from oprag.chunk import Hit
from oprag.errors import MissingDocumentError, PositionError
from oprag.metadata import UNNAMED
from oprag.positions import identify_documents
from oprag.positions.keys import look_up


def _key(metadata, **options):
    document = options.pop("document", None)
    subject = options.pop("subject", None)
    hit = Hit("text", metadata, subject=subject, document=document)
    return identify_documents([hit], **options)[0][0]


@pytest.mark.parametrize(
    ("metadata", "expected"),
    [
        ({"doc_key": "k", "source": "s", "doc_id": "d"}, "k"),
        ({"ref_doc_id": "r", "doc_id": "d", "source": "s"}, "r"),
        ({"document_id": "m", "doc_id": "d", "source": "s"}, "m"),
        ({"doc_id": "d", "source": "s", "url": "u"}, "d"),
        ({"source": "s", "file_path": "f", "url": "u"}, "s"),
        ({"file_path": "f", "url": "u"}, "f"),
        ({"url": "u"}, "u"),
        ({"source": 7}, "7"),
    ],
)
def test_known_keys_have_a_precedence(metadata, expected):
    assert _key(metadata) == expected


@pytest.mark.parametrize("part", ["page", "page_label", "row", "seq_num", "Header 1"])
def test_a_part_key_makes_the_file_the_document(part):
    metadata = {"doc_id": "page-7", "ref_doc_id": "x", "source": "a.pdf", part: 7}

    assert _key(metadata, document="page-7") == "a.pdf"


def test_file_path_stands_before_source_for_parts():
    assert _key({"source": "s", "file_path": "f", "page": 1}) == "f"


def test_a_nested_page_number_is_a_part_key_too():
    metadata = {"doc_id": "d", "source": "a.pdf", "loc": {"pageNumber": 2}}

    assert _key(metadata) == "a.pdf"


def test_the_frameworks_own_id_stands_before_the_metadata():
    assert _key({"source": "s"}, document="D") == "D"


@pytest.mark.parametrize("nothing", ["None", "", None])
def test_the_word_none_is_no_identity(nothing):
    metadata = {"doc_id": nothing, "document_id": nothing, "ref_doc_id": nothing}

    with pytest.raises(MissingDocumentError):
        _key(metadata, document=nothing)
    assert _key({**metadata, "source": "s"}, document=nothing) == "s"


def test_the_users_key_may_be_a_metadata_key_an_attribute_or_a_callable():
    subject = SimpleNamespace(owner="attr", metadata={"my": "meta"})

    assert _key({"my": "meta", "doc_key": "k"}, document_key="my") == "meta"
    assert _key({}, subject=subject, document_key="owner") == "attr"
    assert _key({}, subject=subject, document_key=lambda s: s.owner * 2) == "attrattr"
    assert _key({"b": "second"}, document_key=["a", "b"]) == "second"


def test_a_callable_gets_the_metadata_where_there_is_no_object():
    assert _key({"a": "x"}, document_key=lambda metadata: metadata["a"]) == "x"


def test_a_missing_identity_says_what_was_found_and_what_to_do():
    found = {"title": "x", "author": "y", "start_index": 5}
    hits = [Hit("t", {"source": "s"}), Hit("t", found)]

    with pytest.raises(
        MissingDocumentError, match=r"rank 1.*author, start_index, title"
    ) as caught:
        identify_documents(hits)
    assert caught.value.rank == 1
    assert caught.value.keys == ("author", "start_index", "title")
    assert isinstance(caught.value, ValueError)
    assert "document_key=" in str(caught.value)


def test_a_text_without_identity_and_position_is_a_document_of_its_own():
    hits = [Hit("x", {}), Hit("t", {"source": "s"}), Hit("y", {"doc_id": "None"})]

    (one, other), of_s, (third, no_name) = (
        each[:2] for each in identify_documents(hits)
    )
    assert of_s == ("s", "s")
    assert one.startswith(UNNAMED)
    assert third.startswith(UNNAMED)
    assert one != third
    assert (other, no_name) == ("", "")
    with pytest.raises(MissingDocumentError):
        identify_documents([hits[0], hits[2]])


_IDS = [f"{n:08}-0000-0000-0000-000000000000" for n in range(3)]


@pytest.mark.parametrize(
    ("ids", "source"),
    [
        (_IDS, "a.txt"),  # a reader's sections
        (["a.txt_part_0", "a.txt_part_1", "a.txt_part_1"], "a.txt"),
        (_IDS, "https://example.org/a"),
    ],
)
@pytest.mark.parametrize("key", ["start_index", "chunk_index"])
def test_texts_of_one_file_that_a_framework_gave_ids_have_no_order(ids, source, key):
    metadatas = [
        {"source": source, "doc_id": own, key: 9 * n}
        for n, own in reversed([*enumerate(ids)])
    ]

    with pytest.raises(PositionError) as caught:
        order_context(["c", "b", "a"], metadatas)
    assert caught.value.kind == "unscoped_position"
    assert f"position_keys={key!r}" in caught.value.message
    passages = order_context(["c", "b", "a"], metadatas, position_keys=key)
    assert "".join(passage.text for passage in passages) == "abc"


@pytest.mark.parametrize(
    ("ids", "source"),
    [
        (["c0", "c1", "c2"], "a.txt"),  # an application's own
        (["d0", "d1", "d1"], "pages.jsonl"),
        (_IDS, "confluence"),  # a system, no file
        (_IDS, "tickets.jsonl"),
        (["c0", "c1", "c2"], "crm.example.com"),
    ],
)
def test_ids_of_an_application_or_in_a_table_are_documents(ids, source):
    metadatas = [
        {"source": source, "doc_id": own, "start_index": 9 * n}
        for n, own in reversed([*enumerate(ids)])
    ]

    passages = order_context(["c", "b", "a"], metadatas)
    assert [passage.document_key for passage in passages] == sorted(
        ids, key=[*reversed(ids)].index
    )


TEXT = "".join(f"Sentence {number} is told from chance. " for number in range(9))


@pytest.mark.parametrize("sizes", [(120, 120), (120, 80)])
def test_a_file_that_a_framework_indexed_twice_is_one_document(sizes):
    chunks = [
        (
            TEXT[start : start + size],
            {"source": "a.txt", "doc_id": own, "start_index": start},
        )
        for own, size in zip(_IDS, sizes, strict=False)
        for start in range(0, 240, size)
    ]

    passages = order_context(*zip(*chunks[::-1], strict=True))

    starts = [passage.spans[0].start for passage in passages]
    assert starts == sorted(starts)
    assert {passage.text for passage in passages} == {text for text, _ in chunks}


def test_look_up_follows_dots_and_prefers_the_flat_key():
    nested = {"loc": {"lines": {"from": 3}}}

    assert look_up(nested, None, "loc.lines.from") == 3
    assert look_up({"loc.lines.from": 5, **nested}, None, "loc.lines.from") == 5
    assert look_up({"loc": 1}, None, "loc.lines.from") is None
