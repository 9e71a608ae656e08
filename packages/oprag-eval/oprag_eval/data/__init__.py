"""The papers' data sets and a user's own, read into one form.

`load` takes a set by its name in `DATASETS`; `read_own` reads your own questions
and documents; `make_passkey` generates. Each gives a `Dataset` of `Question`s and
`Document`s. A malformed line is an error with file and line, and a size that differs
from the papers' is said.
"""

from oprag_eval.data.loader import DATASETS, load
from oprag_eval.data.own import check_gold, read_own
from oprag_eval.data.passkey import make_passkey
from oprag_eval.data.records import Dataset, Document, Question

__all__ = [
    "DATASETS",
    "Dataset",
    "Document",
    "Question",
    "check_gold",
    "load",
    "make_passkey",
    "read_own",
]
