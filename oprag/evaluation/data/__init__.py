"""The papers' data sets and a user's own, read into one form.

`load` takes a set by its name in `DATASETS`; `read_own` reads one's own questions
and documents; `make_passkey` generates. Each gives a `Dataset` of `Question`s and
`Document`s; texts of large sets are read when they are asked for. A malformed line
is an error with file and line, and a size that differs from the papers' is said.
"""

from oprag.evaluation.data.infinitebench import read_infinitebench
from oprag.evaluation.data.jsonl import read_jsonl
from oprag.evaluation.data.loading import DATASETS, load
from oprag.evaluation.data.longbench import read_longbench
from oprag.evaluation.data.longrag import read_longrag, read_longrag_corpus
from oprag.evaluation.data.narrativeqa import (
    read_narrativeqa_folder,
    read_narrativeqa_rows,
)
from oprag.evaluation.data.own import read_own
from oprag.evaluation.data.passkey import make_passkey
from oprag.evaluation.data.qasper import read_qasper
from oprag.evaluation.data.quality import read_quality
from oprag.evaluation.data.records import Dataset, Document, Question
from oprag.evaluation.data.rows import HeldRows, Row, Rows, TableRows

__all__ = [
    "DATASETS",
    "Dataset",
    "Document",
    "HeldRows",
    "Question",
    "Row",
    "Rows",
    "TableRows",
    "load",
    "make_passkey",
    "read_infinitebench",
    "read_jsonl",
    "read_longbench",
    "read_longrag",
    "read_longrag_corpus",
    "read_narrativeqa_folder",
    "read_narrativeqa_rows",
    "read_own",
    "read_qasper",
    "read_quality",
]
