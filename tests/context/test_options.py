"""Options that are made once and used for every query."""

from __future__ import annotations

import pytest

from oprag.context import ContextOptions
from oprag.tokens import NamedTokenCounter, resolve_token_counter


@pytest.mark.parametrize(
    "spec", [None, "cl100k_base", "approximate", resolve_token_counter("o200k_base")]
)
def test_what_names_a_counter_stays_as_it_is(spec):
    options = ContextOptions(token_budget=5, token_counter=spec)

    assert options.counting_once() is options


def test_what_has_to_be_made_a_counter_is_made_one_once():
    options = ContextOptions(token_budget=5, token_counter=len, merge=True)
    once = options.counting_once()

    assert isinstance(once.token_counter, NamedTokenCounter)
    assert once.token_counter("four") == 4
    assert once.merge
    assert once.counting_once() is once
    assert options.token_counter is len
