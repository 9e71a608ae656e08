"""The papers' data sets and a user's own, read into one form.

`load` takes a set by its name in `DATASETS`; `read_own` reads one's own questions
and documents; `make_passkey` generates. Each gives a `Dataset` of `Question`s and
`Document`s; texts of large sets are read when they are asked for. A malformed line
is an error with file and line, and a size that differs from the papers' is said.
"""

from oprag_eval.data.infinitebench import read_infinitebench
from oprag_eval.data.jsonl import read_jsonl
from oprag_eval.data.loading import DATASETS, load
from oprag_eval.data.longbench import read_longbench
from oprag_eval.data.longrag import read_longrag, read_longrag_corpus
from oprag_eval.data.narrativeqa import read_narrativeqa_rows
from oprag_eval.data.own import read_own
from oprag_eval.data.passkey import make_passkey
from oprag_eval.data.qasper import read_qasper
from oprag_eval.data.quality import read_quality
from oprag_eval.data.records import Dataset, Document, Question
from oprag_eval.data.rows import HeldRows, Row, Rows, TableRows

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
    "read_narrativeqa_rows",
    "read_own",
    "read_qasper",
    "read_quality",
]
