"""What importing the evaluation loads, and what it says when a library is missing."""

import pytest

from tests.fresh_interpreter import run

LIBRARIES = ("datasets", "huggingface_hub", "nltk", "rouge_score", "sacrebleu")


def test_importing_measures_and_data_loads_no_library():
    code = (
        "import oprag.evaluation.data, oprag.evaluation.metrics\n"
        f"print([name for name in {LIBRARIES} if name in sys.modules])"
    )

    assert run(code).strip() == "[]"


@pytest.mark.parametrize(
    ("library", "call"),
    [
        ("rouge_score", "metrics.rouge_l('a', ['a'])"),
        ("sacrebleu", "metrics.bleu('a', ['a'])"),
        ("nltk", "metrics.meteor('a', ['a'])"),
        ("datasets", "data.load('narrativeqa')"),
        ("huggingface_hub", "data.load('infinitebench/en.qa')"),
    ],
)
def test_a_missing_library_is_named_with_its_extra(library, call):
    code = (
        "from oprag.errors import MissingDependencyError\n"
        "from oprag.evaluation import data, metrics\n"
        f"try: {call}\n"
        "except MissingDependencyError as error: print(error.package, error.extra)"
    )

    assert run(code, without=[library]).split() == [library, "eval"]
