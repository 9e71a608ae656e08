"""The contexts of generated cases are the recorded ones, on every run."""

import os
import subprocess
import sys

import pytest

from tests.laws.generated_contexts import recorded

_CHILD = """
import sys
from itertools import islice
from tests.laws.generated_contexts import cases, digests

first, count = map(int, sys.argv[1:])
print(*digests(islice(cases(first + count), first, None)))
"""


@pytest.mark.once
@pytest.mark.parametrize(("seed", "first"), [("0", 0), ("1", 1_000)])
def test_contexts_are_those_recorded_with_every_hash_seed(seed, first):
    run = subprocess.run(
        [sys.executable, "-c", _CHILD, str(first), "1000"],
        env={**os.environ, "PYTHONHASHSEED": seed},
        capture_output=True,
        check=True,
        text=True,
    )

    pairs = zip(recorded()[first:], run.stdout.split(), strict=False)
    differing = [n for n, (known, made) in enumerate(pairs, first) if known != made]
    assert differing == []
