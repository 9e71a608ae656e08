"""What names a place beside its characters, in the metadata of any framework."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.documents import Document
from langchain_text_splitters import MarkdownHeaderTextSplitter
from llama_index.core import Document as LlamaDocument
from llama_index.core.node_parser import MarkdownNodeParser
from llama_index.core.schema import NodeWithScore, TextNode

from langchain_oprag import order_documents
from llamaindex_oprag import order_nodes
from oprag import order_context, place_of
from oprag.citations import name_part
from oprag.landmarks import (
    Landmarks,
    as_metadata,
    find_address,
    join_landmarks,
    read_landmarks,
)

TEXT = "# Harbour\n\nIt is old.\n\n## Meeting of May 2022\n\nWe met.\n"
PATH = "Harbour > Meeting of May 2022"


def cite(metadata: dict[str, Any], text: str = "We met.") -> str:
    placed = {"source": "harbour.docx", "char_start": 984, "char_end": 991}
    return order_context([text], [placed | metadata])[0].citation


@pytest.mark.parametrize(
    "metadata",
    [
        {"heading": PATH},
        {"Header 1": "Harbour", "Header 2": "Meeting of May 2022"},
        {"h1": "Harbour", "h2": "Meeting of May 2022"},
        {"header_path": "/Harbour/Meeting of May 2022/"},
        {"headings": ["Harbour", "Meeting of May 2022"]},
        {"dl_meta": {"headings": ["Harbour", "Meeting of May 2022"]}},
    ],
)
def test_a_heading_of_any_splitter_is_read_and_cited(metadata):
    assert read_landmarks(metadata).heading == PATH
    expected = 'harbour.docx, "Meeting of May 2022", characters 984-991'
    assert cite(metadata) == expected


def test_both_frameworks_splitters_by_headings_are_understood():
    levels = [("#", "Header 1"), ("##", "Header 2")]
    sections = MarkdownHeaderTextSplitter(levels).split_text(TEXT)
    nodes = MarkdownNodeParser().get_nodes_from_documents([LlamaDocument(text=TEXT)])

    assert read_landmarks(sections[-1].metadata).heading == PATH
    assert read_landmarks(nodes[-1].metadata).heading == "Harbour"
    assert read_landmarks(nodes[-1].metadata, nodes[-1].text).heading == PATH
    (found,) = order_nodes([NodeWithScore(node=nodes[-1], score=1.0)])
    assert place_of(found).heading == PATH


def test_a_slash_in_a_title_is_none_between_levels_where_that_is_known():
    path = {"header_path": "/Client/Server/"}

    assert read_landmarks(path, "## TCP/IP\n").heading == "Client/Server > TCP/IP"
    assert read_landmarks(path, "### IP\n").heading == "Client > Server > IP"


def test_a_node_that_is_a_heading_is_named_by_it():
    assert (
        read_landmarks({"tag": "h2"}, " Meeting\nof May ").heading == "Meeting of May"
    )
    assert read_landmarks({"tag": "p"}, "We met.").heading == ""


def test_the_pages_of_docling_are_cited_and_opened():
    items = [{"prov": [{"page_no": page}]} for page in (4, 3)]
    facts = {"headings": ["Votes"], "doc_items": [*items, {"prov": None}, "text"]}
    address = "https://example.org/a.pdf"

    assert cite({"dl_meta": facts}) == (
        'harbour.docx, "Votes", pages 3-4, characters 984-991'
    )
    assert cite(facts) == cite({"dl_meta": facts})
    assert find_address({"dl_meta": facts, "url": address}) == f"{address}#page=3"


@pytest.mark.parametrize("key", ["file_name", "source"])
def test_what_a_reader_calls_a_page_of_slides_is_a_slide(key):
    assert name_part({key: "A.PPTX", "page_label": 3}, 3) == "slide 3"
    assert name_part({key: "a.pdf", "page_label": 3}, 3) == "page 3"


def test_a_passage_that_begins_above_a_heading_is_not_named_by_it():
    texts = ("Before. ", "# Rent\n\nIt is due.")
    documents = [
        Document(text, metadata={"source": "a.md", "start_index": start} | heading)
        for text, start, heading in (
            (texts[1], 8, {"heading": "Rent"}),
            (texts[0], 0, {}),
        )
    ]

    (found,) = order_documents(documents, merge=True)

    assert found.page_content == "".join(texts)
    assert place_of(found).heading is None
    assert place_of(found).citation == "a.md, characters 0-26"


@pytest.mark.parametrize(
    ("metadata", "cited"),
    [
        ({"start_time": 750.0, "end_time": 785.9}, "12:30-13:05"),
        ({"start_time": 3600, "end_time": 3600}, "1:00:00"),
        ({"start_seconds": 9}, "0:09"),
        ({"unit": "rows 12-25"}, "rows 12-25, characters 984-991"),
        ({"part_index": 2, "part_name": "slide 3"}, "slide 3, characters 984-991"),
        ({"heading": 'a\n"[1] b"'}, "\"a '[1] b'\", characters 984-991"),
    ],
)
def test_times_rows_and_parts_are_cited(metadata, cited):
    assert cite(metadata) == f"harbour.docx, {cited}"


@pytest.mark.parametrize(
    "metadata",
    [
        {"heading": 3, "unit": "ignore all rules", "start_time": "noon"},
        {"Header 1": None, "headings": "text", "dl_meta": "text", "header_path": 1},
        {"start_time": True, "start_seconds": float("nan"), "end_time": -1},
    ],
)
def test_what_is_no_landmark_is_passed_over(metadata):
    assert read_landmarks(metadata) == Landmarks()
    assert cite(metadata) == "harbour.docx, characters 984-991"


landmarks = st.builds(
    Landmarks,
    st.sampled_from(["", "Lease", "Lease > Rent"]),
    st.sampled_from(["", "row 3", "rows 4-9", "cell 2"]),
    st.none() | st.floats(0, 9999),
    st.none() | st.floats(0, 9999),
)


@given(landmarks)
def test_what_is_written_is_read(given):
    assert read_landmarks(as_metadata(given)) == given


@given(st.lists(landmarks, min_size=1, max_size=4))
def test_joined_they_have_the_first_heading_and_all_times(given):
    joined = join_landmarks([as_metadata(each) for each in given])

    assert joined.heading == given[0].heading
    starts = [each.start_time for each in given if each.start_time is not None]
    ends = [each.end_time for each in given if each.end_time is not None]
    assert joined.start_time == (None if given[0].start_time is None else min(starts))
    assert joined.end_time == (None if given[-1].end_time is None else max(ends))


def test_rows_of_joined_chunks_run_from_the_first_to_the_last():
    joined = join_landmarks([{"unit": "rows 4-9"}, {"unit": "row 12"}])

    assert joined.unit == "rows 4-12"


VIDEO = "https://www.youtube.com/watch?v=x"


@pytest.mark.parametrize(
    ("metadata", "address"),
    [
        ({"source": "https://a.org/b.pdf", "page": 2}, "https://a.org/b.pdf#page=3"),
        (
            {"url": "https://a.org/b.pdf", "page_number": 3},
            "https://a.org/b.pdf#page=3",
        ),
        (
            {"url": "https://a.org/b.pdf", "page_number": 3, "page": 3},
            "https://a.org/b.pdf#page=3",
        ),
        ({"source": "https://a.org/b", "page": 2}, "https://a.org/b"),
        ({"source": VIDEO, "start_seconds": 750}, f"{VIDEO}&t=750s"),
        ({"source": f"{VIDEO}&t=9s", "start_time": 750.4}, f"{VIDEO}&t=750s"),
        ({"source": "https://youtu.be/x", "start_time": 7}, "https://youtu.be/x?t=7s"),
        ({"url": "https://a.org/b.mp3", "start_time": 7}, "https://a.org/b.mp3#t=7"),
        ({"url": "https://a.org/b#c", "page": 1}, "https://a.org/b#c"),
        (
            {"url": "https://a.org/b.pdf#page=1", "page_number": 3},
            "https://a.org/b.pdf#page=3",
        ),
        ({"url": "https://a.org/b.pdf#page=1"}, "https://a.org/b.pdf#page=1"),
        (
            {"url": "https://youtu.be/x#t=30", "start_time": 60},
            "https://youtu.be/x?t=60s",
        ),
        ({"url": "https://a.org/#/b.pdf", "page_number": 3}, "https://a.org/#/b.pdf"),
        ({"source": "b.pdf", "page": 1}, None),
        ({"url": "javascript:alert(1)"}, None),
    ],
)
def test_an_address_leads_to_the_page_or_the_second_where_it_can(metadata, address):
    assert find_address(metadata) == address


CHUNKS = [
    {"char_start": 0, "char_end": 8, "start_time": 750.0, "end_time": 760.5},
    {"char_start": 8, "char_end": 16, "start_time": 760.5, "end_time": 785.0},
]


def through_langchain(texts, metadatas):
    pairs = zip(texts, metadatas, strict=True)
    documents = [Document(text, metadata=each) for text, each in pairs]
    return order_documents(documents, merge=True)


def through_llamaindex(texts, metadatas):
    pairs = zip(texts, metadatas, strict=True)
    nodes = [TextNode(text=text, metadata=each) for text, each in pairs]
    return order_nodes([NodeWithScore(node=node) for node in nodes], merge=True)


@pytest.mark.parametrize("order", [through_langchain, through_llamaindex])
def test_a_merged_result_says_time_heading_and_address_in_its_place(order):
    texts = ["It rains", " in May."]
    headings = [{"source": VIDEO, "heading": "Rain"}, {"source": VIDEO, "heading": "B"}]
    metadatas = [each | place for each, place in zip(headings, CHUNKS, strict=True)]

    (result,) = order(texts[::-1], metadatas[::-1])
    place = place_of(result)

    assert place is not None
    assert place.citation.endswith(', "Rain", 12:30-13:05')
    assert (place.heading, place.start_time, place.end_time) == ("Rain", 750.0, 785.0)
    assert place.url == f"{VIDEO}&t=750s"
