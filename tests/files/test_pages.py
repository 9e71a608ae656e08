"""Pages of real people: mistakes, tables, lists, fields, styles and encodings."""

import pytest

from oprag.files import read_file
from oprag.files.html import read_page

BODY = f"<p>{'The harbour opened in May, and a ship brought coal. ' * 6}</p>"


def read(page: str) -> str:
    return read_page(page.encode()).text


@pytest.mark.parametrize(
    "opened",
    [
        *("audio", "button", "canvas", "del", "iframe", "math", "noscript", "object"),
        *("s", "script", "select", "style", "svg", "template", "textarea", "title"),
        *("video", "!--", "body></html", "nav", "header", "b><i"),
    ],
)
def test_an_element_that_is_not_closed_takes_no_body(opened):
    text = read(f"<p>First {BODY}<{opened}><article>{BODY}</article>")

    assert text.count("brought coal") == 12


def test_what_stands_for_a_page_is_read_where_nothing_else_is():
    for tag in ("noscript", "template", "object"):
        assert read(f"<{tag}>{BODY}</{tag}>").count("coal") == 6
        assert "coal" not in read(f"{BODY.replace('coal', 'iron')}<{tag}>coal</{tag}>")


@pytest.mark.parametrize("tag", ["div", "b", "ul><li", "table><tr><td"])
def test_a_page_that_is_too_deep_is_read(tag):
    assert read(f"<{tag}>" * 3000 + BODY).count("coal") == 6


LONG = "A long note. " * 60
HEAD = "<tr><th>Year<th>Coal<th>Iron"


@pytest.mark.parametrize(
    ("table", "rows"),
    [
        (
            "<tr><td><h3>Year</h3><td><h3>Coal</h3><td><h3>Iron</h3><tr><td>1901<td><td>7",
            ["| 1901 | | 7 |"],
        ),
        (
            HEAD + "<tr><td>1900<td><pre>12</pre><td><form>5</form>",
            ["| 1900 | 12 | 5 |"],
        ),
        (
            HEAD + "<tr><td>1900<td><table><tr><td>May<td>3</table><td>5",
            ["| 1900 | May 3 | 5 |"],
        ),
        (
            HEAD + "<tr hidden><td>1899<tr><td>1900<td style='display:none'>9<td>1",
            ["| 1900 | 1 |"],
        ),
        (HEAD + "<tr><td>1900<td style='visibility:hidden'>9<td>1", ["| 1900 | | 1 |"]),
        (
            (
                "<tbody><tr><td>1900<td>12</tbody><tfoot><tr><td>Sum<td>12</tfoot>"
                "<thead><tr><th>Y<th>C</thead>"
            ),
            ["| Y | C |", "| 1900 | 12 |", "| Sum | 12 |"],
        ),
        (
            HEAD
            + "<tr><td>1901<td><td>"
            + "A long note. " * 60
            + "<tr><td>1902<td><td>7",
            ["| 1902 | | 7 |"],
        ),
        ("Tons" + HEAD + "<tr><td>1900<td>12<td>5", ["Tons", "| 1900 | 12 | 5 |"]),
        (HEAD + "<tr><td>1900<td><input value=12><td>5", ["| 1900 | 12 | 5 |"]),
        ("<tr><th rowspan=0>Coal<td>12<tr><td>13", ["| Coal | 12 |", "| Coal | 13 |"]),
        (HEAD + "<tr><td>10<sup>6</sup><td><s>1</s>2<td>3", ["| 10^6 | 2 | 3 |"]),
    ],
)
def test_a_value_stays_under_its_heading(table, rows):
    lines = read(f"<table>{table}</table>").splitlines()

    assert [line for line in lines if line in rows] == rows


@pytest.mark.parametrize(
    ("page", "lines"),
    [
        ("<ol start=3><li><p>Pay<li><p>Paint</ol>", ["3. Pay", "4. Paint"]),
        ("<ol style='list-style-type:lower-alpha'><li>Pay</ol>", ["a. Pay"]),
        ("<ol style='list-style:none'><li>(1) Pay</ol>", ["(1) Pay"]),
        (
            (
                "<style>ol.c > li{} ol.c{list-style: upper-roman inside}</style>"
                "<ol class=c><li>Pay<li>Go</ol>"
            ),
            ["I. Pay", "II. Go"],
        ),
        ("<ol><li>Rent<ol type=a><li>May</ol></ol>", ["1. Rent", "a. May"]),
    ],
)
def test_items_have_the_numbers_that_are_shown(page, lines):
    assert (
        read(page).split("\n") == [*filter(None, lines)]
        or [line for line in read(page).split("\n") if line] == lines
    )


