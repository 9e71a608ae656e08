"""Generated pages as they lie in a store: repeating themselves, cut and shuffled."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import NamedTuple

from langchain_text_splitters import (
    CharacterTextSplitter,
    RecursiveCharacterTextSplitter,
)

_TEXT = """
    the of and to in is for that rent tenant shall pay term lease notice party any by
    this with not be or as under date due sum year month total amount clause service
    property building access repair cost charge owner written agree sections follows
"""
_WORDS = _TEXT.split()
_SIZES = ((1000, 200), (1000, 100), (500, 100), (500, 50), (400, 150), (300, 60))


class Cut(NamedTuple):
    """One document in a store: pages of chunks, in their true order."""

    pages: dict[int, list[str]]
    sources: dict[int, list[str]]
    """The texts of each page number; two where two files have one name."""


def documents(seed: int, pages: int) -> Iterator[Cut]:
    """Yield documents until they have so many pages."""
    rng = random.Random(seed)  # noqa: S311 -- texts, no secret
    made = 0
    while made < pages:
        document = _document(rng)
        made += len(document.pages)
        yield document


def _document(rng: random.Random) -> Cut:
    texts = _texts(rng)
    files = [texts]
    if rng.random() < 0.1:  # two files of one name, at times two versions of one
        other = _texts(rng)
        if rng.random() < 0.5:
            other = [_edited(rng, text) for text in texts]
        files.append(other)
    size, overlap = rng.choice(_SIZES)
    splitters = [_splitter(rng, size, overlap)]
    if rng.random() < 0.05:  # indexed in two sizes
        splitters.append(_splitter(rng, size // 2, overlap // 2))
    pages: dict[int, list[str]] = {}
    sources: dict[int, list[str]] = {}
    for file in files:
        for number, text in enumerate(file):
            sources.setdefault(number, []).append(text)
            for splitter in splitters:
                pages.setdefault(number, []).extend(splitter.split_text(text))
    return Cut(pages, sources)


def _splitter(rng: random.Random, size: int, overlap: int):
    if rng.random() < 0.2:
        return CharacterTextSplitter(
            separator=rng.choice(["\n", " "]), chunk_size=size, chunk_overlap=overlap
        )
    return RecursiveCharacterTextSplitter(chunk_size=size, chunk_overlap=overlap)


def _texts(rng: random.Random) -> list[str]:
    vocabulary = _WORDS[: rng.choice([6, 15, len(_WORDS)])]
    lines = [_line(rng, vocabulary) for _ in range(rng.choice([3, 8, 20]))]
    blocks = ["\n".join(rng.choices(lines, k=rng.randint(2, 6))) for _ in range(4)]
    header, footer = _line(rng, vocabulary), _line(rng, vocabulary)
    if rng.random() < 0.4:
        footer = header
    if rng.random() < 0.3:
        header = "\n".join([header, *(_line(rng, vocabulary) for _ in range(2))])
        footer = header if rng.random() < 0.5 else footer
    framed, numbered = rng.random() < 0.6, rng.random() < 0.4
    kind = rng.choice(["prose", "lines", "blocks", "table", "mixed"])
    texts: list[str] = []
    for page in range(rng.choice([1, 1, 2, 4, 9])):
        if texts and rng.random() < 0.1:
            texts.append(rng.choice(texts))  # an equal page
            continue
        body = _body(rng, kind, vocabulary, lines, blocks)
        if framed:
            number = f" page {page + 1} of 9" if numbered else ""
            body = f"{header}{number}\n{body}\n{footer}{number}"
        texts.append(body)
    return texts


def _body(rng, kind, vocabulary, lines, blocks) -> str:
    length, parts = rng.randint(600, 4000), list[str]()
    while sum(map(len, parts)) < length:
        of = (
            rng.choice(["prose", "lines", "blocks", "table"])
            if kind == "mixed"
            else kind
        )
        if of == "prose":
            parts.append(_line(rng, vocabulary))
        elif of == "lines":
            repeated = rng.random() < 0.5
            parts.append(rng.choice(lines) if repeated else _line(rng, vocabulary))
        elif of == "blocks":
            repeated = rng.random() < 0.5
            parts.append(rng.choice(blocks) if repeated else _line(rng, vocabulary))
        else:
            cells = rng.choices(["0.00", "1.25", "n/a", "total", "rent", "12"], k=9)
            parts.append(" ".join(cells))
    return rng.choice(["\n", "\n", "\n\n", " "]).join(parts)


def _line(rng: random.Random, vocabulary: list[str]) -> str:
    return " ".join(rng.choices(vocabulary, k=rng.randint(4, 24)))


def _edited(rng: random.Random, text: str) -> str:
    words = text.split(" ")
    words[rng.randrange(len(words))] = "changed"
    return " ".join(words)


def damaged(rng: random.Random, document: Cut, hidden: float) -> dict[int, list[str]]:
    """Return what of a document can be read: shuffled, some hidden, lost or doubled."""
    seen: dict[int, list[str]] = {}
    for page, chunks in document.pages.items():
        kept = [chunk for chunk in chunks if rng.random() >= hidden]
        if kept and rng.random() < 0.02:
            kept.remove(rng.choice(kept))
        if kept and rng.random() < 0.05:
            kept.append(rng.choice(kept))
        rng.shuffle(kept)
        seen[page] = kept
    return seen


def is_right(document: Cut, page: int, ordered: list[str]) -> bool:
    """Whether chunks can stand in one text of a page in this order.

    Each begins after the one before, and does not end before it.
    """
    return any(_stand(text, ordered) for text in document.sources[page])


def _stand(text: str, ordered: list[str]) -> bool:
    text = "".join(text.split())
    at = reach = -1
    for chunk in ("".join(chunk.split()) for chunk in ordered):
        at = text.find(chunk, at + 1)
        while at >= 0 and at + len(chunk) <= reach:
            at = text.find(chunk, at + 1)
        if at < 0:
            return False
        reach = at + len(chunk)
    return True
