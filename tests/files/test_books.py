"""Notebooks of real people: code that looks like Markdown."""

import json

from oprag.files import read_file
from oprag.splitting import find_headings


def test_only_notes_of_a_notebook_have_headings(tmp_path):
    fenced = "x = '''\n```\n# No heading\n```\n'''"
    output = {"output_type": "stream", "text": "# No heading either\n"}
    cells = [
        {"cell_type": "markdown", "source": "# Tides"},
        {"cell_type": "code", "source": fenced, "outputs": [output]},
        {"cell_type": "markdown", "source": ""},
        {"cell_type": "markdown", "source": "## Low"},
    ]
    (tmp_path / "a.ipynb").write_text(json.dumps({"cells": cells}))

    (book,) = read_file(tmp_path / "a.ipynb")

    named = [(each.start, each.heading) for each in book.landmarks if each.heading]
    assert named == [(0, "Tides"), (book.text.index("## Low"), "Tides > Low")]
    titles = [each.title for each in find_headings(book.text)]
    assert "No heading" not in titles
