"""The component for Langflow, in flows that Langflow's own engine runs."""

from pathlib import Path

import pytest

from oprag.tokens import resolve_token_counter
from tests.apps.environments import ROOT, outcome
from tests.kit.marked_text import inversions_by_text, marked_sections, marks

RECIPE = ROOT / "recipes" / "langflow" / "document_order.py"


@pytest.fixture(scope="module")
def texts(tmp_path_factory) -> list[str]:
    """Two files of one name."""
    folder = tmp_path_factory.mktemp("langflow")
    for number, name in enumerate(("old", "new")):
        (folder / name).mkdir()
        sections = marked_sections(100 * number, 12)
        (folder / name / "lease.md").write_text("\n\n".join(sections))
    return [str(folder / name / "lease.md") for name in ("old", "new")]


@pytest.fixture(scope="module")
def flow(installed, texts):
    """Runs the flow; gives its output."""
    programs = installed("langflow", ["lfx==1.13.0", "tiktoken>=0.8"])

    def run(ours: Path | None, *, connected: str = "yes", budget: int = 800):
        script = Path(__file__).with_name("langflow_flow.py")
        how = [connected, str(budget)]
        command = [programs / "python", script, RECIPE, *how, *texts]
        no_limit = {"LANGFLOW_RESTRICT_LOCAL_FILE_ACCESS": "false"}
        return outcome(command, ours, **no_limit)[0]

    return run


def test_what_was_found_is_read_in_document_order_within_the_budget(flow, ours):
    given = flow(ours)

    found = "\n\n".join(given["found"])
    assert sum(inversions_by_text(found).values()) > 0
    assert inversions_by_text(given["shown"]) == {0: 0, 1: 0}
    assert {*marks(given["shown"])} <= {*marks(found)}
    assert resolve_token_counter()(given["shown"]) <= 800
    assert "lease.md, characters " in given["shown"]


@pytest.mark.parametrize("missing", ["the package", "the files", "room"])
def test_where_something_is_missing_the_order_stays_and_is_logged(flow, ours, missing):
    if missing == "the package":
        given, said = flow(None), "pip install oprag"
    elif missing == "room":
        given, said = flow(ours, budget=1), "Put in no order: token_budget=1 holds no"
    else:
        given, said = (
            flow(ours, connected="no"),
            "kept the order as retrieved (missing_position)",
        )

    shown = marks(given["shown"])
    kept = marks("\n\n".join(given["found"]))[: len(shown)]
    if missing == "the files":  # the documents are known, and no place in them
        files = [section // 100 for section, _ in kept]
        kept.sort(key=lambda mark: files.index(mark[0] // 100))
    assert shown == kept
    assert said in given["logs"]
