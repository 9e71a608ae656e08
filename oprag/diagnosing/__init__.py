"""The doctor: can an index be put in order, what is in the way, how it is repaired."""

from oprag.diagnosing.doctor import (
    Change,
    Diagnosis,
    Problem,
    RepairPlan,
    diagnose,
    plan_repair,
)

__all__ = [
    "Change",
    "Diagnosis",
    "Problem",
    "RepairPlan",
    "diagnose",
    "plan_repair",
]
