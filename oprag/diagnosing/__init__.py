"""The doctor: can an index be put in order, what is wrong, how is it repaired."""

from oprag.diagnosing.doctor import RepairPlan, diagnose, plan_repair
from oprag.diagnosing.planning import Change
from oprag.diagnosing.report import Diagnosis, Problem

__all__ = ["Change", "Diagnosis", "Problem", "RepairPlan", "diagnose", "plan_repair"]
