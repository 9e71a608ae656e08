"""Reports of a run from its files and the set, without a model: tables, plots, a page.

`write_reports(directory, dataset)` scores the answers and writes `scores.jsonl`,
`summary.json`, `plots/*.svg` and `report.html`. The same answers give the
same bytes.
"""

from oprag_eval.reports.summaries import write_reports
from oprag_eval.reports.summary import ArmSummary, Summary
from oprag_eval.statistics import Figure

__all__ = ["ArmSummary", "Figure", "Summary", "write_reports"]
