"""The fields of one's own questions: which are known, misspelt, or not used."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Sequence

from oprag.errors import MalformedDataError
from oprag.evaluation.data.rows import Row, malformed

_PLAIN = ("question", "question_id", "document", "doc_id", "file", "answer", "correct")
_NUMBERED = re.compile(r"answer_\d+|option_[a-z]")
ONLY_JSON = (
    "answers",
    "doc_ids",
    "evidence",
    "evidence_kind",
    "evidence_text",
    "gold_option",
    "options",
)
"""Fields that are read from JSON lines only."""
_ALIKE = 0.83
"""From here on a name is taken for a misspelt one: one letter of six, or two changed
round, but not `answer_id` for `answer_2`."""


def own_fields(rows: Sequence[Row], *, is_csv: bool) -> tuple[list[Row], list[str]]:
    """Give the fields the names that they are read by.

    Args:
        rows: Of the file.
        is_csv: Whether the names are the heading, which is line 1.

    Returns:
        The rows, with small letters and `_` for spaces in the names that are known;
        and the names that are not, each once, in the order they are come upon.

    Raises:
        MalformedDataError: A name looks like a known one misspelt, two are the same,
            there is no `question`, or CSV has what only JSON Lines can have.
    """
    found = []
    unused: dict[str, None] = {}
    for row in rows:
        line = 1 if is_csv else row.line
        names: dict[str, str] = {}
        for name in row.values:
            known = _known(name, row.path, line, is_csv=is_csv)
            if known in names:
                reason = f"{names[known]!r} and {name!r} are the same field"
                raise malformed(row.path, line, reason)
            names[known or name] = name
            if known is None and name.strip():
                unused[name] = None
        if "question" not in names:
            raise _no_question(row.path, line, row.values)
        values = {known: row.values[name] for known, name in names.items()}
        found.append(Row(values, row.path, row.line, row.place))
    return found, list(unused)


def _known(name: str, path: str, line: int | None, *, is_csv: bool) -> str | None:
    """The name that a field is read by; None: it is not known."""
    folded = "_".join(name.casefold().split())
    if folded in _PLAIN or _NUMBERED.fullmatch(folded):
        return folded
    if folded in ONLY_JSON:
        if not is_csv:
            return folded
        reason = (
            f"{name!r} is read from JSON Lines only; CSV has answer, answer_2, … and "
            "option_a, option_b, …, correct"
        )
        raise malformed(path, line, reason)
    known = (*_PLAIN, "answer_2", "option_a", *(() if is_csv else ONLY_JSON))
    if alike := difflib.get_close_matches(folded, known, n=1, cutoff=_ALIKE):
        reason = f"{name!r} looks like {alike[0]!r} misspelt; give it another name"
        raise malformed(path, line, reason)
    return None


def _no_question(
    path: str, line: int | None, names: Iterable[str]
) -> MalformedDataError:
    listed = ", ".join(map(repr, names)) or "none"
    return malformed(path, line, f"it has no field 'question' (fields found: {listed})")
