"""The site in a real browser: accessible, searched and moved without a network."""

from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest

from tests.evaluation.reports.browsers import watched

pytestmark = pytest.mark.browser

PAGES = ("index", "concepts", "indexing", "evidence", "reference/oprag")
WIDTHS = (1400, 390)

WIDER_THAN_THEIR_FRAME = """() => [
    ...document.querySelectorAll("article .md-typeset__scrollwrap, article td"),
].filter(
    (box) => box.scrollWidth > box.clientWidth + 1
        || box.getBoundingClientRect().right > innerWidth + 1,
).map((box) => box.innerText.slice(0, 40))"""


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


@pytest.fixture(scope="module")
def served(site):
    with ThreadingHTTPServer(
        ("127.0.0.1", 0), partial(Quiet, directory=site)
    ) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


@pytest.fixture(params=WIDTHS)
def page(browser, served, request):
    """An empty page."""
    size = {"width": request.param, "height": 900}
    page = watched(browser.new_page(viewport=size), served, "file:", "data:", "blob:")
    yield page
    page.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", PAGES)
def test_axe_finds_nothing_and_no_page_is_wider_than_the_screen(
    page, served, name, scheme
):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright")
    page.emulate_media(color_scheme=scheme)
    page.goto(f"{served}/{name}.html")
    page.wait_for_load_state("networkidle")

    results = axe.Axe().run(page)

    assert results.violations_count == 0, results.generate_report()
    width = page.evaluate("document.documentElement.scrollWidth")
    assert width == page.viewport_size["width"]
    assert page.troubles == []


def test_every_table_fits_its_frame_and_no_cell_is_cut(page, served, site):
    troubles = {}
    for path in sorted(site.rglob("*.html")):
        name = path.relative_to(site).as_posix()
        page.goto(f"{served}/{name}")
        page.wait_for_load_state("networkidle")
        found = page.evaluate(WIDER_THAN_THEIR_FRAME)
        if found:
            troubles[name] = found

    assert troubles == {}


def test_a_row_is_a_card_with_the_names_of_its_columns_on_a_narrow_screen(
    browser, served
):
    page = browser.new_page(viewport={"width": 390, "height": 900})
    page.goto(f"{served}/selection.html")

    row = page.get_by_role("row").filter(has_text="similarity_top_k").first
    cells = row.get_by_role("cell").all()
    lefts = {cell.bounding_box()["x"] for cell in cells}
    name = cells[-1].evaluate("cell => getComputedStyle(cell, '::before').content")

    assert len(cells) == 3
    assert len(lefts) == 1, "one below the other"
    assert name == '"meaning"'
    page.close()


@pytest.mark.parametrize("from_disk", [False, True], ids=["served", "from a folder"])
def test_the_search_finds_an_option(page, served, site, from_disk):
    from playwright.sync_api import expect

    page.goto((site.as_uri() if from_disk else served) + "/index.html")
    page.keyboard.press("/")
    page.keyboard.type("token_budget", delay=20)

    found = page.locator(".md-search-result__link")
    expect(found.filter(has_text="token_budget").first).to_be_visible(timeout=20_000)
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.wait_for_url("**/*.html?h=*")
    assert "token_budget" in page.locator("article").inner_text()
    assert page.troubles == []


def test_the_slider_is_moved_by_the_keyboard(page, served):
    page.goto(f"{served}/index.html")
    slider = page.get_by_label("Token budget")
    lists = [
        page.locator(f".budget-example ol.{order}") for order in ("rank", "document")
    ]

    def ranks():
        return [
            each.locator("li").evaluate_all("all => all.map(item => item.value)")
            for each in lists
        ]

    shown = ranks()
    slider.focus()
    page.keyboard.press("Home")
    assert slider.get_attribute("aria-valuetext") == "50 tokens"
    fewest = ranks()
    page.keyboard.press("End")
    assert slider.get_attribute("aria-valuetext") == "500 tokens"
    assert page.locator(".budget-example .limit").inner_text() == "500"
    most = ranks()

    assert len(fewest[0]) < len(shown[0]) < len(most[0])
    for by_score, by_place in (fewest, shown, most):
        assert by_score == sorted(by_place)
    assert most[1] != most[0]
    assert page.troubles == []


def test_without_javascript_one_budget_is_shown(browser, served):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(f"{served}/index.html")
    example = page.locator(".budget-example")

    assert "Within 200 tokens" in example.inner_text()
    assert example.locator("ol.document li").count() > 3
    assert not example.locator("input").is_visible()
    context.close()
