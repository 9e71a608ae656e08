"""Questions in the formats of others: LlamaIndex, ragas, LangSmith.

LlamaIndex's `LabelledRagDataset`, as `save_json` writes it or as an object; ragas'
test sets, as `to_csv` and `to_jsonl` write them or as an object; LangSmith's data sets,
as JSON Lines, JSON or CSV, or a list of its examples.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from oprag.files import unreadable
from oprag_eval.data.rows import Rows, malformed

_QUESTIONS = ("query", "user_input", "input", "prompt")
_ANSWERS = (
    *("reference_answer", "reference", "ground_truth", "ground_truths", "output"),
    *("expected", "expected_output"),
)
_PASSAGES = ("reference_contexts", "passages")
_DOCUMENTS = ("source", "file", "file_name", "document_name")
_OF_OTHERS = frozenset(
    {
        *("query_by", "reference_answer_by", "synthesizer_name", "persona_name"),
        *("query_style", "query_length", "created_at", "modified_at", "dataset_id"),
        *("source_run_id", "split", "splits", "metadata", "attachments", "class_name"),
    }
)
"""Fields of these formats that say nothing of a question."""


def translate(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return a row of another format under our names; one of ours unchanged.

    Returns:
        Answers and gold passages as the lists `answers` and `passages`.
    """
    found = _flat(values)
    for ours, theirs in (
        *(("question", _QUESTIONS), ("document", _DOCUMENTS)),
        *(("answers", _ANSWERS), ("passages", _PASSAGES)),
    ):
        key = next((each for each in theirs if found.get(each) is not None), None)
        if key is not None and ours not in found and not _has_answer(ours, found):
            found[ours] = found.pop(key)
    for name in found.keys() & {"answers", "passages"}:
        found[name] = _listed(found[name])
    if "id" in found and "question_id" not in found:
        found["question_id"] = found.pop("id")
    return {key: value for key, value in found.items() if key not in _OF_OTHERS}


def _flat(values: Mapping[str, Any]) -> dict[str, Any]:
    """Bring LangSmith's inputs, outputs and metadata to one level."""
    found = dict(values)
    for name in ("inputs", "outputs"):
        if isinstance(inner := _read(found.get(name)), Mapping):
            del found[name]
            found = {**_single(name, inner), **found}
    if isinstance(metadata := _read(found.get("metadata")), Mapping):
        wanted = {"document", *_DOCUMENTS} & metadata.keys()
        found = {**{key: metadata[key] for key in wanted}, **found}
    return found


def _has_answer(ours: str, found: Mapping[str, Any]) -> bool:
    return ours == "answers" and "answer" in found


def _single(name: str, inner: Mapping[str, Any]) -> dict[str, Any]:
    """Name the only field of LangSmith's inputs or outputs, whatever it is called."""
    if len(inner) == 1:
        (value,) = inner.values()
        if isinstance(value, str):
            return {"question" if name == "inputs" else "answers": value}
    return dict(inner)


def _listed(value: Any) -> list[Any]:
    """Read a list that a CSV file holds as text, and one text as a list of one."""
    value = _read(value)
    if isinstance(value, str):
        return [value] if value.strip() else []
    return [*value] if isinstance(value, Iterable) else [value]


def _read(value: Any) -> Any:
    """Read a list or a mapping in a cell: JSON, or as Python writes it."""
    if not (isinstance(value, str) and value.strip()[:1] in {"[", "{"}):
        return value
    for reader in (json.loads, ast.literal_eval):
        try:
            return reader(value)
        except (ValueError, SyntaxError):
            continue
    return value


def json_document(path: Path) -> Rows:
    """Read a JSON file: a list of rows, or a mapping with the list `examples`."""
    try:
        held = json.loads(path.read_bytes())
    except OSError as error:
        raise unreadable(path, "cannot be read") from error
    except (ValueError, RecursionError) as error:
        raise malformed(str(path), None, f"no JSON: {error}") from error
    if isinstance(held, Mapping):
        held = held.get("examples", held.get("samples"))
    if not isinstance(held, list) or not all(isinstance(row, Mapping) for row in held):
        raise malformed(str(path), None, "it holds no list of questions")
    return Rows(str(path), list(enumerate(held, 1)))


def rows_of_object(questions: Any) -> Rows:
    """Read a data set of another library that is in memory."""
    held = getattr(questions, "examples", None) or getattr(questions, "samples", None)
    rows = [_values(each) for each in (questions if held is None else held)]
    return Rows(type(questions).__name__, list(enumerate(rows, 1)))


def _values(each: Any) -> Mapping[str, Any]:
    sample = getattr(each, "eval_sample", each)
    if isinstance(sample, Mapping):
        return sample
    if callable(dump := getattr(sample, "model_dump", None)):
        return dict(_given(dump()))
    if callable(dump := getattr(sample, "dict", None)):
        return dict(_given(dump()))
    return dict(_given(vars(sample)))


def _given(values: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for key, value in values.items():
        if value is not None:
            yield key, str(value) if key == "id" else value
