"""The page of a run: one file that needs nothing else, and may run nothing else.

Its content security policy allows the one script and the one style sheet by their
hashes, and images that stand in the page itself.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from oprag.evaluation.counting import number_of
from oprag.evaluation.reports.measuring import title_of
from oprag.evaluation.reports.plots import Plot
from oprag.evaluation.reports.summary import Summary
from oprag.evaluation.reports.tables import Table
from oprag.optional import require

_FOLDER = Path(__file__).parent / "templates"


def as_page(
    summary: Summary,
    tables: Sequence[Table],
    plots: Sequence[Plot],
    questions: Mapping[str, Any],
) -> str:
    """Write the page.

    Args:
        summary: Of the run.
        tables: Of the summary.
        plots: Drawn as images inside the page.
        questions: As `page_data` gives them.

    Raises:
        MissingDependencyError: jinja2 is not installed.
    """
    jinja2 = require("jinja2", extra="eval", purpose="The report")
    utils = require("jinja2.utils", extra="eval", purpose="The report")
    environment = jinja2.Environment(
        autoescape=True,
        loader=jinja2.FileSystemLoader(_FOLDER),
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    script = (_FOLDER / "report.js").read_text("utf-8")
    style = (_FOLDER / "report.css").read_text("utf-8")
    page: str = environment.get_template("report.html.jinja").render(
        summary=summary,
        questions_asked=number_of(summary.questions, "question"),
        documents_asked=number_of(summary.documents, "document"),
        measure=title_of(summary.measure),
        settings={
            key: json.dumps(value, ensure_ascii=False, sort_keys=True)
            for key, value in sorted(summary.settings.items())
        },
        tables=tables,
        plots=[(plot, _data_url(plot.svg)) for plot in plots],
        # Escapes <, >, & and ', so that no text can end the element.
        questions=utils.htmlsafe_json_dumps(questions, separators=(",", ":")),
        script=script,
        style=style,
        script_hash=_hash(script),
        style_hash=_hash(style),
    )
    return page


def _data_url(svg: bytes) -> str:
    return f"data:image/svg+xml;base64,{base64.b64encode(svg).decode('ascii')}"


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode("utf-8")).digest()
    return f"sha256-{base64.b64encode(digest).decode('ascii')}"
