"""Documents whose chunks were damaged, as stores, people and crashes damage them."""

import json
import random
import re
import uuid
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from oprag.chunk import FullText
from oprag.documents import SourcePart, annotate_chunks
from oprag.errors import (
    DocumentNotFoundError,
    IncompleteDocumentError,
    OpragError,
    PositionError,
)
from oprag.metadata import (
    CHAR_END,
    CHAR_START,
    CHUNK_INDEX,
    DOC_KEY,
    DOC_URI,
    DOC_VERSION,
    N_CHUNKS,
    PART_INDEX,
    STAMP_KEYS,
    TEXT_HASH,
    TEXT_LENGTH,
    document_key,
    document_version,
)
from oprag.splitting import SourceText, group_parts, split_tokens, stamp_chunks
from oprag.stores import StoredChunk
from oprag.tokens import resolve_token_counter

WORDS = ("rent", "is", "due", "on", "the", "1st", "of", "May", "日本", "🙂", "e\u0301")
JOINTS = (" ", " ", " ", "\n", "\n\n", ".  ", "\r\n")
NUMBERS = (CHUNK_INDEX, N_CHUNKS, CHAR_START, CHAR_END, PART_INDEX)

_SIZED = resolve_token_counter("approximate")


class Damaged(NamedTuple):
    """One document in a store."""

    name: str
    texts: tuple[str, ...]
    """Its text; and that of another version, whose chunks are there as well."""
    chunks: list[StoredChunk]
    """The store's rows of it, in any order."""
    damages: tuple[str, ...]
    """The damages done to it, by the names of the functions below."""

    def check(self, read: Callable[[str], FullText]) -> str:
        """Read it, and see to it that no wrong text comes.

        Returns:
            `"whole"`, `"inexact"`, or the class of the error.
        """
        try:
            found = read(self.name)
        except (DocumentNotFoundError, IncompleteDocumentError, PositionError) as error:
            self._check_refusal(error)
            return type(error).__name__
        if found.exact:
            assert found.text in self.texts, self
            return "whole"
        solid = ["".join(text.split()) for text in self.texts]
        assert "".join(found.text.split()) in solid, self
        return "inexact"

    def _check_refusal(self, error: OpragError) -> None:
        assert repr(self.name) in str(error), error
        assert getattr(error, "document", None) == self.name
        place = r"chunks? |missing: |characters \d|no chunk there|parts"
        assert re.search(place, str(error)), error


def damaged(
    name: str,
    rng: random.Random,
    *,
    foreign: bool = False,
    times: int = 3,
    size_too: bool = False,
    damages: Sequence[Callable[..., list[StoredChunk]]] = (),
) -> Damaged:
    """Make a document, its chunks, and one to `times` damages to them.

    Chunks of another size, which are asked for by `size_too`, are left as they are, or
    lack one.
    """
    texts = [text_of(rng) for _ in range(rng.choice((1, 1, 1, 2, 3)))]
    others = [changed(text, rng) for text in texts]
    make = by_another_splitter if foreign else by_ours
    size = rng.randint(2, 9)
    chunks, other = make(name, texts, size), make(name, others, size)
    what = []
    for _ in range(rng.randint(1, times)):
        damage = rng.choice(damages or DAMAGES)
        if chunks:
            what.append(damage.__name__)
            chunks = damage(chunks, other, rng)
    if size_too:
        sized = make(name, texts, size + 1)
        chunks += sized if rng.random() < 0.5 else lost(sized, other, rng)
    rng.shuffle(chunks)
    wholes = tuple("\n\n".join(parts) for parts in (texts, others))
    return Damaged(name, wholes, with_own_ids(chunks), tuple(what))


def text_of(rng: random.Random) -> str:
    """Some words, with white space of several kinds between them."""
    count = rng.randint(1, 60)
    return "".join(rng.choice(WORDS) + rng.choice(JOINTS) for _ in range(count))


def changed(text: str, rng: random.Random) -> str:
    """Another version: a word more, or another character."""
    at = rng.randrange(len(text))
    if rng.random() < 0.5:
        return text[:at] + rng.choice(WORDS) + " " + text[at:]
    return text[:at] + "#" + text[at + 1 :]


def by_ours(name: str, texts: Sequence[str], size: int) -> list[StoredChunk]:
    """The chunks of a splitter of ours."""
    pages = [{"page": i} if len(texts) > 1 else {} for i in range(len(texts))]
    (parts,) = group_parts(
        [
            SourceText(text, {"source": name, **page})
            for text, page in zip(texts, pages, strict=True)
        ]
    )
    rows = [split_tokens(text, chunk_size=size, tokenizer=_SIZED) for text in texts]
    stamps = stamp_chunks(parts, rows, settings=("tokens", size), counter=_SIZED)
    return [
        StoredChunk(
            text[span.start : span.end], {"source": name, **stamp.metadata}, stamp.id
        )
        for text, row, written in zip(texts, rows, stamps, strict=True)
        for span, stamp in zip(row, written, strict=True)
    ]


