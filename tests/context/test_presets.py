"""Named bundles of options."""

from __future__ import annotations

import pytest

from oprag.context import ContextOptions, FetchPlan, candidates_for
from oprag.context.presets import PRESETS
from oprag.errors import InvalidOptionError


def test_the_recall_preset_says_what_it_sets():
    options = ContextOptions.from_options({"preset": "recall"})
    assert (options.selection, options.merge) == ("expand", True)


def test_what_is_set_explicitly_holds():
    given = {"preset": "recall", "merge": False, "selection": "budget"}
    options = ContextOptions.from_options(given)
    assert (options.selection, options.merge) == ("budget", False)
    assert given == {"preset": "recall", "merge": False, "selection": "budget"}


def test_no_preset_changes_nothing():
    assert ContextOptions.from_options({"preset": None}) == ContextOptions()


@pytest.mark.parametrize("preset", ["recal", "", 3, ["recall"]])
def test_an_unknown_preset_is_an_error_that_names_the_known_ones(preset):
    with pytest.raises(InvalidOptionError, match=r"Known presets: 'recall'\."):
        ContextOptions.from_options({"preset": preset})


def test_a_presets_settings_cannot_be_written_to():
    with pytest.raises(TypeError):
        PRESETS["recall"]["merge"] = False


def test_stores_are_asked_for_enough_to_choose_from():
    assert candidates_for("budget") is None
    assert FetchPlan(1_500, candidates_for("budget")).k == 24  # 1500 / 64
    assert FetchPlan(1_500, candidates_for("segments")).k == 400
    assert FetchPlan(1_500, candidates_for("expand")).k == 1_200
    assert FetchPlan(100_000, candidates_for("expand")).k == 1_563  # 100000 / 64
