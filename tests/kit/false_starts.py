"""Lists of retrieved chunks, many of which do not stand where their metadata say.

Each chunk is a slice of a source of its own kind of splitter, compressor or middleware,
as their users meet them. From a seeded generator of the standard library.
"""

import random
from collections.abc import Callable
from typing import Any, NamedTuple

from langchain_core.documents import Document

from oprag.metadata import document_key, text_hash

_TEXT = (
    "rent deposit garden tenant landlord repairs keys noise pets lease notice the of "
    "and shall be paid May 1807 §4 größe café 漢字 🙂 end. clause."
)
_WORDS = _TEXT.split()
_JOINTS = (" ", " ", " ", ". ", ".\n", "\n\n", "  ")


class Cut(NamedTuple):
    """A slice of a source, as a splitter makes it."""

    source: str
    start: int
    end: int
    before: int
    """Characters of all chunks before it, and one between two of them."""

    @property
    def text(self) -> str:
        return self.source[self.start : self.end]


class Said(NamedTuple):
    """The text of a chunk, and where it is said to begin."""

    text: str
    start: int


class ForeignList(NamedTuple):
    """What was retrieved, best first, and the texts that it is of."""

    texts: list[str]
    metadatas: list[dict[str, Any]]
    pages: dict[tuple[str, int | None], str]
    """The text that the characters of a chunk count in, by document and page."""
    kinds: list[str]

    def text(self, name: str, page: int | None) -> str:
        """The text that characters of a document, or of its page, count in."""
        if (name, page) in self.pages:
            return self.pages[name, page]
        return "\n\n".join(text for (of, _), text in self.pages.items() if of == name)

    def documents(self) -> list[Document]:
        """The documents as they were loaded: one for each page."""
        loaded = []
        for (name, page), text in self.pages.items():
            metadata: dict[str, Any] = {"source": name}
            if page is not None:
                metadata["page"] = page
            loaded.append(Document(text, metadata=metadata))
        return loaded


def edited(draw: random.Random, text: str) -> str:
    """Another text of the same length."""
    at = draw.randrange(len(text))
    other = next(c for c in "#%" if c != text[at])
    return draw.choice((text[:at] + other + text[at + 1 :], text[1:] + "#"))


def _true(_draw: random.Random, cut: Cut) -> Said:
    return Said(cut.text, cut.start)


def _one_too_far(_draw: random.Random, cut: Cut) -> Said:
    return Said(cut.text, cut.start + 1)


def _running_sum(_draw: random.Random, cut: Cut) -> Said:
    """SemanticChunker adds up the lengths of its chunks."""
    return Said(cut.text, cut.before)


def _in_bytes(_draw: random.Random, cut: Cut) -> Said:
    return Said(cut.text, len(cut.source[: cut.start].encode()))