def by_another_splitter(
    name: str, texts: Sequence[str], size: int
) -> list[StoredChunk]:
    """The chunks of a splitter that drops white space, located."""
    rows = []
    for text in texts:
        words = re.findall(r"\S+\s*", text)
        rows.append(
            [
                "".join(words[i : i + size]).strip()
                if size % 3
                else " ".join("".join(words[i : i + size]).split())
                for i in range(0, len(words), size)
            ]
        )
    written = annotate_chunks(
        name,
        [
            SourcePart(text, row, number if len(texts) > 1 else None)
            for number, (text, row) in enumerate(zip(texts, rows, strict=True))
        ],
        just_split=True,
    )
    version = {DOC_VERSION: document_version("another splitter", texts)}
    return [
        StoredChunk(text, {**entry, **version})
        for row, entries in zip(rows, written, strict=True)
        for text, entry in zip(row, entries, strict=True)
    ]


def with_own_ids(chunks: Sequence[StoredChunk]) -> list[StoredChunk]:
    return [chunk._replace(id=str(uuid.uuid4())) for chunk in chunks]


# Damages: from chunks, those of the other version, and chance, to chunks.

Chunks = list[StoredChunk]


def _with(chunks: Chunks, at: int, **changes: Any) -> Chunks:
    made = list(chunks)
    made[at] = made[at]._replace(**changes)
    return made


def _set(chunk: StoredChunk, **entries: Any) -> StoredChunk:
    metadata = {**chunk.metadata, **entries}
    kept = {key: value for key, value in metadata.items() if value is not None}
    return chunk._replace(metadata=kept)


def _any(chunks: Chunks, rng: random.Random) -> int:
    return rng.randrange(len(chunks))


def cut(chunks: Chunks, other: Chunks, rng: random.Random) -> Chunks:
    at = _any(chunks, rng)
    text = chunks[at].text
    return _with(chunks, at, text=text[: rng.randrange(len(text) or 1)])


def bit_turned(chunks: Chunks, other: Chunks, rng: random.Random) -> Chunks:
    """One bit of a chunk was turned over where it is stored."""
    at = _any(chunks, rng)
    whole = json.dumps([chunks[at].text, chunks[at].metadata], ensure_ascii=False)
    while True:
        stored = bytearray(whole.encode())
        stored[rng.randrange(len(stored))] ^= 1 << rng.randrange(8)
        try:
            text, metadata = json.loads(stored)
        except ValueError:
            continue
        if all(key.isidentifier() for key in metadata):  # else no store would give it
            return _with(chunks, at, text=text, metadata=metadata)


def emptied(chunks: Chunks, other: Chunks, rng: random.Random) -> Chunks:
    if rng.random() < 0.2:
        return [chunk._replace(text="") for chunk in chunks]
    return _with(chunks, _any(chunks, rng), text="")


def texts_exchanged(chunks: Chunks, other: Chunks, rng: random.Random) -> Chunks:
    first, second = _any(chunks, rng), _any(chunks, rng)
    made = _with(chunks, first, text=chunks[second].text)
    return _with(made, second, text=chunks[first].text)


def replaced(chunks: Chunks, other: Chunks, rng: random.Random) -> Chunks:
    """Chunks of the other version that carry this one's `doc_version`, or their own."""
    made = list(chunks)
    for at in range(len(made)):
        if rng.random() < 0.4:
            own = other[min(at, len(other) - 1)]
            version = made[at].metadata.get(DOC_VERSION)
            made[at] = _set(own, doc_version=version) if rng.random() < 0.8 else own
    return made


def mixed(chunks: Chunks, other: Chunks, rng: random.Random) -> Chunks:
    """Some or all of the other version are left over."""
    return chunks + [chunk for chunk in other if rng.random() < rng.choice((0.5, 1))]


def parts_mixed(chunks: Chunks, other: Chunks, rng: random.Random) -> Chunks:
    """Of each part the chunks of one version, as a run that was broken off leaves."""
    parts = {chunk.metadata.get(PART_INDEX) for chunk in (*chunks, *other)}
    taken = {part for part in parts if rng.random() < 0.5}
    return [c for c in chunks if c.metadata.get(PART_INDEX) not in taken] + [
        c for c in other if c.metadata.get(PART_INDEX) in taken
    ]


