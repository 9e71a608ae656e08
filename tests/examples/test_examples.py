"""Each example runs offline, as a program, and asserts the order the model was sent."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.examples import EXAMPLES, load_example

SUPPORT = {"contract", "offline_langchain", "offline_llamaindex"}
NAMES = sorted(path.stem for path in EXAMPLES.glob("*.py") if path.stem not in SUPPORT)


# LlamaIndex's agents use what pydantic and its own workflows deprecate.
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("name", NAMES)
def test_the_model_is_sent_the_clauses_in_the_order_of_the_contract(name):
    sent = load_example(name).main()

    assert len(sent) > 1
    assert sent == sorted(sent)


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_it_runs_as_a_program(name):
    done = subprocess.run(
        [sys.executable, str(EXAMPLES / f"{name}.py")],
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, done.stderr
    assert done.stdout
