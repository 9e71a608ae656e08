"""Chunks whose text a document has several times, under the headings they record."""

import pytest

from oprag import order_context
from oprag.errors import PositionError

PAGE = (
    "<title>Port</title><h1>Port</h1><p>See Coal. Fees are below.</p>"
    "<h2 id=Coal>Coal</h2>"
    "<p>Coal was dear.</p><p>Ask.</p><h2 id=f>The\n <b>Fees</b></h2><p>Ask.</p>"
)
MARKDOWN = (
    "Port\n\n# Port\n\nSee Coal. Fees are below.\n\n## Coal\n\nCoal was dear.\n\nAsk."
    "\n\n## The Fees\n\nAsk."
)
PORT = {"source": "a", "Header 1": "Port"}
COAL, FEES = ({**PORT, "Header 2": title} for title in ("Coal", "The Fees"))


def order(source, *hits):
    texts, metadatas = zip(*hits, strict=True)
    return order_context(texts, metadatas, documents={"a": source}, merge=False)


@pytest.mark.parametrize("source", [PAGE, MARKDOWN])
def test_a_repeated_text_stands_under_its_headings(source):
    other = "See Coal. Fees are below.", PORT
    for metadata, start in (
        (COAL, source.index("Ask.")),
        (FEES, source.rindex("Ask.")),
    ):
        first, second = order(source, ("Ask.", metadata), other)

        assert (first.text, second.spans[0].start) == (other[0], start)


@pytest.mark.parametrize("source", [PAGE, MARKDOWN])
def test_a_heading_is_where_no_other_chunk_is(source):
    first, second = order(source, ("Coal was dear.", COAL), ("Coal", COAL))

    assert (first.text, second.text) == ("Coal", "Coal was dear.")
    assert source[first.spans[0].start :].count("Coal") == 2


@pytest.mark.parametrize(
    ("source", "hit"),
    [
        (PAGE, ("Coal", COAL)),  # in its heading, or below it
        (PAGE, ("Ask.", PORT)),  # under both headings, which a splitter may not record
        (PAGE, ("Ask.", {"source": "a"})),
        (PAGE.replace("h2", "b"), ("Ask.", COAL)),
        (f"{PAGE}<h2>Coal</h2><p>Ask.</p>", ("Ask.", COAL)),
        (PAGE.replace("<p>Ask.", "<p>Ask .", 1), ("Ask.", COAL)),
    ],
)
def test_no_place_is_guessed(source, hit):
    with pytest.raises(PositionError, match="more than once"):
        order(source, hit, ("See Coal. Fees are below.", PORT))
