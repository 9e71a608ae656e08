"""Each example runs offline, as a program does, and asserts the order that was sent."""

import runpy

import pytest

from tests.examples import EXAMPLES, load_example

SUPPORT = {"contract", "offline_langchain", "offline_llamaindex"}
NAMES = sorted(path.stem for path in EXAMPLES.glob("*.py") if path.stem not in SUPPORT)


# LlamaIndex's agents use what pydantic and its own workflows deprecate, and warn that a
# memory that is given to a run is not saved with its Context.
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.filterwarnings("ignore:Skipping serialization of known")
@pytest.mark.parametrize("name", NAMES)
def test_the_model_is_sent_the_clauses_in_the_order_of_the_contract(name, capsys):
    load_example("contract")  # puts the folder on the path
    program = runpy.run_path(str(EXAMPLES / f"{name}.py"), run_name="__main__")
    assert capsys.readouterr().out

    sent = program["main"]()

    assert len(sent) > 1
    assert sent == sorted(sent)
