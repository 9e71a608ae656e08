"""Whatever tools write and agents forget: each character once, in order, none lost."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import NamedTuple

from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.documents import Document
from langchain_core.messages import HumanMessage, ToolMessage

from langchain_oprag import EvidenceMiddleware, format_documents
from oprag.metadata import document_key
from tests.kit.effort import cases

FIRST = 0x4E00
LENGTH = 150
SOURCES = {
    name: "".join(chr(FIRST + LENGTH * number + n) for n in range(LENGTH))
    for number, name in enumerate(("a.txt", "b/a.txt"))
}
"""Each character is there once, so that it tells where it is from."""
PLACE = {text: (name, n) for name in SOURCES for n, text in enumerate(SOURCES[name])}


def texts(found):
    return "\n\n".join(each.page_content for each in found)


def in_json(found):
    return json.dumps([each.model_dump() for each in found])


def in_blocks(found):
    return [{"type": "text", "text": each.page_content} for each in found]


WRITINGS = [
    texts,
    str,
    format_documents,
    in_json,
    in_blocks,
    lambda found: json.dumps({"text": json.loads(in_json(found))}, ensure_ascii=False),
    lambda found: "\n".join(f"Source: {d.metadata}\n{d.page_content}" for d in found),
]


class Slice(NamedTuple):
    name: str
    start: int
    size: int

    def document(self, store):
        text = SOURCES[self.name][self.start : self.start + self.size]
        return Document(text, metadata=STORES[store](self.name, self.start, len(text)))


STORES = {
    "LangChain's chunks": lambda name, start, size: {
        "source": name,
        "start_index": start,
    },
    "oprag's chunks": lambda name, start, size: {
        "doc_key": document_key(name),
        "doc_uri": name,
        "char_start": start,
        "char_end": start + size,
    },
    "no places": lambda name, start, size: {"source": name},
    "another's chunks": lambda name, start, size: {
        "source": name,
        "offset": start,
        "start_char_idx": start,
        "end_char_idx": start + size,
    },
}


class Search(NamedTuple):
    found: list[Slice]
    store: str
    written: int
    from_checkpoint: bool

    def message(self, number):
        found = [each.document(self.store) for each in self.found]
        content = WRITINGS[self.written](found)
        kept = [each.model_dump() for each in found] if self.from_checkpoint else found
        return ToolMessage(content, tool_call_id=str(number), artifact=kept)

    @property
    def places(self):
        return {
            (name, n)
            for name, start, size in self.found
            for n in range(start, min(LENGTH, start + size))
        }


slices = st.builds(
    Slice, st.sampled_from([*SOURCES]), st.integers(0, LENGTH - 1), st.integers(1, 60)
)


def searched(slices, *stores):
    found = st.lists(slices, min_size=1, max_size=6, unique=True)
    written = st.integers(0, len(WRITINGS) - 1)
    return st.builds(Search, found, st.sampled_from(stores), written, st.booleans())


PLACED = [name for name in STORES if name != "no places"]
searches = searched(slices, *PLACED)


def read(message):
    content = message.content
    if isinstance(content, list):
        content = "\n".join(block.get("text", "") for block in content)
    return [PLACE[each] for each in content if each in PLACE]


@settings(max_examples=cases(150), deadline=None)
@given(st.lists(searches, min_size=1, max_size=8), st.data())
def test_each_character_is_read_once_in_order_and_none_is_lost(made, data):
    messages = []
    for number, search in enumerate(made):
        messages += [HumanMessage("And then?"), search.message(number)]
    once = EvidenceMiddleware()

    applied = once.apply(messages)

    shown = []
    for search, message in zip(made, applied[1::2], strict=True):
        new = read(message)
        assert {*new} == search.places - {*shown}
        assert len({name for name, _ in new}) == len(
            [a for a, b in pairwise([*new, ("", 0)]) if a[0] != b[0]]
        )
        assert all(a < b for a, b in pairwise(new) if a[0] == b[0])
        shown += new
    assert len(shown) == len({*shown})
    for number in range(len(messages)):
        assert once.apply(messages[:number]) == applied[:number]
    # What was removed, cleared or cut off counts as not shown.
    kept = data.draw(st.lists(st.sampled_from(messages), unique_by=id))
    left = once.apply(kept)
    shown = [
        place for message in left if message.type == "tool" for place in read(message)
    ]
    assert len(shown) == len({*shown})
    found = [
        PLACE[each]
        for m in kept
        if m.type == "tool"
        for each in str(m.artifact)
        if each in PLACE
    ]
    assert {*shown} == {*found}
