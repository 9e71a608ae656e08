"""Why questions were declined: the classes of Self-Route's paper, told by a model.

The question alone is judged, as it was asked: what is wanted is what made it hard to
retrieve for. So of a system that routes it counts what its first step declined,
whatever a later step made of it. Each such question is labelled once; the labels are
kept in the run's folder, so that labelling again asks only for new ones.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from typing import Any, Literal, TypeAlias, get_args

from oprag.files import LineFile
from oprag_eval.data import Dataset, Question
from oprag_eval.models import Call, Model
from oprag_eval.running.run_directory import RunDirectory
from oprag_eval.workers import map_concurrently

FailureClass: TypeAlias = Literal[
    "multi-step", "general", "long or complex", "implicit", "other", "unread"
]
"""`"multi-step"`: one search needs what another finds. `"general"`: no good query can
be made of it. `"long or complex"`: it asks much at once. `"implicit"`: the answer
follows from the whole and stands nowhere. `"unread"`: the model named none of these."""

FAILURE_CLASSES: tuple[FailureClass, ...] = get_args(FailureClass)
"""In the order of tables."""

_FILE = "failure_classes.jsonl"
_LONGEST_REPLY = 16

_LETTERS: dict[str, FailureClass] = {
    "A": "multi-step",
    "B": "general",
    "C": "long or complex",
    "D": "implicit",
    "E": "other",
}

_PROMPT = """\
A search engine looked for passages that answer a question about a long text, and what \
it found did not hold the answer. Say what makes the question hard to search for. \
Choose the first that fits:

A: several steps. A fact must be found before it is known what to search for next.
B: too general. It names nothing in particular that one could search for.
C: long or complex. It asks for many things, or sets many conditions, at once.
D: implicit. The answer stands nowhere in words; it follows from the whole text.
E: none of these.

Some questions that were judged before:

{examples}

Write the letter and nothing more. The question is material to judge; do not answer it.

<question>
{question}
</question>
Letter:"""

_EXAMPLES = (
    ("In which town was the author of the harbour's first chronicle born?", "A"),
    ("What does the committee think about the timetable?", "B"),
    (
        "Which unpaid engineer of 1890 proposed a tunnel, and how long, at what cost?",
        "C",
    ),
    ("Why does nobody in the village speak of the lighthouse any more?", "D"),
    ("Who directed the film that won in the year of the flood?", "A"),
    ("How did the mood at the end differ from that at the beginning?", "D"),
    ("Summarise what was said about costs.", "B"),
    ("What colour is the door of the mill?", "E"),
)
"""Questions of our own, with the letters that fit them: the paper's judge is shown
some that its authors judged."""

_DIGEST = hashlib.sha256((_PROMPT + repr(_EXAMPLES)).encode()).hexdigest()[:12]
"""Labels that other words asked for are asked again."""
_LETTER = re.compile(r"\W*([A-E])(?:\W*|\s*[:.)].*)", re.DOTALL)
"""A letter alone, or one that stands before a reason."""


async def label_declined(
    directory: RunDirectory, dataset: Dataset, model: Model, *, concurrency: int = 4
) -> dict[str, FailureClass]:
    """Label every question that some answer of a run, or its first step, declined.

    The labels go into `failure_classes.jsonl` with the model's name, and the next
    `write_reports` shows them. Those that another model gave are asked again.

    Args:
        directory: Of the run.
        dataset: The set that was asked.
        model: Labels; wrap it in `CappedModel` to bound what it takes.
        concurrency: Questions that are asked at a time.

    Returns:
        The class of each declined question, in the order of the set.

    Raises:
        ModelCallError: The model failed for good. What was labelled is kept.
        SpendingCapError: A cap was reached; the same.
    """
    declined = {a["question_id"] for a in directory.answers() if declined_first(a)}
    questions = [q for q in dataset.questions if q.question_id in declined]
    labels = {
        line["question_id"]: line["class"]
        for line in directory.lines(_FILE)
        if (line["model"], line["prompt"]) == (model.name, _DIGEST)
    }
    waiting = [q for q in questions if q.question_id not in labels]

    facts = {"model": model.name, "prompt": _DIGEST}

    def line_of(name: str) -> dict[str, str]:
        return {"question_id": name, "class": labels[name], **facts}

    examples = "\n".join(f"{asked}\nLetter: {fits}" for asked, fits in _EXAMPLES)

    async def label(question: Question) -> None:
        name = question.question_id
        prompt = _PROMPT.format(examples=examples, question=question.question)
        asked = {"question": question.question}
        reply = await model.complete(
            Call("failure_class", prompt, asked, max_output_tokens=_LONGEST_REPLY)
        )
        labels[name] = _read(reply.text)
        file.add(line_of(name))

    try:
        with LineFile(directory.path / _FILE) as file:
            await map_concurrently(label, waiting, at_once=concurrency)
    finally:
        ids = [q.question_id for q in questions if q.question_id in labels]
        directory.write_lines(_FILE, map(line_of, ids))
    return {name: labels[name] for name in ids}


def declined_first(answer: Mapping[str, Any]) -> bool:
    """Return whether retrieval failed an answer: what was retrieved was declined.

    Args:
        answer: A line of `answers.jsonl`. Of a system that routes the first step
            counts; in runs that did not keep it, and else, the answer.
    """
    if answer["route"] and answer.get("steps"):
        return bool(answer["steps"][0]["declined"])
    return not answer["answered"]


def read_labels(directory: RunDirectory) -> dict[str, FailureClass]:
    """Return the labels that a run has, by question; empty where there are none."""
    return {line["question_id"]: line["class"] for line in directory.lines(_FILE)}


def _read(reply: str) -> FailureClass:
    """Read the letter, or the one class that is named in words."""
    if match := _LETTER.fullmatch(reply):
        return _LETTERS[match[1]]
    named = [name for name in _LETTERS.values() if name in reply.lower()]
    return named[0] if len(named) == 1 else "unread"
