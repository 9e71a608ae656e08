"""The doctor: can an index be put in order, what is wrong, how is it repaired."""

from typing import TYPE_CHECKING, Any

from oprag.diagnosing.verifiable import Verifiable

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
    "Verifiable",
    "Verification",
    "diagnose",
    "plan_repair",
    "unseen_store",
]


def __getattr__(name: str) -> Any:
    """Load the doctor when it is asked for; components have `Verifiable` at once."""
    if name not in __all__:
        message = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(message)
    from oprag.diagnosing import doctor, planning, report, verifying

    places = (doctor, planning, report, verifying)
    return next(getattr(place, name) for place in places if hasattr(place, name))
