"""Replace the texts of documents in messages of tools, and nothing else.

A tool writes its documents as it likes: with labels, scores, a warning before them, a
cursor behind them, as JSON. Its other words are for the model to read, and their
meaning is not known here. So only the texts are looked for, and the new passages of
them are written in their places.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import NamedTuple

from oprag.agents.evidence import (
    TOO_LONG,
    ToolAnswer,
    see_above_line,
    write_new_passages,
)
from oprag.chunk import Hit, Passage
from oprag.context import (
    CitationNumbers,
    ContextOptions,
    Seen,
    cite_text,
    headers,
    read_passages,
)
from oprag.marks import GAP_MARK, LINE_ENDS, escape_marks
from oprag.tokens import resolve_token_counter

_Writing = Callable[[str], str]
_PLAIN: tuple[_Writing, ...] = (str,)
_QUOTED: tuple[_Writing, ...] = (
    lambda text: json.dumps(text, ensure_ascii=False)[1:-1],
    lambda text: json.dumps(text)[1:-1],
    lambda text: repr(text)[1:-1],
)
"""Forms in which tools write texts; one message has all in the same form."""
_OUR_GAP = re.compile(rf"{re.escape(GAP_MARK)}\s*\Z")
_BLANK = " \t"


class ToolText(NamedTuple):
    """A tool's message as a model is to read it."""

    parts: list[str]
    """Its texts, one for each that was given."""
    shown: Sequence[Passage]
    """The new passages in it, with their numbers."""


class _Slot(NamedTuple):
    """The place of a document's text in a message."""

    part: int
    start: int
    end: int
    hit: int
    """The document, by its place in the list."""


class _Found(NamedTuple):
    """All texts of documents in a message, in its order."""

    slots: list[_Slot]
    write: _Writing
    """How the message writes texts."""

    @property
    def inline(self) -> bool:
        """Whether texts are quoted, so that line ends in them are none."""
        return self.write is not str


def show_in_place(
    parts: Sequence[str],
    hits: Sequence[Hit],
    options: ContextOptions,
    seen: Seen,
    numbers: CitationNumbers,
) -> ToolText | None:
    """Replace the texts of documents in a tool's message by their new passages.

    All other characters stay, in their order. If words of the tool stand between the
    texts, each place says which passages hold its text.

    Args:
        parts: The texts of the message.
        hits: The documents, best first.
        options: As for `write_new_passages`; the budget is for all of the message, and
            the other words of the tool are never left out.
        seen: The text that the reader has read. The new passages are added.
        numbers: Those of the conversation. Those of the new passages are added.

    Returns:
        The message; None if it does not hold the text of each document. Then it stays
        unchanged.

    Raises:
        OpragError: See `write_new_passages`.
    """
    found = find_texts(parts, hits)
    if found is None:
        return None
    budget, counter = options.token_budget, resolve_token_counter(options.token_counter)
    room = budget
    while True:
        limited = replace(options, token_budget=room)
        evidence = write_new_passages(hits, limited, seen, numbers=numbers)
        written = _write_into_slots(
            parts, found, hits, evidence, seen, separator=options.separator
        )
        if budget is None or room is None:
            break
        excess = counter("\n".join(written)) - budget
        if excess <= 0 or not evidence.shown:
            break
        # Less than the passages shown now, so that the worst of them goes.
        room = max(1, min(room, counter(evidence.text)) - excess)
    seen.add(evidence.shown)
    numbers.add(evidence.shown)
    return ToolText(written, evidence.shown)


def find_texts(parts: Sequence[str], hits: Sequence[Hit]) -> _Found | None:
    """Find the places of the documents' texts in a message; None if one is missing."""
    if not any(hit.text.strip() for hit in hits):
        return None
    if (ours := _our_slots(parts, hits)) is not None:
        return _Found(ours, str)
    is_quoted = any(map(_is_json, parts))
    for write in (*_QUOTED, *_PLAIN) if is_quoted else (*_PLAIN, *_QUOTED):
        slots = _slots(parts, hits, write)
        if slots is not None:
            return _Found(slots, write)
    return None


def _is_json(part: str) -> bool:
    if part.lstrip()[:1] not in {"[", "{", '"'}:
        return False
    try:
        json.loads(part)
    except ValueError:
        return False
    return True


def _our_slots(parts: Sequence[str], hits: Sequence[Hit]) -> list[_Slot] | None:
    """Find texts after the places and gap marks that a tool of ours wrote."""
    if not any("] " in part for part in parts):
        return None
    slots, at, part = [], 0, 0
    for hit, passage in enumerate(read_passages(hits)):
        written = cite_text(hit + 1, passage)
        start = parts[part].find(written, at)
        while start < 0 and part + 1 < len(parts):
            part, at = part + 1, 0
            start = parts[part].find(written)
        if start < 0:
            return None
        end = start + len(written)
        gap = _OUR_GAP.search(parts[part], at, start)
        slots.append(_Slot(part, start if gap is None else gap.start(), end, hit))
        at = end
    return slots


def _slots(
    parts: Sequence[str], hits: Sequence[Hit], write: _Writing
) -> list[_Slot] | None:
    slots: list[_Slot] = []
    texts = {hit.text: n for n, hit in reversed([*enumerate(hits)])}
    for text in sorted(texts, key=len, reverse=True):
        if not text.strip():
            continue
        places = _places_of(write(text), texts[text], parts)
        places = places or _places_of(write(text.strip()), texts[text], parts)
        if not places:
            return None
        # A text may stand inside a longer one.
        slots += [each for each in places if not _overlaps(each, slots)]
    slots.sort()
    standing = [slot for slot in slots if _stands_alone(slot, slots, parts)]
    missing = {slot.hit for slot in slots} - {slot.hit for slot in standing}
    return None if missing else standing


