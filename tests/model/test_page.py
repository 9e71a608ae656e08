"""A real model's answer, while it comes, on the page of `oprag play`."""

import pytest

from tests.cli.play.test_page_in_browser import ask, browser, open_tab, program
from tests.evaluation.small import MILL

__all__ = ["browser", "open_tab"]

pytestmark = pytest.mark.browser


def test_an_answer_streams_into_the_page(
    recorder, asked, open_tab, tiny_model, tmp_path, monkeypatch
):
    monkeypatch.setattr(recorder, "pause", 0.1)  # a page is drawn less often
    (tmp_path / "mill.txt").write_text(MILL)
    model = ["--model", "openai:smollm2", "--embedding-model", tiny_model]
    files = [tmp_path / "mill.txt", "--directory", tmp_path / "index"]
    model += ["--decline", "tool"]  # by the word, two sentences are held back
    with program(tmp_path, *files, *model) as url:
        page = open_tab(url)
        ask(page, "What does the mill do?")
        page.get_by_role("tab", name="Answer").click()
        page.evaluate(
            """() => {
              window.seen = [];
              const look = () => window.seen.push(
                document.querySelector(".op-answer")?.textContent ?? "");
              const how = { childList: true, characterData: true, subtree: true };
              new MutationObserver(look).observe(document.body, how);
            }"""
        )
        page.get_by_role("button", name="Answer", exact=True).click()
        page.get_by_text("The full documents alone").wait_for(timeout=60_000)

        said = asked[-1].text
        seen = page.evaluate("[...new Set(window.seen)]")
        assert page.locator(".op-answer").text_content() == said
        assert len([text for text in seen if text and said.startswith(text)]) > 3
        assert page.troubles == []
