"""The contexts of generated cases are the recorded ones, on every run, either way."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from oprag.context import Columns, ContextOptions
from oprag.context.columns import arranged
from oprag.errors import OpragError
from tests.laws.generated_contexts import BLOCK, N_RECORDED, RECORDED, cases

_CHILD = """
import json, sys
from oprag.context import columns
from tests.laws import generated_contexts

columns.IN_USE = sys.argv[1] == "columns"
json.dump(generated_contexts.blocks(int(sys.argv[2])), sys.stdout)
"""


@pytest.mark.slow
@pytest.mark.parametrize(("way", "seed"), [("columns", "0"), ("steps", "1")])
def test_contexts_are_those_recorded_in_columns_and_by_steps(way, seed):
    run = subprocess.run(
        [sys.executable, "-c", _CHILD, way, str(N_RECORDED)],
        env={**os.environ, "PYTHONHASHSEED": seed},
        capture_output=True,
        check=True,
        text=True,
    )

    pairs = zip(json.loads(RECORDED.read_text()), json.loads(run.stdout), strict=True)
    differing = [
        f"{through}, cases from {BLOCK * number} on"
        for number, (recorded, made) in enumerate(pairs)
        for through in recorded
        if made[through] != recorded[through]
    ]
    assert differing == []


def test_a_quarter_of_the_generated_cases_is_made_in_columns():
    made = 0
    for case in cases(200):
        columns = Columns(case.texts, case.texts, case.metadatas)
        try:
            options = ContextOptions.from_options(case.options)
            made += arranged(columns, options, list) is not None
        except OpragError:
            continue

    assert made >= 50
