"""The doctor: can an index be put in order, what is wrong, how is it repaired."""

from oprag.diagnosing.doctor import RepairPlan, diagnose, plan_repair
from oprag.diagnosing.first_look import FirstLook
from oprag.diagnosing.repair import Change
from oprag.diagnosing.report import Diagnosis, Problem
from oprag.diagnosing.verification import (
    Verifiable,
    VerifiableOver,
    Verification,
    list_verified_stores,
)

__all__ = [
    "Change",
    "Diagnosis",
    "FirstLook",
    "Problem",
    "RepairPlan",
    "Verifiable",
    "VerifiableOver",
    "Verification",
    "diagnose",
    "list_verified_stores",
    "plan_repair",
]
