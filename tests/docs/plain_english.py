"""Five habits that make prose hard to read, counted in the README and the docs.

`python -m tests.docs.plain_english` (`make check`) says how often each occurs for 1,000
words of prose, and fails if it is more than its limit. It prints the sentences to mend.
Code, addresses and the labels of list items do not count.
"""

import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
PAGES = (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))

_NOT_PROSE = re.compile(
    r"^```.*?^```$|^---.*?^---$|<!--.*?-->", re.MULTILINE | re.DOTALL
)
_IMAGE = re.compile(r"!\[([^\]]*)\]\([^)]*\)")
_LINK = re.compile(r"\[((?:[^\[\]]|\[[^\]]*\])*)\]\([^)\s]*\)")
_CODE = re.compile(r"`[^`]*`")
_LABEL = re.compile(r"^(?:[-*]|\d+\.)? *\*\*[^*]+\*\*(?: \([^)]*\))?: ")
_ENDS = re.compile(r"(?<=[.?!])[*_)\"]*\s+")


class Habit(NamedTuple):
    """A way to write that readers stumble over."""

    name: str
    limit: float
    """Times in 1,000 words of prose."""
    pattern: re.Pattern[str]

    def is_in(self, sentence: str) -> bool:
        """Say whether a sentence has it; questions may ask "what" and "where"."""
        return not sentence.endswith("?") and bool(self.pattern.search(sentence))


HABITS = (
    Habit('"what" as a noun', 0.5, re.compile(r"\bwhat(?:ever)? [a-z]", re.IGNORECASE)),
    Habit("colon and semicolon in one sentence", 0.1, re.compile(r": .*; |; .*: ")),
    Habit(
        '"where" for "if"',
        0.3,
        re.compile(
            r"\bwhere (?:an?|the|it|they|there|this|that|these|those|one|few|several"
            r"|no|nothing|nobody|something) ",
            re.IGNORECASE,
        ),
    ),
    Habit(
        '"as it is", "as they come"',
        0,
        re.compile(
            r"\bas (?:it|they) (?:is|are|was|were|comes?|came|stands?)\b", re.IGNORECASE
        ),
    ),
    Habit(
        '"of its own"',
        0,
        re.compile(r"\bof (?:its|their|your|our|one's) own\b", re.IGNORECASE),
    ),
)


def sentences(markdown: str) -> Iterator[str]:
    """Yield the sentences of a page: of its paragraphs, list items and table cells."""
    text = _NOT_PROSE.sub("\n\n", markdown)
    text = _LINK.sub(r"\1", _IMAGE.sub(r"\1", text))
    text = _CODE.sub("code", text)
    for paragraph in re.split(r"\n\s*\n|\n(?=\s*(?:[-*|#]|\d+\.) ?)", text):
        plain = " ".join(_LABEL.sub("", paragraph.strip()).split())
        for cell in plain.strip("|").split("|"):
            yield from (one.strip() for one in _ENDS.split(cell) if one.strip(" -:"))


def found(pages: Iterable[Path]) -> tuple[int, dict[Habit, list[str]]]:
    """Return the words of prose in pages, and the sentences that have each habit."""
    words = 0
    sentences_of: dict[Habit, list[str]] = {habit: [] for habit in HABITS}
    for page in pages:
        for sentence in sentences(page.read_text("utf-8")):
            words += len(sentence.split())
            for habit in HABITS:
                if habit.is_in(sentence):
                    sentences_of[habit].append(f"{page.name}: {sentence}")
    return words, sentences_of


def main() -> int:
    """Report the habits of all pages; return 1 if one is over its limit."""
    words, sentences_of = found(PAGES)
    failed = False
    for habit, places in sentences_of.items():
        rate = 1000 * len(places) / words
        sys.stdout.write(
            f"{habit.name}: {len(places)} in {words:,} words of prose, {rate:.2f} in "
            f"1,000 (at most {habit.limit})\n"
        )
        if rate > habit.limit:
            failed = True
            sys.stdout.write("".join(f"    {place}\n" for place in places))
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
