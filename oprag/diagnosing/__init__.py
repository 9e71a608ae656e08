"""The doctor: can an index be put in order, what is wrong, how is it repaired."""

import importlib as _importlib
from typing import TYPE_CHECKING, Any

from oprag.diagnosing.verified import Verified

if TYPE_CHECKING:
    from oprag.diagnosing.doctor import RepairPlan, diagnose, plan_repair
    from oprag.diagnosing.planning import Change
    from oprag.diagnosing.report import Diagnosis, Problem
    from oprag.diagnosing.verifying import Verification, unseen_store

__all__ = [
    "Change",
    "Diagnosis",
    "Problem",
    "RepairPlan",
    "Verification",
    "Verified",
    "diagnose",
    "plan_repair",
    "unseen_store",
]

_NAMES = {
    **dict.fromkeys(("RepairPlan", "diagnose", "plan_repair"), "doctor"),
    **dict.fromkeys(("Diagnosis", "Problem"), "report"),
    **dict.fromkeys(("Verification", "unseen_store"), "verifying"),
    "Change": "planning",
}


def __getattr__(name: str) -> Any:
    """Import a name when it is used: who only searches waits for no doctor."""
    if name not in _NAMES:
        message = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(message)
    return getattr(_importlib.import_module(f"{__name__}.{_NAMES[name]}"), name)
