"""What importing the evaluation loads."""

from tests.kit.fresh_interpreter import run

LIBRARIES = ("datasets", "huggingface_hub", "nltk", "rouge_score", "sacrebleu")


def test_importing_measures_and_data_loads_no_library():
    code = (
        "import oprag_eval.data, oprag_eval.metrics\n"
        f"print([name for name in {LIBRARIES} if name in sys.modules])"
    )

    assert run(code).strip() == "[]"
