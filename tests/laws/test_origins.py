"""Positions are compared only where they count from the same text."""

import random
from typing import Any

import pytest

from oprag import order_context
from oprag.context import write_place
from oprag.errors import PositionError
from tests.kit.effort import cases

_SIZE = 50
_IDS = [f"{n:08}-0000-4000-8000-000000000000" for n in range(4)]


def document(draw: random.Random) -> tuple[list[tuple[str, dict[str, Any], int]], bool]:
    """Chunks with their true places, and whether their positions can be compared.

    The offsets count in the document, a numbered page, a section, a parent or a text
    that a framework made an id up for.
    """
    kind = draw.choice(["whole", "page", "section", "parent", "made up", "page of ids"])
    count = 1 if kind == "whole" else draw.randint(1, 4)
    made, used = [], set()
    for number in range(count):
        for at in draw.sample(range(6), draw.randint(1, 3)):
            start = at * _SIZE
            text = f"text {number} at {at} ".ljust(_SIZE, draw.choice("xyz"))
            metadata: dict[str, Any] = {"source": "guide.md", "start_index": start}
            if kind in {"page", "page of ids"}:
                metadata["page"] = number
            if kind == "section":
                metadata["Header 1"] = f"S{number}"
            if kind in {"parent", "made up", "page of ids"}:
                key = "doc_id" if kind == "parent" else "ref_doc_id"
                metadata[key] = _IDS[number]
            used.add(number)
            made.append((text, metadata, number * 1000 + start))
    draw.shuffle(made)
    return made, kind in {"whole", "page", "page of ids"} or len(used) == 1


def test_an_order_is_the_true_one_or_is_refused():
    for seed in range(cases(400)):
        draw = random.Random(seed)  # noqa: S311 -- the same cases each time
        chunks, comparable = document(draw)
        texts, metadatas, places = zip(*chunks, strict=True)

        if not comparable and len(chunks) > 1:
            with pytest.raises(PositionError) as caught:
                order_context(texts, metadatas)
            assert caught.value.kind == "unscoped_position", seed
            continue
        passages = order_context(texts, metadatas)
        found = [places[texts.index(passage.text)] for passage in passages]
        assert found == sorted(places), seed


def test_a_result_in_the_whole_text_is_never_ordered_beside_a_chunk_of_a_page():
    for seed in range(cases(200)):
        draw = random.Random(seed)  # noqa: S311 -- the same cases each time
        pages = ["".join(draw.choices("abcdefgh. ", k=300)) for _ in range(3)]
        hits = []
        for page in draw.sample(range(3), 2):
            at = draw.randrange(0, 250)
            metadata = {"source": "a.pdf", "page": page, "start_index": at}
            hits.append((pages[page][at : at + 40], metadata))
        (text, metadata), other = hits
        whole = {"a.pdf": "\n\n".join(pages)}
        (found,) = order_context([text], [metadata], documents=whole)
        result = write_place(found, metadata)

        if found.part is None:  # placed in the whole text
            with pytest.raises(PositionError):
                order_context([text, other[0]], [result, other[1]])
        else:
            assert len(order_context([text, other[0]], [result, other[1]])) == 2
