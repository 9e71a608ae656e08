"""Every measure on random answers, made to collide: its scores are what they were."""

import hashlib
import random
from collections.abc import Iterator
from types import SimpleNamespace

import pytest

from oprag_eval import metrics

SAID = """
the The a an An cat Cat cats sat sat, U.S. u s 1,000 1000 don't (dog) dog. naïve
nai\u0308ve — … «mat» mat on-line on line the-end _x_ x Ἀθῆναι A. 北京 B C; D a.m. ½
e\u0301 É [[1]] [[2]] Answer: answer: (C) **C** {C} not
"""
WORDS = [*SAID.split(), "answer is", "option is", "Oliver Twist"]
FIRST = {"gold_option": 0}
NO_WORDS = SimpleNamespace(synsets=lambda _: [])
"""A WordNet that is empty."""
GOLD = {"gold_letter": "C", "gold_text": "Oliver Twist"}


def text(drawn: random.Random, longest: int) -> str:
    blanks = (" ", " ", "  ", "\n", "\t", "\u00a0", "")
    words = drawn.choices(WORDS, k=drawn.randint(0, longest))
    return "".join(word + drawn.choice(blanks) for word in words)


def answers() -> Iterator[tuple[str, list[str]]]:
    """Predictions and references; some equal, some empty, some disjoint."""
    drawn = random.Random(7)  # noqa: S311 -- test data, not secrets
    for longest in [2, 6] * 500:
        references = [text(drawn, longest) for _ in range(drawn.randint(1, 3))]
        prediction = text(drawn, longest)
        if drawn.random() < 0.3:
            words = drawn.choice(references).split()
            words[drawn.randint(0, len(words)) :] = text(drawn, 2).split()
            prediction = " ".join(words)
        yield prediction, references


@pytest.mark.parametrize(
    ("measure", "options", "recorded"),
    [
        ("token_f1", {}, "57a04a3d0f94a1f0"),
        ("exact_match", {}, "a4efa59ddc11121a"),
        ("longrag_match", {}, "1459f68a5824355b"),
        ("answer_recall", {}, "6123551af1ce0fb6"),
        ("rouge_l", {}, "91fb7b89739bbbb8"),
        ("meteor", {"wordnet": NO_WORDS}, "72b3ef34afc706b8"),
        ("corpus_bleu", {"max_order": 1}, "312e7537f965d662"),
        ("corpus_bleu", {"max_order": 4}, "7e3f072f8b0176b8"),
        ("choice_match", {**GOLD, "rules": "official"}, "92946deb8b7c5f1e"),
        ("choice_match", {**GOLD, "rules": "fixed"}, "788318f6c9ab446d"),
        ("bracketed_match", {**FIRST, "rules": "official"}, "fd9d2ff805759a52"),
        ("bracketed_match", {"gold_option": 0, "rules": "fixed"}, "e88cbe67b20135f8"),
    ],
)
def test_scores_are_what_they_were(measure, options, recorded):
    score = getattr(metrics, measure)
    found = []
    for prediction, references in answers():
        if "match" in measure and "gold" in str(options):
            value = score(prediction, **options)
        elif measure == "corpus_bleu":
            value = score([prediction], [references], **options)
        else:
            value = score(prediction, references, **options)
        found.append(round(float(value), 9))

    assert len(set(found)) > 1
    digest = hashlib.sha256(repr(found).encode()).hexdigest()
    assert digest[:16] == recorded
