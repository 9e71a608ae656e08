"""Random answers, made to collide: few words, in many spellings."""

import random

CASES = 1_000

WORDS = [
    *("the", "The", "a", "an", "An", "cat", "Cat", "cats", "sat", "sat,", "U.S.", "u"),
    *("s", "1,000", "1000", "don't", "(dog)", "dog.", "naïve", "nai\u0308ve", "—", "…"),
    *("«mat»", "mat", "on-line", "on", "line", "the-end", "_x_", "x", "Ἀθῆναι", "A."),
    *("北京", "B", "C;", "D", "a.m.", "½", "e\u0301", "É"),
]


def seeded(seed):
    """Give a random generator that is the same on every run."""
    return random.Random(seed)  # noqa: S311 -- test data, not secrets


def answers(seed, longest=6):
    """Give (prediction, references) pairs; some equal, some empty, some disjoint."""
    rng = seeded(seed)
    for _ in range(CASES):
        references = [_text(rng, longest) for _ in range(rng.randint(1, 3))]
        prediction = _text(rng, longest)
        if rng.random() < 0.3:
            words = rng.choice(references).split()
            words[rng.randint(0, len(words)) :] = _text(rng, 2).split()
            prediction = " ".join(words)
        yield prediction, references


def _text(rng, longest):
    blanks = (" ", " ", "  ", "\n", "\t", "\u00a0")
    words = rng.choices(WORDS, k=rng.randint(0, longest))
    return "".join(word + rng.choice(blanks) for word in words)
