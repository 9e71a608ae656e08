"""The page, opened from disk in a real browser: it runs, and clicks work."""

import dataclasses
from concurrent.futures import ThreadPoolExecutor

import pytest

from oprag_eval.reports import write_reports
from tests.evaluation.reports.browsers import opened_browser, watched
from tests.evaluation.reports.runs import HOSTILE
from tests.evaluation.small import Replies, bench_of, ran, set_of_four, system

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def browser():
    with opened_browser() as opened:
        yield opened


@pytest.fixture
def page(browser, reported):
    url = (reported[0] / "report.html").as_uri()
    size = {"width": 1200, "height": 900}
    page = watched(browser.new_page(viewport=size), "data:", url)
    page.goto(url)
    yield page
    page.close()


def items(page):
    return page.locator("#list details")


def opened(item, *, answers):
    """Open a question and wait for its answers, which come with the next frame."""
    from playwright.sync_api import expect

    item.locator("summary").click()
    expect(item.locator("tbody tr")).to_have_count(answers)


def test_it_loads_without_an_error_or_a_request(page):
    assert page.title() == "ledgers: evaluation"
    assert page.locator("#tables table").count() == 3
    assert items(page).count() == 20
    sizes = page.evaluate(
        "[...document.images].map(i => [i.complete, i.naturalWidth > 100])"
    )
    assert sizes == [[True, True]] * 2
    assert page.troubles == []


def test_a_click_opens_a_question_with_its_answers_and_strips(page):
    first = items(page).first
    assert first.locator("svg").count() == 0
    opened(first, answers=6)

    assert first.locator("svg.strip").count() == 6
    # Every reader of this question got something, and each strip has the evidence.
    assert first.locator("svg rect.evidence").count() == 6
    assert first.locator("svg rect.piece").count() >= 6
    assert page.troubles == []


def test_a_passage_is_drawn_where_it_lay(page):
    """Evidence and passages by their share of the document's length."""
    opened(items(page).first, answers=6)
    found = page.evaluate(
        """() => {
          const data = JSON.parse(document.getElementById("data").textContent);
          const question = data.questions[0];
          const length = data.documents[question.documents[0]][1];
          const piece = question.answers[0][6][0];
          const row = document.querySelector("#list tbody tr");
          return {
            piece: [piece[1] / length, (piece[2] - piece[1]) / length],
            drawn: ["x", "width"].map(
              name => row.querySelector("rect.piece").getAttribute(name) / 1000),
            evidence: question.evidence[0][1] / length,
            marked: row.querySelector("rect.evidence").getAttribute("x") / 1000,
          };
        }"""
    )

    assert found["drawn"] == pytest.approx(found["piece"], abs=1e-6)
    assert found["marked"] == pytest.approx(found["evidence"], abs=1e-6)


def test_hostile_text_is_shown_and_not_run(page):
    first = items(page).first
    assert HOSTILE in first.locator("summary").inner_text()
    opened(first, answers=6)

    assert page.title() == "ledgers: evaluation"
    assert page.locator("b").count() == 0


def test_pages_follow_one_another(page):
    assert page.locator("#where").inner_text() == "page 1 of 3"
    assert page.locator("#previous").is_disabled()
    page.locator("#next").click()
    page.locator("#next").click()

    assert page.locator("#where").inner_text() == "page 3 of 3"
    assert items(page).count() == 5
    assert page.locator("#next").is_disabled()
    page.locator("#previous").click()
    assert page.locator("#where").inner_text() == "page 2 of 3"


def test_searching_and_choosing_show_less(page):
    page.locator("#search").fill("ship 3")
    assert page.locator("#found").inner_text() == "6 of 45 questions"
    page.locator("#system").select_option("dos-rag")
    opened(items(page).first, answers=2)
    page.locator("#budget").select_option("30")
    opened(items(page).first, answers=1)
    page.locator("#system").select_option("")
    page.locator("#budget").select_option("")
    page.locator("#search").fill("nothing of the kind")
    assert items(page).count() == 0
    assert page.locator("#where").inner_text() == "page 1 of 1"


