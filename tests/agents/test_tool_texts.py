"""What a tool wrote besides its documents stays, character by character."""

import json
import random
import re

import pytest

from oprag.agents import show_in_place
from oprag.chunk import Hit
from oprag.context import CitationNumbers, ContextOptions, Seen
from oprag.tokens import resolve_token_counter
from tests.kit.effort import cases

LETTERS = "".join(chr(ord("a") + n * n % 26) for n in range(100))
SOURCES = {
    name: "".join(f"[{n}] kept {name}\n{LETTERS[n:]}{sign}"[:100] for n in range(12))
    for name, sign in (("a.txt", "."), ("b.txt", "!"))
}
"""Texts in hundreds, each with a line that begins as a place does."""
OPTIONS = ContextOptions(merge=True)
MARK = re.compile(
    r"(?m)^(?:\[(\d+)\] [ab]\.txt, characters \d+-\d+\n|\[…\]|\[see above: .*?\]\])"
)
NOTES = [
    *("Edition withdrawn, do not cite.", "2 of 3 indexes answered.", "", "cursor=eyJ8"),
    *("Confidential passages were removed.", "| 1 | 0.90 |", "— ★★★ —", "{}", "x" * 80),
]


def hit_at(name, start, size):
    text = SOURCES[name][start : start + size]
    return Hit(text, {"source": name, "start_index": start})


def make_hits(random):
    places = [
        (
            random.choice(["a.txt", "b.txt"]),
            100 * random.randrange(12) + random.choice([0, 0, 7]),
            random.randint(20, 90),
        )
        for _ in range(random.randint(1, 5))
    ]
    return [hit_at(*place) for place in dict.fromkeys(places)]


def note(random):
    return random.choice(NOTES)


def plain(random, hits):
    between = random.choice(["\n\n", "\n", "\n---\n", " ", ""])
    return between.join(hit.text for hit in hits)


def labelled(random, hits):
    return "".join(
        f"\nResult {n} (score 0.{99 - n}) {note(random)}\n{hit.text}\n{note(random)}"
        for n, hit in enumerate(hits)
    )


def table(random, hits):
    return "\n".join(
        f"| {n} | {hit.text} | {note(random)} |" for n, hit in enumerate(hits)
    )


def tagged(random, hits):
    return "\n".join(
        f"<doc {hit.metadata}>{hit.text}</doc>{note(random)}" for hit in hits
    )


def as_json(random, hits):
    rows = [
        {"text": hit.text, "score": n, "note": note(random)}
        for n, hit in enumerate(hits)
    ]
    return json.dumps(rows, ensure_ascii=random.random() < 0.5)


SHAPES = [plain, labelled, table, tagged, as_json]


