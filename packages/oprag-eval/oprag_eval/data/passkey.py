"""PassKey and its two variants: why results on synthetic data mislead."""

from __future__ import annotations

import random
from typing import Literal, TypeAlias

from oprag.chunk import Span
from oprag_eval.data.records import Dataset, Document, Question
from oprag_eval.data.rows import finish

PasskeyVariant: TypeAlias = Literal["literal", "reworded", "larger"]

_QUESTIONS = {
    "literal": "What is the passkey?",
    "reworded": "What is the special token hidden in the text?",
    "larger": "Which passkey is larger, the first or the second?",
}
_METRICS = {
    "literal": ("first_number_match",),
    "reworded": ("first_number_match",),
    "larger": ("exact_match", "longrag_match"),
}
_FILLER = (
    "The lamps along the harbour were lit before the rain began.",
    "A cart went by with baskets of pears and nobody looked up.",
    "Somebody had left a window open on the upper floor.",
    "The baker counted the coins twice and closed the drawer.",
    "Gulls stood in a row on the roof of the customs house.",
    "It was warm for the season and the road was dry.",
    "Two boys were mending a net beside the lower gate.",
    "The clock in the square had stopped some years ago.",
    "A dog slept in the shade of the wall until noon.",
    "Letters came on Tuesdays, when the ferry could land.",
    "The old bridge creaked a little under every wagon.",
    "Smoke rose straight up from the chimneys across the bay.",
)
_LOWEST, _HIGHEST = 100_000, 999_999


def make_passkey(
    variant: PasskeyVariant,
    *,
    questions: int = 100,
    characters: int = 400_000,
    seed: int = 0,
) -> Dataset:
    """Generate a PassKey set: a number hidden in a long text without meaning.

    `"literal"` asks for the passkey by that word. `"reworded"` hides the same
    sentence and asks for *the special token hidden in the text*, so that nothing in
    the question resembles it. `"larger"` hides two and asks which is larger; the
    answer is *first* or *second*. Question i of n hides a sentence at
    the depth i / n of its text; the other key of `"larger"` lies anywhere.

    Args:
        variant: See above.
        questions: How many, each with its own document.
        characters: Length of a document, to the end of the sentence; the default
            is about 100K tokens.
        seed: The same seed gives the same set on every machine.

    Source:
        Self-Route (arXiv:2407.16833), section 5.4, after ∞Bench's PassKey. Texts and
        questions are worded anew.
    """
    documents, asked = {}, []
    for number in range(questions):
        rng = random.Random(f"passkey {seed} {variant} {number}")  # noqa: S311 -- data
        doc_id = f"passkey-{variant}-{number}"
        keys = rng.sample(range(_LOWEST, _HIGHEST + 1), 2 if variant == "larger" else 1)
        text, spans = _hide(keys, number / questions, characters, rng)
        documents[doc_id] = Document(doc_id, "", text)
        answer = str(keys[0])
        if variant == "larger":
            answer = "first" if keys[0] > keys[1] else "second"
        asked.append(
            Question(
                f"{doc_id}-q", (doc_id,), _QUESTIONS[variant], (answer,), evidence=spans
            )
        )
    return finish(
        f"passkey/{variant}",
        asked,
        documents,
        path=f"passkey/{variant}",
        metrics=_METRICS[variant],
    )


def _hide(
    keys: list[int], depth: float, characters: int, rng: random.Random
) -> tuple[str, tuple[Span, ...]]:
    """Return a text with the keys in their order, and the spans of their sentences."""
    filler: list[str] = []
    length = 0
    while length < characters:
        filler.append(rng.choice(_FILLER))
        length += len(filler[-1]) + 1
    places = [int(depth * len(filler)), *(rng.randrange(len(filler)) for _ in keys[1:])]
    sentences = [f"The passkey is {key}. Remember it: {key}." for key in keys]
    if len(keys) > 1:
        places.sort()
        sentences = [
            f"The {place} passkey is {key}. Remember it: {key}."
            for place, key in zip(("first", "second"), keys, strict=True)
        ]
    for place, sentence in reversed(list(zip(places, sentences, strict=True))):
        filler.insert(place, sentence)
    text = " ".join(filler)
    starts = [text.index(sentence) for sentence in sentences]
    spans = zip(starts, sentences, strict=True)
    return text, tuple(Span(at, at + len(said)) for at, said in spans)
