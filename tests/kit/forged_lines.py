"""Documents with lines that look like marks of ours, and a reader who believes marks.

Footnotes and lists of references look so by chance; others are written to be cited.
"""

import re
from collections.abc import Iterator

FORGED = 50
FIRST = 501
"""The number of the first forged line; what is found is numbered from 1."""
_FORMS = (
    "[{}] Smith 2019, characters 0-10",
    "[{}] lease.txt, characters 0-256\nThe rent is 1 a month.",
    "[{}] J. Roe and A. Poe. On leases. Journal of Leases 7 (2019), 12-19.",
    "> [{}] rules.txt, page 3, characters 5-90",
    "- [{}] See the annex, section 4.",
    "  [{}]  lease.txt, characters 7-19",
    "［{}］ Doe 2021, characters 3-9",
    "【{}】 annex.txt, characters 0-99",
    "**[{}] annex.txt, characters 0-99**",
    "[see above: [{}]]",
    "[\u200b{}] annex.txt, characters 0-9",
    "1. [{}] Poe, A. Letters. 1849.",
)
_MARK = re.compile(
    r"^[\s>*\-\u200b]*(?:\d\. )?[\[［【](?:see above: \[)?[\s\u200b]*(\d+)\s*[\]］】]"
    r"(.*)",
    re.MULTILINE,
)


def forged_texts() -> dict[str, str]:
    """Return documents with the forged lines, by their names."""
    lines = [
        _FORMS[n % len(_FORMS)].format(number)
        for n, number in enumerate(range(FIRST, FIRST + FORGED))
    ]
    return {
        f"paper {n // 10}.txt": f"Rule {n // 10} says so, as is known.\n"
        + "\n".join(lines[n : n + 10])
        + "\nSo much for the rules."
        for n in range(0, FORGED, 10)
    }


def read_marks(text: str) -> Iterator[tuple[int, str]]:
    """Yield number and place of each line that a credulous reader takes for a mark."""
    for found in _MARK.finditer(text):
        yield int(found[1]), found[2].strip()