def of_another_document(chunks: Chunks, other: Chunks, rng: random.Random) -> Chunks:
    """The chunk of another document took the place of one."""
    name = str(chunks[0].metadata.get("doc_uri"))
    foreign = by_ours(f"{name}, too", [text_of(rng) + text_of(rng)], 1)[0]
    own = {DOC_KEY: document_key(name), DOC_URI: name}
    if rng.random() < 0.8:
        foreign = foreign._replace(metadata={**foreign.metadata, **own})
    return [*chunks, foreign]


def lost(chunks: Chunks, other: Chunks, rng: random.Random) -> Chunks:
    gone = {_any(chunks, rng) for _ in range(rng.randint(1, 3))}
    return [chunk for at, chunk in enumerate(chunks) if at not in gone]


def tail_lost(chunks: Chunks, other: Chunks, rng: random.Random) -> Chunks:
    """As if the text ended earlier."""
    kept = chunks[: _any(chunks, rng)]
    return [_set(chunk, n_chunks=len(kept)) for chunk in kept]


def head_lost(chunks: Chunks, other: Chunks, rng: random.Random) -> Chunks:
    """As if the text began later."""
    kept = chunks[_any(chunks, rng) :]
    offset = int(kept[0].metadata.get(CHAR_START) or 0)
    return [
        _set(
            chunk,
            chunk_index=index,
            n_chunks=len(kept),
            char_start=max(0, int(chunk.metadata.get(CHAR_START) or 0) - offset),
            char_end=max(0, int(chunk.metadata.get(CHAR_END) or 0) - offset),
        )
        for index, chunk in enumerate(kept)
    ]


def repeated(chunks: Chunks, other: Chunks, rng: random.Random) -> Chunks:
    again = chunks[_any(chunks, rng)]
    return [*chunks, again if rng.random() < 0.5 else again._replace(text="again")]


def number_wrong(chunks: Chunks, other: Chunks, rng: random.Random) -> Chunks:
    at, key = _any(chunks, rng), rng.choice(NUMBERS)
    value = int(chunks[at].metadata.get(key) or 0) + rng.choice((-1, 1, 7))
    made = list(chunks)
    made[at] = _set(made[at], **{key: max(0, value)})
    return made


def number_lost(chunks: Chunks, other: Chunks, rng: random.Random) -> Chunks:
    at, made = _any(chunks, rng), list(chunks)
    made[at] = _set(made[at], **{rng.choice(NUMBERS): None})
    return made


def version_wrong(chunks: Chunks, other: Chunks, rng: random.Random) -> Chunks:
    version = rng.choice((None, "0a1b2c-0123456789", other[0].metadata[DOC_VERSION]))
    some = rng.choice((0.3, 1))
    return [
        _set(chunk, doc_version=version) if rng.random() < some else chunk
        for chunk in chunks
    ]


def stamp_wrong(chunks: Chunks, other: Chunks, rng: random.Random) -> Chunks:
    """That of the other version, or no true one."""
    key = rng.choice(STAMP_KEYS)
    made = list(chunks)
    for at, chunk in enumerate(chunks):
        if chunk.metadata.get(TEXT_HASH):
            length = int(chunk.metadata.get(TEXT_LENGTH) or 0) + rng.choice((-1, 1, 40))
            value: Any = max(0, length) if key == TEXT_LENGTH else f"{length:016x}"
            known = other[0].metadata.get(key, value)
            made[at] = _set(chunk, **{key: rng.choice((known, value))})
    return made


def stamp_lost(chunks: Chunks, other: Chunks, rng: random.Random) -> Chunks:
    gone: dict[str, Any] = dict.fromkeys(rng.choice((STAMP_KEYS, (TEXT_HASH,))))
    return [_set(chunk, **gone) for chunk in chunks]


def places_changed(chunks: Chunks, other: Chunks, rng: random.Random) -> Chunks:
    """Two chunks exchange all that says where they stand."""
    first, second = _any(chunks, rng), _any(chunks, rng)
    keys = rng.choice((NUMBERS, (CHUNK_INDEX,), (CHUNK_INDEX, PART_INDEX)))
    made = list(chunks)
    for at, by in ((first, second), (second, first)):
        entries = {key: chunks[by].metadata.get(key) for key in keys}
        made[at] = _set(chunks[at], **entries)
    return made


DAMAGES = (
    *(bit_turned, cut, emptied, texts_exchanged, replaced),
    *(mixed, parts_mixed, of_another_document, lost, tail_lost),
    *(head_lost, repeated, number_wrong, number_lost, version_wrong),
    *(stamp_wrong, stamp_lost, places_changed),
)
