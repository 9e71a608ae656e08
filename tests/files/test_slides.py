"""Slides of real people: groups, charts, diagrams, struck and hidden text."""

from pathlib import Path
from typing import Any

import pytest
from lxml import etree
from pptx import Presentation
from pptx.chart.data import CategoryChartData, XyChartData
from pptx.enum.chart import XL_CHART_TYPE
from pptx.opc.constants import RELATIONSHIP_TYPE
from pptx.opc.package import Part
from pptx.opc.packuri import PackURI
from pptx.util import Inches

from oprag.files import read_file

_A = 'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"'
_P = 'xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main"'
_M = 'xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math"'
_MC = 'xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006"'
_D = "http://schemas.openxmlformats.org/drawingml/2006/diagram"
_R = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"


@pytest.fixture
def made() -> Any:
    return Presentation()


def slide_of(made: Any) -> Any:
    slide = made.slides.add_slide(made.slide_layouts[5])
    slide.shapes.title.text = "Tons"
    return slide


def box(slide: Any, text: str = "", left: int = 0) -> Any:
    shape = slide.shapes.add_textbox(left, 0, Inches(1), Inches(1))
    shape.text_frame.text = text
    return shape


def lines(made: Any, folder: Path) -> list[str]:
    made.save(folder / "a.pptx")
    (text,) = read_file(folder / "a.pptx")
    return [line for line in text.text.splitlines() if line][1:]


def test_text_is_read_as_it_is_seen(made, tmp_path):
    slide = slide_of(made)
    paragraph = box(slide).text_frame.paragraphs[0]
    for text, name, value in (
        ("10", "baseline", "0"),
        ("1", "baseline", "30000"),
        ("2", "baseline", "30000"),
        (" for ", "strike", "noStrike"),
        ("500", "strike", "sngStrike"),
        ("600 in ", "baseline", "0"),
    ):
        run = paragraph.add_run()
        run.text = text
        run.font._element.set(name, value)
    paragraph._p.append(
        etree.fromstring(f'<a:fld {_A} id="{{1}}" type="x"><a:t>May</a:t></a:fld>')
    )
    box(slide, "off the slide", left=-Inches(9))
    box(slide, "hidden")._element.nvSpPr.cNvPr.set("hidden", "1")
    box(slide.shapes.add_group_shape().shapes.add_group_shape(), "last")

    assert lines(made, tmp_path) == ["10^12 for 600 in May", "last"]


def test_a_hidden_shape_in_a_group_is_not_read(made, tmp_path):
    group = slide_of(made).shapes.add_group_shape()
    inner = group.shapes.add_group_shape()
    for text in ("Shown", "Secret"):
        shape = inner.shapes.add_textbox(0, 0, Inches(1), Inches(1))
        shape.text_frame.text = text
    shape._element.nvSpPr.cNvPr.set("hidden", "1")

    assert lines(made, tmp_path) == ["Shown"]


def test_equations_and_shapes_of_newer_versions_are_read(made, tmp_path):
    slide = slide_of(made)
    paragraph = box(slide, "Energy ").text_frame.paragraphs[0]._p
    math = f"<m:oMath {_M}><m:r><m:t>E=mc</m:t></m:r></m:oMath>"
    shape = (
        '<p:sp><p:nvSpPr><p:cNvPr id="8" name="t"/><p:cNvSpPr/><p:nvPr/></p:nvSpPr>'
        "<p:spPr/><p:txBody><a:bodyPr/><a:p><a:r><a:t>New</a:t></a:r></a:p></p:txBody>"
        "</p:sp>"
    )
    both = f"<mc:AlternateContent {_MC} {_P} {_A}><mc:Choice>{{}}</mc:Choice>"
    ending = "<mc:Fallback/></mc:AlternateContent>"
    paragraph.append(etree.fromstring(both.format(f"<a:m>{math}</a:m>") + ending))
    slide.shapes._spTree.append(etree.fromstring(both.format(shape) + ending))

    assert lines(made, tmp_path) == ["Energy E=mc", "New"]


def test_charts_keep_every_digit_and_both_axes(made, tmp_path):
    slide = slide_of(made)
    bars = CategoryChartData()
    bars.categories = ["1900", "1901"]
    bars.add_series("Coal", (1234567.5, None))
    points = XyChartData()
    series = points.add_series("Iron")
    series.add_data_point(1, 2)
    series.add_data_point(3, 4)
    where = (0, 0, Inches(1), Inches(1))
    kinds = XL_CHART_TYPE.COLUMN_CLUSTERED, XL_CHART_TYPE.XY_SCATTER
    chart, _ = (
        slide.shapes.add_chart(kind, *where, data).chart
        for kind, data in zip(kinds, (bars, points), strict=True)
    )
    chart.has_title = True
    chart.chart_title.text_frame.text = "Freight"

    shown = lines(made, tmp_path)

    assert shown[:3] == ["Freight", "|  | 1900 | 1901 |", "| Coal | 1234567.5 |  |"]
    assert [line.replace(".0", "") for line in shown[-2:]] == [
        "|  | 1 | 3 |",
        "| Iron | 2 | 4 |",
    ]


def test_struck_text_of_notes_is_not_read(made, tmp_path):
    frame = slide_of(made).notes_slide.notes_text_frame
    frame.text = "Rent"
    for text, value in ((" 500", "sngStrike"), (" 600", "noStrike")):
        run = frame.paragraphs[0].add_run()
        run.text = text
        run.font._element.set("strike", value)

    assert lines(made, tmp_path) == ["Notes: Rent 600"]