def _in_utf_16(_draw: random.Random, cut: Cut) -> Said:
    return Said(cut.text, len(cut.source[: cut.start].encode("utf-16-le")) // 2)


def _in_tokens(_draw: random.Random, cut: Cut) -> Said:
    return Said(cut.text, cut.start // 4)


def _extract(draw: random.Random, cut: Cut) -> Said:
    """A compressor keeps a part of the chunk, and the start of all of it."""
    first = draw.randrange(len(cut.text))
    last = draw.randint(first + 1, len(cut.text))
    return Said(cut.text[first:last], cut.start)


def _window(draw: random.Random, cut: Cut) -> Said:
    """A window was put in the place of its sentence."""
    first = max(0, cut.start - draw.randint(0, 40))
    return Said(cut.source[first : cut.end + draw.randint(0, 40)], cut.start)


def _overlap_in_front(draw: random.Random, cut: Cut) -> Said:
    first = max(0, cut.start - draw.randint(1, 30))
    return Said(cut.source[first : cut.end], cut.start)


def _header(draw: random.Random, cut: Cut) -> Said:
    header = draw.choice(("From the lease of 1807.\n", cut.text[:20] + "\n", "a.txt\n"))
    return Said(header + cut.text, cut.start)


def _edited(draw: random.Random, cut: Cut) -> Said:
    return Said(edited(draw, cut.text), cut.start)


def _white_space(_draw: random.Random, cut: Cut) -> Said:
    """Line breaks became blanks: often the text is as long as it was."""
    return Said(cut.text.replace("\n", " "), cut.start)


def _stripped(_draw: random.Random, cut: Cut) -> Said:
    return Said(cut.text.strip() or cut.text, cut.start)


def _inside_characters(draw: random.Random, cut: Cut) -> Said:
    """Tokens were cut inside a character at either end."""
    first, last = draw.choice(((1, 0), (0, 1), (1, 1)))
    whole = cut.text[first : len(cut.text) - last]
    return Said("\ufffd" * first + whole + "\ufffd" * last, cut.start)


def _elsewhere(draw: random.Random, cut: Cut) -> Said:
    return Said(cut.text, draw.randint(0, len(cut.source)))


FALSE_STARTS: dict[str, Callable[[random.Random, Cut], Said]] = {
    kind.__name__.strip("_"): kind
    for kind in (
        *(_true, _one_too_far, _running_sum, _in_bytes, _in_utf_16, _in_tokens),
        *(_extract, _window, _overlap_in_front, _header, _edited, _white_space),
        *(_stripped, _inside_characters, _elsewhere),
    )
}


def _start_index(name: str, cut: Cut, said: Said) -> dict[str, Any]:
    return {"source": name, "start_index": said.start}


def _llamaindex(name: str, cut: Cut, said: Said) -> dict[str, Any]:
    end = said.start + len(cut.text)
    return {"ref_doc_id": name, "start_char_idx": said.start, "end_char_idx": end}


def _haystack(name: str, cut: Cut, said: Said) -> dict[str, Any]:
    return {"source": name, "split_idx_start": said.start}


def _unstamped(name: str, cut: Cut, said: Said) -> dict[str, Any]:
    """As oprag wrote it before it wrote a hash of each chunk."""
    own = {"doc_key": document_key(name), "doc_uri": name}
    return {**own, "char_start": said.start, "char_end": said.start + len(said.text)}


def _stamped(name: str, cut: Cut, said: Said) -> dict[str, Any]:
    """As oprag writes it; what happens to the text comes after."""
    own = {"doc_key": document_key(name), "doc_uri": name, "char_start": cut.start}
    return {**own, "char_end": cut.end, "chunk_hash": text_hash(cut.text)}


_SCHEMES = (_start_index, _start_index, _llamaindex, _haystack, _unstamped, _stamped)


def foreign_list(draw: random.Random) -> ForeignList:
    """Make one list: some documents, each split and said to be placed in one way."""
    pages: dict[tuple[str, int | None], str] = {}
    made = []
    for number in range(draw.choice((1, 1, 2))):
        name, scheme = f"doc{number}.txt", draw.choice(_SCHEMES)
        paged = scheme is _start_index and draw.random() < 0.2
        kinds = draw.sample([*FALSE_STARTS], draw.choice((1, 1, 2)))
        for page in (0, 1) if paged else (None,):
            pages[name, page] = text = _text(draw)
            for cut in _cuts(draw, text):
                kind = draw.choice(kinds)
                said = FALSE_STARTS[kind](draw, cut)
                place = scheme(name, cut, said)
                if page is not None:
                    place["page"] = page
                if kind == "window" and draw.random() < 0.5:
                    place["original_text"] = cut.text
                made.append((said.text, place, f"{scheme.__name__}, {kind}"))
    made = draw.sample(made, min(len(made), draw.randint(1, 8)))
    texts, metadatas, kinds = map(list, zip(*made, strict=True))
    return ForeignList(texts, metadatas, pages, kinds)


def _text(draw: random.Random) -> str:
    if draw.random() < 0.1:
        return "the same line\n" * draw.randint(3, 12)
    count = draw.randint(12, 60)
    return "".join(draw.choice(_WORDS) + draw.choice(_JOINTS) for _ in range(count))


def _cuts(draw: random.Random, text: str) -> list[Cut]:
    overlap = draw.choice((0, 0, 10))
    cuts, end, before = [], 0, 0
    while end < len(text):
        start = max(0, end - overlap)
        end = min(len(text), end + draw.randint(12, 70))
        cuts.append(Cut(text, start, end, before))
        before += end - start + 1
    return cuts