def _places_of(written: str, hit: int, parts: Sequence[str]) -> list[_Slot]:
    places = []
    for part, content in enumerate(parts):
        end = 0
        while (start := content.find(written, end)) >= 0:
            end = start + len(written)
            places.append(_Slot(part, start, end, hit))
    return places


def _overlaps(slot: _Slot, others: Sequence[_Slot]) -> bool:
    return any(
        other.part == slot.part and other.start < slot.end and slot.start < other.end
        for other in others
    )


def _stands_alone(slot: _Slot, slots: Sequence[_Slot], parts: Sequence[str]) -> bool:
    """Return whether a text is no quotation inside one of the tool's sentences."""
    content = parts[slot.part]
    start, end = slot.start, slot.end
    while start and content[start - 1] in _BLANK:
        start -= 1
    while end < len(content) and content[end] in _BLANK:
        end += 1
    touching = {other.end for other in slots if other.part == slot.part}
    if content[max(start - 1, 0) : start].isalnum() and start not in touching:
        return False
    touching = {other.start for other in slots if other.part == slot.part}
    return not content[end : end + 1].isalnum() or end in touching


def _fill_alike(
    slots: Sequence[_Slot], pieces: Sequence[str], line: str
) -> list[list[str]]:
    """Put passages into the first places, in their order, and the line behind them."""
    fillings: list[list[str]] = [[] for _ in slots]
    last = len(slots) - 1
    for number, piece in enumerate(pieces):
        fillings[min(number, last)].append(piece)
    if line:
        fillings[min(max(len(pieces) - 1, 0), last)].append(line)
    return fillings


def _fill_labelled(
    found: _Found,
    hits: Sequence[Hit],
    evidence: ToolAnswer[Passage],
    seen: Seen,
    pieces: Sequence[str],
) -> list[list[str]]:
    """Say in each place which passages hold its text, and write them there.

    Passages are written in order; all go into the first place if the places have
    another order.
    """
    slots, shown = found.slots, evidence.shown
    older = _numbers_in(slots, hits, seen)
    newer = _numbers_in(slots, hits, Seen(shown))
    homes = []
    for passage in shown:
        holding = [n for n, numbers in enumerate(newer) if passage.number in numbers]
        homes.append(holding[0] if holding else 0)
    in_order = homes == sorted(homes)
    fillings: list[list[str]] = [[] for _ in slots]
    for home, piece in zip(homes, pieces, strict=True):
        fillings[home if in_order else 0].append(piece)
    nothing = evidence.line if evidence.line.startswith(TOO_LONG) else GAP_MARK
    for place, filling in enumerate(fillings):
        numbers = {*older[place], *newer[place]}
        if in_order:
            here = zip(shown, homes, strict=True)
            written = {passage.number for passage, home in here if home == place}
            if numbers and numbers <= written:
                continue
        filling.append(see_above_line(numbers) if numbers else nothing)
    return fillings


def _write_into_slots(
    parts: Sequence[str],
    found: _Found,
    hits: Sequence[Hit],
    evidence: ToolAnswer[Passage],
    seen: Seen,
    *,
    separator: str,
) -> list[str]:
    """Write passages, and lines for those further up, into their places."""
    shown = evidence.shown
    heads = headers(shown, separator=separator)
    pieces = [
        head + escape_marks(passage.text, separator)
        for head, passage in zip(heads, shown, strict=True)
    ]
    if _are_alike(parts, found.slots):
        fillings = _fill_alike(found.slots, pieces, evidence.line)
    else:
        fillings = _fill_labelled(found, hits, evidence, seen, pieces)
    return _fill_slots(parts, found, [separator.join(each) for each in fillings])


def _are_alike(parts: Sequence[str], slots: Sequence[_Slot]) -> bool:
    """Return whether no words of the tool tell one text from another.

    Blocks of a message do tell them apart: none may be left empty.
    """
    if len({slot.part for slot in slots}) > 1:
        return False
    content = parts[slots[0].part]
    between = [content[one.end : after.start] for one, after in pairwise(slots)]
    return len({*between}) <= 1 and not any(map(str.isalnum, "".join(between)))


def _numbers_in(
    slots: Sequence[_Slot], hits: Sequence[Hit], reader: Seen
) -> list[list[int]]:
    """Return, for each place, the numbers of passages that hold its text."""
    by_hit: dict[int, list[int]] = {}
    passages = read_passages(hits)
    for slot in slots:
        if slot.hit not in by_hit:
            _, read = reader.partition(passages[slot.hit].chunks)
            by_hit[slot.hit] = reader.numbers_of(read)
    return [by_hit[slot.hit] for slot in slots]


def _fill_slots(
    parts: Sequence[str], found: _Found, fillings: Sequence[str]
) -> list[str]:
    """Put texts into their places; a mark of ours begins a line."""
    written = [""] * len(parts)
    ends = [0] * len(parts)
    for slot, filling in zip(found.slots, fillings, strict=True):
        content = parts[slot.part][ends[slot.part] : slot.start]
        before = written[slot.part] + content
        begin = ""
        if filling and before and not found.inline and before[-1] not in LINE_ENDS:
            begin = "\n"
        written[slot.part] = before + begin + found.write(filling)
        ends[slot.part] = slot.end
    return [
        done + part[end:] for done, part, end in zip(written, parts, ends, strict=True)
    ]
