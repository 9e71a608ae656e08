"""The prompts of the long reader, and the examples of its second call."""

from __future__ import annotations

from typing import NamedTuple

from oprag.calls import CONTEXT_PART
from oprag.errors import invalid_option

LONG_PROMPT = (
    CONTEXT_PART
    + """
Find the places that bear on the question, then answer it in one to three sentences. \
Keep names, numbers and dates as the text writes them.

Question: {question}
Answer:"""
)
"""Of the first call: the units and the question."""

DIRECT_PROMPT = (
    CONTEXT_PART
    + """
Write the answer alone, in as few words as it takes: a name, a number, a date, yes or \
no, with no sentence around it.

Question: {question}
Answer:"""
)
"""Of the one call that a short context takes."""

SHORT_PROMPT = """\
Here are a question and a long answer to it. Take the short answer out of the long \
one: the fewest of its words that answer the question, a name, a number, a date, yes \
or no, with no sentence around it.

{examples}Question: {question}
Long answer: {long_answer}
Short answer:"""
"""Of the second call: the question and the long answer alone."""

PROMPT_VARIABLES = {
    "long": ("context", "question"),
    "short": ("examples", "question", "long_answer"),
    "direct": ("context", "question"),
}
"""What each prompt has to hold, by the call's name."""


class ShortAnswerExample(NamedTuple):
    """One example of the second call."""

    question: str
    long_answer: str
    short_answer: str


EXAMPLES = (
    ShortAnswerExample(
        "how many moons does the planet mars have",
        "Mars has two moons, Phobos and Deimos. Both are small and were found in 1877.",
        "two",
    ),
    ShortAnswerExample(
        "Which river flows through Vienna, Budapest and Belgrade?",
        "The three capitals lie on the Danube, which goes on to the Black Sea.",
        "the Danube",
    ),
    ShortAnswerExample(
        "when did the first passenger railway with steam engines open",
        "The Stockton and Darlington Railway opened on 27 September 1825 and carried "
        "passengers behind a steam engine from its first day.",
        "27 September 1825",
    ),
    ShortAnswerExample(
        "Is the Caspian Sea larger than Lake Superior?",
        "Yes. The Caspian Sea covers some 370,000 square kilometres and Lake Superior "
        "about 82,000, so the Caspian Sea is more than four times as large.",
        "yes",
    ),
    ShortAnswerExample(
        "who wrote the opera the magic flute",
        "The Magic Flute was composed by Wolfgang Amadeus Mozart in 1791, to a text by "
        "Emanuel Schikaneder.",
        "Wolfgang Amadeus Mozart",
    ),
    ShortAnswerExample(
        "What is the chemical symbol of tungsten?",
        "Tungsten is also called wolfram, and its symbol, W, comes from that name.",
        "W",
    ),
    ShortAnswerExample(
        "Which has more sides, a heptagon or a hexagon?",
        "A heptagon has seven sides and a hexagon six, so the heptagon has more.",
        "a heptagon",
    ),
    ShortAnswerExample(
        "where do monarch butterflies from eastern canada spend the winter",
        "In autumn they fly south as far as the mountain forests of central Mexico and "
        "stay there until March.",
        "the mountain forests of central Mexico",
    ),
)
"""Eight, of the kinds that questions mostly are; the first ones are used first."""


def format_examples(number: int) -> str:
    """Write the first examples, each with a blank line behind it.

    Args:
        number: How many, 0 to 8.

    Returns:
        The text for `{examples}`; empty for 0.

    Raises:
        InvalidOptionError: There are not as many.
    """
    if type(number) is not int or not 0 <= number <= len(EXAMPLES):
        takes = f"It takes a whole number from 0 to {len(EXAMPLES)}."
        raise invalid_option("examples", number, takes)
    return "".join(
        f"Question: {example.question}\n"
        f"Long answer: {example.long_answer}\n"
        f"Short answer: {example.short_answer}\n\n"
        for example in EXAMPLES[:number]
    )