def test_only_questions_that_answers_disagree_on(page, reported):
    page.locator("#differ").check()
    shown = int(page.locator("#found").inner_text().partition(" ")[0])
    expected = page.evaluate(
        """JSON.parse(document.getElementById("data").textContent).questions.filter(
          q => new Set(q.answers.map(a => a[3])).size > 1).length"""
    )

    assert 0 < shown == expected < 45


def test_a_narrow_screen_scrolls_tables_and_not_the_page(page):
    page.set_viewport_size({"width": 480, "height": 800})

    width = page.evaluate("document.documentElement.scrollWidth")
    assert width <= 480


@pytest.mark.parametrize(("style", "names"), [("letter", "AB"), ("brackets", "12")])
def test_options_are_named_as_they_were_asked_for(browser, tmp_path, style, names):
    dataset = set_of_four()
    asked = dataclasses.replace(dataset, questions=(dataset.questions[2],))
    bench = bench_of(Replies(lambda _: "[[2]]"), asked, answer_style=style)
    given = tmp_path, [system("dos-rag", "size=20")], [80], bench
    with ThreadPoolExecutor() as pool:  # the browser has this thread's event loop
        directory = pool.submit(ran, *given, answer_style=style).result()
    write_reports(directory, asked)
    page = browser.new_page()
    page.goto((tmp_path / "report.html").as_uri())
    opened(items(page).first, answers=1)
    found = page.locator("#list dt").all_text_contents()
    page.close()

    assert found[:2] == [name if style == "letter" else f"[[{name}]]" for name in names]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_stands_out_in_light_and_dark(browser, reported, scheme):
    page = browser.new_page(color_scheme=scheme)
    page.goto((reported[0] / "report.html").as_uri())
    opened(items(page).first, answers=6)
    contrasts = page.evaluate(CONTRASTS)
    paper = page.evaluate("getComputedStyle(document.body).backgroundColor")
    page.close()

    assert (paper == "rgb(255, 255, 255)") == (scheme == "light")
    assert contrasts
    assert min(contrasts.values()) >= 4.5, contrasts


CONTRASTS = """() => {
  const light = (text) => {
    const parts = text.match(/[\\d.]+/g).slice(0, 3).map((each) => {
      const share = each / 255;
      return share <= 0.03928 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2];
  };
  const behind = (element) => {
    for (let each = element; each; each = each.parentElement) {
      const found = getComputedStyle(each).backgroundColor;
      if (!/, 0\\)$/.test(found)) return found;
    }
    return "rgb(255, 255, 255)";
  };
  const found = {};
  const shown = "p, td, th, dt, dd, a, h1, h2, li, input, select, summary, .declined";
  for (const element of document.querySelectorAll(shown)) {
    const ink = light(getComputedStyle(element).color), paper = light(behind(element));
    const contrast = (Math.max(ink, paper) + 0.05) / (Math.min(ink, paper) + 0.05);
    const name = element.tagName + "." + element.className;
    found[name] = Math.min(found[name] ?? 99, contrast);
  }
  return found;
}"""


def test_without_a_model_there_is_no_answer_on_the_page(browser, tmp_path):
    dataset = dataclasses.replace(set_of_four(), questions=set_of_four().questions[:2])
    dataset = dataclasses.replace(dataset, metrics=("token_f1", "longrag_match"))
    given = (
        tmp_path,
        [system("dos-rag", "size=20")],
        [40, 80],
        bench_of(Replies(), dataset),
    )
    with ThreadPoolExecutor() as pool:
        directory = pool.submit(ran, *given, model="offline").result()
    write_reports(directory, dataset, measure="evidence_recall")
    page = watched(browser.new_page(), "data:", (tmp_path / "report.html").as_uri())
    page.goto((tmp_path / "report.html").as_uri())
    opened(items(page).nth(1), answers=2)
    heads = page.locator("#list details[open] th").all_text_contents()
    cells = page.locator("#list details[open] td").all_text_contents()
    results = page.locator("#tables thead").first.all_text_contents()
    troubles = page.troubles
    page.close()

    told = "passages hold the evidence"
    assert heads == ["system", "budget", told, "tokens read", "where in the text"]
    assert {"yes", "no"} & set(cells)
    assert told in results[0]
    assert "F1" not in results[0]
    assert "declined" not in results[0]
    assert troubles == []
