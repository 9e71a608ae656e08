"""Generated documents for each framework, and what has to become of them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from hypothesis import strategies as st
from langchain_core.documents import Document as LangChainDocument
from llama_index.core.schema import Document as LlamaIndexDocument

from tests.kit.corpora import texts

ROMAN = ("i", "ii", "iii", "iv", "v")
FIRST = {"page": 0, "row": 0, "page_number": 1, "seq_num": 1, "page_label": 1}
"""The first number of readers."""


class Text(NamedTuple):
    """A document of a framework: a page, a row, a section, or all of one text."""

    text: str
    metadata: dict[str, Any]
    name: str
    number: int | None
    """The `part_index` that its chunks must have."""

    def for_langchain(self) -> LangChainDocument:
        return LangChainDocument(self.text, metadata=dict(self.metadata))

    def for_llamaindex(self) -> LlamaIndexDocument:
        """With a random id, as readers give it."""
        return LlamaIndexDocument(text=self.text, metadata=dict(self.metadata))


@dataclass(frozen=True)
class Loaded:
    """Documents in the order in which they are handed over."""

    texts: tuple[Text, ...]

    @property
    def names(self) -> list[str]:
        return list(dict.fromkeys(text.name for text in self.texts))

    def parts_of(self, name: str) -> list[Text]:
        """The parts of one document in reading order."""
        own = [text for text in self.texts if text.name == name]
        return sorted(own, key=lambda text: text.number or 0)


def document(name: str, key: str, kind: str, own: Sequence[str]) -> list[Text]:
    """The texts of one document, in the order of the pages as the reader gives them."""
    named = {key: name}
    if kind == "whole":
        return [Text(own[0], named, name, None)]
    made = []
    for place, text in enumerate(own):
        if kind == "section":
            number = place if len(own) > 1 else None
            made.append(Text(text, {**named, "Header 1": "A"}, name, number))
            continue
        if kind == "roman":
            value: Any = ROMAN[place]
            entry = {"page_label": value}
        else:
            value = place + FIRST[kind]
            entry = {kind: str(value) if kind == "page_label" else value}
        made.append(Text(text, {**named, **entry}, name, place))
    return made


KINDS = ("whole", "section", "roman", *FIRST)
_IN_ORDER = ("section", "roman")
"""Kinds that nothing but the order numbers, so they are not shuffled."""


@st.composite
def documents(draw: st.DrawFn, *, interleaved: bool = True) -> Loaded:
    """Several documents; pages in any order, and those of two documents mixed."""
    kinds = draw(st.lists(st.sampled_from(KINDS), min_size=1, max_size=3))
    rows = []
    for number, kind in enumerate(kinds):
        least = 2 if kind == "roman" else 1
        # Parts that nothing tells apart are refused as a document that comes twice.
        own = draw(
            st.lists(texts, min_size=least, max_size=4, unique=kind in _IN_ORDER)
        )
        key = draw(st.sampled_from(["source", "file_path"]))
        row = document(f"{number} böse 'n\"ame.pdf", key, kind, own)
        if kind not in _IN_ORDER:
            row = draw(st.permutations(row))
        rows.append(row)
    if not interleaved:
        return Loaded(tuple(text for row in rows for text in row))
    turns = draw(st.permutations([i for i, row in enumerate(rows) for _ in row]))
    left = [iter(row) for row in rows]
    return Loaded(tuple(next(left[turn]) for turn in turns))
