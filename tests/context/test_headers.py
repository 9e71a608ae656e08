"""Chunks with something before or behind their text, as contextual retrieval makes."""

import random
from itertools import pairwise

import pytest

from oprag import order_context
from oprag.errors import MissingPositionError, PositionError
from oprag.ordering import group_by_document

WORDS = ("river", "bell", "harbour", "tower", "rope", "gate", "night", "stone")
NAMES = ("a.txt", "b.txt", "c.txt")
SIZE, STEP = 300, 240


def source(name: str, length: int = 12_000, *, lines: int = 0) -> str:
    """Words in a random order; of so many different lines, or never the same."""
    draw = random.Random(name)  # noqa: S311 -- no secret
    made = [" ".join(draw.choices(WORDS, k=9)) + ".\n" for _ in range(lines or 999)]
    return "".join(made if not lines else draw.choices(made, k=999))[:length]


SOURCES = {name: source(name) for name in NAMES}
AROUND = {
    "one header": lambda name, text, _: f"From the file {name}: {text}",
    "a header each": lambda _, text, n: f"Part {n} is on {text.split()[5]}.\n\n{text}",
    "its first word": lambda _, text, n: f"Part {n}, {text.split()[0]}.\n\n{text}",
    "its title": lambda _, text, n: f"Section: {text.strip()[:60]}\n\n{text}",
    "a footer": lambda _, text, n: f"{text}\n(part {n})",
    "both": lambda name, text, n: f"[{n}] {text} -- {name}",
    "other white space": lambda _, text, n: f"Part {n}: " + " ".join(text.split()),
}


def hits(around, count: int, seed: int, sources=SOURCES):
    """Chunks as they are stored, and where each begins: of a random search."""
    made = []
    for name, text in sources.items():
        for number, start in enumerate(range(0, len(text), STEP)):
            stored = around(name, text[start : start + SIZE], number)
            made.append((stored, {"source": name, "start_index": start}))
    found = random.Random(seed).sample(made, count)  # noqa: S311 -- as above
    return [text for text, _ in found], [metadata for _, metadata in found]


def assert_in_order(passages, texts, metadatas):
    starts = {text: m["start_index"] for text, m in zip(texts, metadatas, strict=True)}
    for members in group_by_document(passages).values():
        begins = [starts[passage.text] for passage in members]
        assert all(a < b for a, b in pairwise(begins))
    assert len(passages) == len(texts)


@pytest.mark.parametrize("around", AROUND.values(), ids=AROUND)
@pytest.mark.parametrize("count", [6, 20, 100])
@pytest.mark.parametrize(
    "options", [{}, {"merge": True}, {"position_keys": "start_index"}]
)
def test_full_texts_prove_where_their_slice_stands(around, count, options):
    for seed in range(5):
        texts, metadatas = hits(around, count, seed)

        found = order_context(texts, metadatas, documents=SOURCES, **options)

        assert_in_order(found, texts, metadatas)
        for passage in found:
            ((start, end),) = passage.spans
            squeezed = "".join(SOURCES[passage.document_name][start:end].split())
            assert squeezed in "".join(passage.text.split())
            assert 2 * len(squeezed) > len("".join(passage.text.split()))
            assert not passage.exact


def test_where_the_text_repeats_itself_nothing_is_placed_wrongly():
    lines = {name: source(name, 4_000, lines=4) for name in NAMES}
    for seed in range(20):
        texts, metadatas = hits(AROUND["a header each"], 8, seed, lines)
        try:
            found = order_context(texts, metadatas, documents=lines)
        except PositionError:
            continue
        for passage in found:
            start = passage.chunks[0].metadata["start_index"]
            assert not passage.spans or 0 <= passage.spans[0].start - start <= 1


LEASE = """# One

The rent is due in May, and not before.
借家人は五月に家賃を払う、それより前には決して払わない。

# Two

The roof is of slate, laid in the year of the fire.

Summers are dry."""
ROOF = "The roof is of slate, laid in the year of the fire."
RENT = "借家人は五月に家賃を払う、それより前には決して払わない。"


@pytest.mark.parametrize(
    ("stored", "cut"),
    [
        ("From the lease of 1807, about its rooms.\n\n# Two", "# Two"),
        ("# Two\n\nKeywords: the roof, and what is on it", "# Two"),
        (f"{RENT} So much before.\n# Two\n\n{ROOF}", f"# Two\n\n{ROOF}"),
        (f"{ROOF}\n\nSource: a lease", ROOF),
        (f"賃貸{RENT}", RENT),
    ],
    ids=["long header", "long footer", "quoting", "same letter", "no white space"],
)
def test_a_slice_is_found_among_what_is_longer_or_alike(stored, cut):
    start = LEASE.index(cut)
    metadata = {"source": "a", "start_index": start}

    (passage,) = order_context([stored], [metadata], documents={"a": LEASE})

    assert passage.spans == ((start, start + len(cut)),)
    assert not passage.exact


@pytest.mark.parametrize("beside", [21, 20])
def test_a_line_that_the_text_repeats_is_where_recorded_if_what_is_beside_it_is(beside):
    text = "Rent: 5.\n\nTotal: 5.\n\nHeat: 7.\n\nTotal: 7.\n\nTotal: 5."
    lines = [("Heat: 7.", beside), ("Total: 5.", 10)]
    stored = [f"Of the lease, its sums.\n{line}" for line, _ in lines]
    metadatas = [{"source": "a", "start_index": start} for _, start in lines]

    if beside == text.index("Heat"):
        passages = order_context(stored, metadatas, documents={"a": text})
        assert [passage.rank for passage in passages] == [1, 0]
    else:
        with pytest.raises(MissingPositionError, match=r"more than once.*on_problem="):
            order_context(stored, metadatas, documents={"a": text})
