"""The prompts of the long reader."""

from __future__ import annotations

from oprag.calls import CONTEXT_PART

LONG_PROMPT = (
    CONTEXT_PART
    + """
Find the places that bear on the question, then answer it in one to three sentences. \
Keep names, numbers and dates as the text writes them.

Question: {question}
Answer:"""
)
"""The prompt of the first call: the units and the question."""

DIRECT_PROMPT = (
    CONTEXT_PART
    + """
Write the answer alone, in as few words as it takes: a name, a number, a date, yes or \
no, with no sentence around it.

Question: {question}
Answer:"""
)
"""The prompt of the one call that a short context takes."""

SHORT_PROMPT = """\
Here are a question and a long answer to it. Take the short answer out of the long \
one: the fewest of its words that answer the question, a name, a number, a date, yes \
or no, with no sentence around it.

Question: how many moons does the planet mars have
Long answer: Mars has two moons, Phobos and Deimos. Both are small and were found in \
1877.
Short answer: two

Question: Which river flows through Vienna, Budapest and Belgrade?
Long answer: The three capitals lie on the Danube, which goes on to the Black Sea.
Short answer: the Danube

Question: when did the first passenger railway with steam engines open
Long answer: The Stockton and Darlington Railway opened on 27 September 1825 and \
carried passengers behind a steam engine from its first day.
Short answer: 27 September 1825

Question: Is the Caspian Sea larger than Lake Superior?
Long answer: Yes. The Caspian Sea covers some 370,000 square kilometres and Lake \
Superior about 82,000, so the Caspian Sea is more than four times as large.
Short answer: yes

Question: who wrote the opera the magic flute
Long answer: The Magic Flute was composed by Wolfgang Amadeus Mozart in 1791, to a \
text by Emanuel Schikaneder.
Short answer: Wolfgang Amadeus Mozart

Question: What is the chemical symbol of tungsten?
Long answer: Tungsten is also called wolfram, and its symbol, W, comes from that name.
Short answer: W

Question: Which has more sides, a heptagon or a hexagon?
Long answer: A heptagon has seven sides and a hexagon six, so the heptagon has more.
Short answer: a heptagon

Question: where do monarch butterflies from eastern canada spend the winter
Long answer: In autumn they fly south as far as the mountain forests of central Mexico \
and stay there until March.
Short answer: the mountain forests of central Mexico

Question: {question}
Long answer: {long_answer}
Short answer:"""
"""The prompt of the second call: eight examples, as in the paper, the question and the
long answer alone."""

PROMPT_VARIABLES = {
    "long": ("context", "question"),
    "short": ("question", "long_answer"),
    "direct": ("context", "question"),
}
"""Variables that each prompt has to hold, by the call's name."""
