"""Short texts that repeat themselves, cut by windows whose places are known."""

import random
from typing import NamedTuple


class Cut(NamedTuple):
    source: str
    spans: list[tuple[int, int]]

    @property
    def texts(self) -> list[str]:
        return [self.source[start:end] for start, end in self.spans]


def cut_text(rng: random.Random) -> Cut:
    """Cut a text of few words into windows of one size or several; some overlap."""
    words = rng.choice([["word"], ["a", "b"], ["ab", "c", "abc"], list("abcdefgh")])
    count = rng.randint(1, 14)
    if rng.random() < 0.5:
        words = (rng.choices(words, k=rng.randint(1, 4)) * count)[:count]
    else:
        words = rng.choices(words, k=count)
    if rng.random() < 0.3:  # some of it comes once
        words.insert(rng.randint(0, count), "only here")
    source = rng.choice(["", " ", " \n"]).join(words)
    size = rng.randint(1, 12)
    overlap = rng.choice([0, rng.randint(0, size - 1)])
    varied = rng.random() < 0.4
    spans: list[tuple[int, int]] = []
    start = 0
    while not spans or spans[-1][1] < len(source):
        end = min(start + (rng.randint(1, size) if varied else size), len(source))
        # No splitter makes a chunk that adds nothing but white space to the one before.
        last = spans[-1][1] if spans else 0
        adds = source[last:end].strip() or not source[start:end].strip()
        if not spans or (end > last and adds):
            spans.append((start, end))
        start = max(start + 1, end - overlap)
    return Cut(source, spans)


def permutations_of(rng: random.Random, number: int, count: int) -> list[list[int]]:
    """The order as it was; each pair of neighbours exchanged; and random ones."""
    orders = [list(range(number))]
    for at in range(number - 1):
        order = list(range(number))
        order[at : at + 2] = order[at + 1], order[at]
        orders.append(order)
    return orders + [rng.sample(range(number), number) for _ in range(count)]
