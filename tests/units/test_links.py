"""Links found in texts, and neighbours in a folder."""

import pytest

from oprag.units import group_documents
from oprag.units.links import find_links, neighbour_links
from tests.kit.growth import LINEAR, time_growth


@pytest.mark.parametrize(
    ("text", "target"),
    [
        ("see [the plan](plan.md) now", "docs/plan.md"),
        ("see [the plan](./plan.md#costs 'Costs')", "docs/plan.md"),
        ("see [the plan](<plan.md>)", "docs/plan.md"),
        ("see [the plan](plan)", "docs/plan.md"),
        ("see [the band](band_(rock).md), [or](<>)", "docs/band_(rock).md"),
        ("see [top](../top.md)", "top.md"),
        ("see [top](/top.md)", "top.md"),
        ("see [spaced](my%20notes.md?raw=1)", "docs/my notes.md"),
        ("[plan]: plan.md\nas [plan] says", "docs/plan.md"),
        ('<a class="x" href="plan.md">plan</a>', "docs/plan.md"),
        ("<A HREF='../top.md#a'>top</A>", "top.md"),
        ("<a href=plan.md>plan</a>", "docs/plan.md"),
        ("as [[Plan]] says", "docs/plan.md"),
        ("as [[my_notes|the notes]] say", "docs/my notes.md"),
        ("as [[My  Notes#Old]] say", "docs/my notes.md"),
        ("as [[docs/plan]] says", "docs/plan.md"),
    ],
)
def test_a_link_leads_to_the_document_it_names(text, target):
    documents = {
        "docs/here.md": text,
        "docs/plan.md": "",
        "docs/my notes.md": "",
        "docs/band_(rock).md": "",
        "top.md": "",
    }

    assert find_links(documents) == [("docs/here.md", target)]


@pytest.mark.parametrize(
    "text",
    [
        "[elsewhere](https://example.org/plan.md)",
        "![picture](plan.md)",
        "[itself](#part) and [itself](here.md)",
        "[gone](gone.md), [[Gone]], <a href='gone.html'>",
        "[odd](http://[1/x) and [empty]()",
        "no link at all, plan.md",
    ],
)
def test_what_leads_elsewhere_is_left_out(text):
    assert find_links({"docs/here.md": text, "docs/plan.md": ""}) == []


def test_names_may_be_urls():
    documents = {
        "https://w.org/wiki/A": '<a href="/wiki/B?x=1#y">B</a>',
        "https://w.org/wiki/B": "[c](C) [c again](https://w.org/wiki/C)",
        "https://w.org/wiki/C": "",
    }

    assert find_links(documents) == [
        ("https://w.org/wiki/A", "https://w.org/wiki/B"),
        ("https://w.org/wiki/B", "https://w.org/wiki/C"),
    ]


def test_neighbours_are_those_of_one_folder():
    names = ["a/1.md", "a/2.md", "b/1.md", "a/3.md", "top.md", "b/2.md", "last.md"]

    assert neighbour_links(names) == [
        ("a/1.md", "a/2.md"),
        ("a/2.md", "a/3.md"),
        ("b/1.md", "b/2.md"),
        ("top.md", "last.md"),
    ]
    assert neighbour_links(["docs\\a.md", "other\\b.md"]) == []


def test_without_given_links_those_in_the_texts_group():
    texts = {"a": "see [[c]]", "b": "x", "c": "y"}

    units = group_documents(texts, max_tokens=9, token_counter="approximate")

    assert [unit.documents for unit in units] == [("a", "c"), ("b",)]


def test_and_neighbours_in_a_folder_where_there_are_none():
    texts = {"a/1": "one", "b/1": "one", "a/2": "two"}

    units = group_documents(texts, None, 9)

    assert [unit.documents for unit in units] == [("a/1", "a/2"), ("b/1",)]
    # No links is not the same as none given.
    assert len(group_documents(texts, [], 9)) == 3


def test_the_time_for_a_text_full_of_openings_grows_as_the_text_does():
    def find(count):
        hostile = "".join(opening * count for opening in ("[", "<a ", "[a](", "[["))
        return lambda: find_links({"a": hostile, "b": ""})

    assert find(20_000)() == []
    assert time_growth(find, 20_000) < LINEAR