@pytest.mark.parametrize(
    ("form", "value", "shown"),
    [
        ("General", 45292, "45292"),
        ('#,##0 "days";[Red]-0', 45292, "45292"),
        ("0.00E+00", 45292, "45292"),
        ("[h]:mm", 1.5, "1.5"),
        (r"[$-409]d\-mmm\-yy;@", 45292, "2024-01-01"),
        ("mmmm", 45292, "2024-01-01"),
        ("m/d/yy h:mm", 45292.5, "2024-01-01 12:00:00"),
        ("h:mm AM/PM", 0.75, "18:00:00"),
        ("yyyy", 1e300, "1e+300"),
    ],
)
def test_a_number_of_a_chart_may_be_a_date(form, value, shown, made, tmp_path):
    lines_of = CategoryChartData(number_format=form)
    lines_of.categories = ["A"]
    lines_of.add_series("Coal", (value,))
    kind = XL_CHART_TYPE.LINE
    slide_of(made).shapes.add_chart(kind, 0, 0, Inches(1), Inches(1), lines_of)

    assert lines(made, tmp_path)[-1] == f"| Coal | {shown} |"


def test_a_date_of_a_chart_may_count_from_1904_and_one_point_may_be_one(made, tmp_path):
    given = CategoryChartData()
    given.categories = ["A", "B"]
    given.add_series("Coal", (1, 2))
    place = (0, 0, Inches(1), Inches(1))
    chart = slide_of(made).shapes.add_chart(XL_CHART_TYPE.LINE, *place, given).chart
    chart.element.find("{*}date1904").set("val", "1")
    next(chart.element.iter("{*}val")).find(".//{*}pt").set("formatCode", "d/m/yy")

    assert lines(made, tmp_path)[-1] == "| Coal | 1904-01-02 | 2 |"


def test_a_kind_of_chart_that_no_library_reads_is_read(made, tmp_path):
    bars = CategoryChartData()
    bars.categories = ["1900", "1901"]
    bars.add_series("Coal", (12, 13))
    kind = XL_CHART_TYPE.COLUMN_CLUSTERED
    slide = slide_of(made)
    chart = slide.shapes.add_chart(kind, 0, 0, Inches(1), Inches(1), bars).chart
    plot = next(each for each in chart.element.iter() if "barChart" in str(each.tag))
    plot.tag = plot.tag.replace("barChart", "bar3DChart")

    assert lines(made, tmp_path) == ["|  | 1900 | 1901 |", "| Coal | 12 | 13 |"]


def test_a_cell_over_several_rows_is_in_each(made, tmp_path):
    slide = slide_of(made)
    table = slide.shapes.add_table(2, 2, 0, 0, Inches(2), Inches(1)).table
    table.cell(0, 0).merge(table.cell(1, 0))
    for row, column, text in ((0, 0, "1900"), (0, 1, "12"), (1, 1, "13")):
        table.cell(row, column).text = text

    assert lines(made, tmp_path) == ["| 1900 | 12 |", "| 1900 | 13 |"]


def test_the_text_of_a_diagram_is_read(made, tmp_path):
    slide = slide_of(made)
    data = (
        f'<d:dataModel xmlns:d="{_D}" {_A}><d:ptLst><d:pt><d:t><a:p><a:r><a:t>First '
        "</a:t></a:r><a:r><a:t>step</a:t></a:r></a:p></d:t></d:pt><d:pt/></d:ptLst>"
        "</d:dataModel>"
    )
    name = PackURI("/ppt/diagrams/data1.xml")
    package = slide.part.package
    diagram = Part(name, "application/xml", package, data.encode())
    key = slide.part.relate_to(diagram, RELATIONSHIP_TYPE.DIAGRAM_DATA)
    slide.shapes._spTree.append(
        etree.fromstring(
            f"<p:graphicFrame {_P} {_A}><p:nvGraphicFramePr>"
            '<p:cNvPr id="9" name="d"/><p:cNvGraphicFramePr/><p:nvPr/>'
            '</p:nvGraphicFramePr><p:xfrm><a:off x="0" y="0"/><a:ext cx="1" cy="1"/>'
            f'</p:xfrm><a:graphic><a:graphicData uri="{_D}"><d:relIds xmlns:d="{_D}" '
            f'xmlns:r="{_R}" r:dm="{key}"/></a:graphicData></a:graphic>'
            "</p:graphicFrame>"
        )
    )

    assert lines(made, tmp_path) == ["First step"]


def test_paragraphs_of_a_slide_have_their_numbers(tmp_path):
    made = Presentation()
    slide = made.slides.add_slide(made.slide_layouts[6])
    frame = slide.shapes.add_textbox(0, 0, Inches(2), Inches(1)).text_frame
    shapes = [
        *((0, "arabicPeriod", "3"), (1, "alphaLcParenBoth", "1"), (1, "", "")),
        *((0, "arabicPeriod", "3"), (1, "alphaLcParenBoth", "1"), (0, "", "")),
        (0, "romanUcParenR", "4"),
    ]
    for number, (level, kind, start) in enumerate(shapes):
        paragraph = frame.paragraphs[0] if number == 0 else frame.add_paragraph()
        paragraph.text, paragraph.level = "It.", level
        if kind:
            numbers = paragraph._p.get_or_add_pPr().makeelement(
                "{http://schemas.openxmlformats.org/drawingml/2006/main}buAutoNum",
                {"type": kind, "startAt": start},
            )
            paragraph._p.pPr.append(numbers)
    made.save(tmp_path / "a.pptx")

    lines = read_file(tmp_path / "a.pptx")[0].text.splitlines()

    assert [line.removesuffix("It.").strip() for line in lines] == [
        *("3.", "(a)", "", "4.", "(a)", "", "IV)")
    ]