@pytest.mark.parametrize(
    ("page", "text"),
    [
        ("10<span style='vertical-align:super'>6</span> a", "10^6 a"),
        ("10<sup>n+1</sup>", "10^(n+1)"),
        ("500<span style='text-decoration:line-through'>400</span>", "500"),
        ("infor&shy;mation co&#8203;al", "information coal"),
        ("<math><mfrac><mn>1</mn><mi>b</mi></mfrac><mn>10</mn></math>", "1/b10"),
        (
            "<input value=Ann> of <select><option>Rome<option selected>Paris</select>",
            "Ann of Paris",
        ),
        ("<select><option>Rome<option>Paris</select> it is", "Rome it is"),
        ("Seen <b style='transform: scale(0)'>secret</b>", "Seen"),
        ("<p style='BACKGROUND: navy'><b style='color:#fff'>Seen</b></p>", "Seen"),
        ("<input type=checkbox checked> Agreed", "☒ Agreed"),
        ("<input type=password value=no><input type=hidden value=no>Yes", "Yes"),
        ("<h3><button>How?</button></h3>So.", "### How?\n\nSo."),
    ],
)
def test_what_is_seen_of_a_page_is_read(page, text):
    assert read(f"<body><div>{page}</div>") == text


@pytest.mark.parametrize(
    "style",
    [
        *("display: none !important", "visibility:hidden", "opacity:0", "font-size:0"),
        *("position:absolute;left:-9999px", "text-indent:-9999px"),
        *("clip:rect(0 0 0 0);position:absolute", "height:0;overflow:hidden"),
        *("color:transparent", "color:#00000000", "color: rgba(0, 0, 0, 0)"),
        *("color:rgb(0 0 0 / 0%)", "font-size:0.0em", "content-visibility:hidden"),
        "filter: blur(1px) opacity(0)",
    ],
)
def test_what_is_not_seen_of_a_page_is_not_read(style):
    assert "no" not in read(f"{BODY}<p style='{style}'>no</p>").replace("not", "")


@pytest.mark.parametrize(
    "colour", ["rgb(0, 0, 0)", "#000000", "#100", "rgba(0,0,0,0.5)", "hsl(0 0% 0% / 1)"]
)
def test_a_colour_that_is_seen_hides_nothing(colour):
    assert "seen" in read(f"{BODY}<p style='color:{colour}'>seen</p>")


def test_of_rules_that_weigh_the_same_the_last_counts():
    hide, show = ".a{display:none}", ".b{display:block}"
    text = f"{BODY}<p class='a b'>unsure</p>"

    assert "unsure" in read(f"<style>{3 * hide}{show}</style>{text}")
    assert "unsure" not in read(f"<style>{3 * show}{hide}</style>{text}")


@pytest.mark.parametrize(
    ("rules", "seen"),
    [
        ("p.k {display:none}", False),
        ("#i {display:none}", False),
        ("div .k {display:none}", False),
        ("nav .k {display:none}", True),
        (".k {display:none} p.k {display:block}", True),
        (".k {display:none} .k.open {display:block}", False),
        (".k:hover {display:none}", True),
        (".k {display:none} p.k {text-decoration:none}", False),
        (".k {display:none !important} #i {display:block}", False),
        ("#i {display:none} .k {display:block!important}", True),
        (".k {display:block; display:none}", False),
        (".k {text-decoration:line-through} #i {text-decoration-line:none}", True),
        ("@media print {.k {display:none}}", True),
        ("@layer base {.k {display:none}}", False),
        ("/* .k {display:none} */", True),
        ("* {display:none} .k {display:block}", True),
        ("[hidden-thing] {display:none}", False),
        ("p[data-x='1'] {display:none}", False),
        ('p[data-x = "2"] {display:none}', True),
        ("div[data-x] {display:none}", True),
        ("div > [data-x=1] {display:none}", False),
        (".k[data-x][title] {display:none}", False),
        ('a, [title="a, b > c"] {display:none}', False),
        ("[title~='a,'] {display:none}", False),
        ("[title^='b'] {display:none}", True),
        ("[title^='a'] {display:none}", False),
        ("[title$='> c'] {display:none}", False),
        ("[title*='B >' i] {display:none}", False),
        ("[lang|=en] {display:none}", False),
        ("[lang|=e] {display:none}", True),
        ("[data-x*=''] {display:none}", True),
        ("[data-x] {display:none} p[data-x] {display:block}", True),
        (".k:not([data-y]) {display:none}", True),
        ("[x-cloak] {display:none}", True),
    ],
)
def test_the_styles_of_a_page_are_followed_where_they_are_certain(rules, seen):
    marks = "class=k id=i data-x=1 title='a, b > c' lang=en-GB hidden-thing x-cloak"
    page = f"<style>{rules}</style><div><p {marks}>shown or not</p></div>{BODY}"

    assert ("shown or not" in read(page)) is seen