def message(random, hits, shape):
    """A message, and whether it holds each document whole."""
    listed = [*hits]
    if random.random() < 0.4:
        random.shuffle(listed)
    if random.random() < 0.2:
        listed.append(random.choice(listed))
    content = shape(random, listed)
    if shape is not as_json:
        content = f"{note(random)}\n{content}\n{note(random)}"
    if random.random() < 0.1:
        cut = random.choice(hits).text
        content = content.replace(cut[: len(cut) // 2], "")
    return content


def without(content, texts):
    """The characters that are in no document."""
    for text in sorted(texts, key=len, reverse=True):
        content = content.replace(text, "")
    return content


def rest(read, passages):
    """What a reader who knows our marks finds besides them and the passages."""
    kept, at = "", 0
    while found := MARK.search(read, at):
        kept += read[at : found.start()]
        at = found.end()
        if found[1]:
            text = re.sub(r"(?m)^\[(\d+)\]", r"\\[\1]", passages.pop(int(found[1])))
            assert read.startswith(text, at)
            at += len(text)
    return kept + read[at:]


def squeezed(text):
    return "".join(text.split())


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.__name__)
def test_what_a_tool_wrote_besides_its_documents_stays(shape):
    rng = random.Random(shape.__name__)  # noqa: S311 -- no secret
    for _ in range(cases(400)):
        seen, numbers, read = Seen(), CitationNumbers(), set()
        for _ in range(rng.randint(1, 3)):
            hits = make_hits(rng)
            content = message(rng, hits, shape)
            told = show_in_place([content], hits, OPTIONS, seen, numbers)
            if told is None:
                continue
            for passage in told.shown:
                for span in passage.spans:
                    here = {(passage.document_name, n) for n in range(*span)}
                    assert here.isdisjoint(read)
                    read |= here
            texts = [hit.text for hit in hits]
            passages = {passage.number: passage.text for passage in told.shown}
            if shape is as_json:
                before, after = json.loads(content), json.loads(told.parts[0])
                told_texts = "\n".join(row.pop("text") for row in after)
                assert [row.pop("text") for row in before]
                assert not squeezed(rest(told_texts, passages))
                assert before == after
            else:
                expected = squeezed(without(content, texts))
                assert squeezed(rest(told.parts[0], passages)) == expected
            assert not passages


def shown(content, hits, seen=None, numbers=None, **options):
    seen = Seen() if seen is None else seen
    numbers = CitationNumbers() if numbers is None else numbers
    told = show_in_place(
        [content], hits, ContextOptions(merge=True, **options), seen, numbers
    )
    return told and told.parts[0]


LATE = Hit("They end.", {"source": "a.txt", "start_index": 90})
EARLY = Hit("They begin.", {"source": "a.txt", "start_index": 0})
BOTH = (
    "[1] a.txt, characters 0-11\nThey begin.\n\n[…]\n\n"
    "[2] a.txt, characters 90-99\nThey end."
)


def test_texts_that_nothing_tells_apart_are_put_in_order():
    written = shown("Withdrawn!\n\nThey end.\n\nThey begin.\n\n(1 of 2)", [LATE, EARLY])

    assert written == f"Withdrawn!\n\n{BOTH}\n\n(1 of 2)"


def test_places_in_another_order_than_the_passages_say_which_hold_their_text():
    content = "Result 1:\nThey end.\nResult 2:\nThey begin."
    seen, numbers = Seen(), CitationNumbers()

    first = shown(content, [LATE, EARLY], seen, numbers)
    again = shown(content, [LATE, EARLY], seen, numbers)

    assert (
        first == f"Result 1:\n{BOTH}\n\n[see above: [2]]\nResult 2:\n[see above: [1]]"
    )
    assert again == "Result 1:\n[see above: [2]]\nResult 2:\n[see above: [1]]"


def test_passages_in_the_order_of_their_places_are_written_there():
    content = "Result 1: They begin. (0.9)\nResult 2: They end. (0.8)"

    assert shown(content, [EARLY, LATE]) == (
        "Result 1: \n[1] a.txt, characters 0-11\nThey begin. (0.9)\n"
        "Result 2: \n[…]\n\n[2] a.txt, characters 90-99\nThey end. (0.8)"
    )


def test_places_that_a_tool_of_ours_wrote_are_written_anew():
    seen, numbers = Seen(), CitationNumbers()
    shown("They end.", [LATE], seen, numbers)

    assert shown(BOTH, [EARLY, LATE], seen, numbers) == (
        "[2] a.txt, characters 0-11\nThey begin.\n\n[see above: [1]]\n\n"
    )


@pytest.mark.parametrize(
    "content",
    ["They begin", "They begin. And", "It is said: they end.", "So they say They end."],
)
def test_a_message_without_the_whole_of_each_text_stays_as_it_is(content):
    assert shown(content, [EARLY, LATE]) is None


def test_a_budget_counts_what_the_tool_wrote_besides():
    count = resolve_token_counter("approximate")
    hits = [hit_at("a.txt", 100 * n + 30, 60) for n in range(9)]
    content = "Withdrawn in 2019, ask first!\n" + "\n\n".join(hit.text for hit in hits)
    for budget in range(60, 300, 20):
        written = shown(content, hits, token_budget=budget, token_counter="approximate")

        assert written.startswith("Withdrawn in 2019, ask first!\n[1] ")
        assert count(written) <= budget


def test_the_longest_text_is_replaced_where_one_is_in_another():
    outer = Hit("Due:\n30 days\n", {"source": "a.txt", "start_index": 0})
    inner = Hit("30 days", {"source": "a.txt", "start_index": 5})

    written = shown("Due:\n30 days\n", [outer, inner])

    assert written == "[1] a.txt, characters 0-13\nDue:\n30 days\n"