@pytest.mark.parametrize(
    ("label", "codec", "word"),
    [
        ("gb2312", "gbk", "港口镕"),
        ("euc-kr", "cp949", "항구똠"),
        ("shift_jis", "cp932", "港①"),
        ("iso-8859-8-i", "iso8859_8", "שלום"),
        ("utf8mb4", "utf-8", "Café"),
        ("klingon", "utf-8", "Café"),
        ("us-ascii", "utf-8", "Café"),
        ("latin-1", "utf-8-sig", "Café"),
        ("utf-16", "utf-8", "Café"),
        ("gb2312", "utf-8", "港口在五月开放，轮船来了"),
        ("utf-8", "utf-16", "Café"),
    ],
)
def test_a_page_is_read_as_browsers_read_its_encoding(label, codec, word):
    page = f"<meta charset={label}><p>{word} and more</p>"

    assert read_page(page.encode(codec)).text == f"{word} and more"


@pytest.mark.parametrize(
    "last",
    [
        *("<figure><figcaption>The old pier.</figure>", "<address>Pier 5</address>"),
        *("<p>Total: <output>42 tons</output>", "</html><p>Postscript."),
        "<h2><a href=x>Linked</a></h2>Its text.",
    ],
)
def test_of_a_short_page_nothing_goes_but_what_is_marked(last):
    shown = read(f"<header>Log in</header>{BODY}{last}<footer>Imprint</footer>")

    assert shown.splitlines()[-1] in {"The old pier.", "Pier 5", "Total: 42 tons"} | {
        "Postscript.",
        "Its text.",
    }
    assert "Log in" not in shown


@pytest.mark.parametrize(
    ("written", "text"),
    [
        ("<ol type=a start=27><div><li>Pay<li>Paint</div></ol>", "aa. Pay\nab. Paint"),
        ("<ol style='list-style-type: decimal-leading-zero'><li>Pay</ol>", "01. Pay"),
        ("<ol style='list-style-type: lower-greek'><li value=2>Pay</ol>", "β. Pay"),
        ("Energy <script type='math/tex'>E=mc^2</script> is", "Energy E=mc^2 is"),
        ("So <img class=latex alt='x = 5'> is", "So x = 5 is"),
        (
            (
                "So <span><math><mi>a</mi><mo>+</mo><mi>b</mi></math>"
                "<span aria-hidden=true>a+b</span></span> is"
            ),
            "So a+b is",
        ),
        (
            "<table><tr><th>Door<th>Shut<tr><td>Back<td><img alt=yes></table>",
            "| Door | Shut |\n| Back | yes |",
        ),
        (
            (
                "<div role=table><div role=row><b role=columnheader>Year</b>"
                "<b role=columnheader>Coal</b><b role=columnheader>Iron</b></div>"
                "<div role=rowgroup><div role=row><b role=cell>1901</b>"
                "<b role=cell></b><b role=cell>7</b></div></div></div>"
            ),
            "| Year | Coal | Iron |\n| 1901 | | 7 |",
        ),
        (
            "<style>.up{vertical-align:super}</style>10<b class=up>6</b> units",
            "10^6 units",
        ),
    ],
)
def test_numbers_equations_and_cells_are_read_as_they_are_seen(written, text):
    assert read(written) == text


@pytest.mark.parametrize(
    "hidden",
    [
        "<style>.a > i{display:none}</style><b class=a><i>Secret</i></b>",
        "<style>@media screen{.a{display:none}}</style><i class=a>Secret</i>",
        "<p style='color: #fff; background: #fff'>Secret</p>",
    ],
)
def test_more_ways_to_hide_a_text(hidden):
    assert "Secret" not in read(hidden + BODY)


def test_a_rule_for_children_hides_no_grandchild():
    page = "<style>.a > i{display:none}</style><p class=a><b><i>Seen</i></b></p>"

    assert "Seen" in read(page + BODY)


def test_a_page_that_is_western_though_it_says_utf_8_is_read_as_western(tmp_path):
    path = tmp_path / "a.html"
    path.write_bytes("<meta charset=utf-8><p>Café à Genève".encode("cp1252"))

    [text] = read_file(path)

    assert text.text == "Café à Genève"
    assert text.notice == "it is not in UTF-8 as it says, and is read as Windows-1252"


def test_a_page_in_utf_8_with_a_wrong_byte_is_read_as_utf_8(tmp_path):
    path = tmp_path / "a.html"
    page = f"<meta charset=utf-8><p>Café {'à Genève ' * 50}".encode()
    path.write_bytes(page + b"\xe9")

    [text] = read_file(path)

    assert text.text.startswith("Café à Genève")
    assert text.text.endswith("\ufffd")
