"""A real model's two answers, while they come, on the page of `oprag play`."""

import pytest

from tests.cli.play.pages import ask, browser, open_tab, program

__all__ = ["browser", "open_tab"]

pytestmark = pytest.mark.browser

THINGS = ("wheel", "miller", "river", "bread", "donkey", "roof")
PARAGRAPHS = [
    f"The {thing} of the mill is the matter of part {number}. "
    + " ".join(f"In year {year} the {thing} was mended." for year in range(1901, 1906))
    for number, thing in enumerate(THINGS, start=1)
]
"""A chunk each, so that there is an order."""


def test_two_answers_of_the_same_passages_stream_into_the_page(
    recorder, asked, open_tab, tiny_model, tmp_path, monkeypatch
):
    monkeypatch.setattr(recorder, "pause", 0.1)  # a page is drawn less often
    (tmp_path / "mill.txt").write_text("\n\n".join(PARAGRAPHS))
    model = ["--model", "openai:smollm2", "--embedding-model", tiny_model]
    files = [tmp_path / "mill.txt", "--directory", tmp_path / "index"]
    with program(tmp_path, *files, *model) as url:
        page = open_tab(f"{url}/?q=%E2%80%A6&token_budget=500&merge=False")
        page.locator(".op-strip button").first.wait_for(timeout=60_000)
        page.evaluate(
            """() => {
              window.seen = { rank: [], document: [] };
              const look = () => {
                for (const order of ["rank", "document"]) {
                  const column = `[aria-labelledby=op-${order}] .op-answer`;
                  const shown = document.querySelector(column)?.textContent;
                  if (shown) window.seen[order].push(shown);
                }
              };
              const how = { childList: true, characterData: true, subtree: true };
              new MutationObserver(look).observe(document.body, how);
            }"""
        )
        ask(page, "What does the mill do?")
        page.get_by_text("tokens in").nth(3).wait_for(timeout=60_000)

        exchanges = asked[-2:]
        prompts = [each.body["messages"][-1]["content"] for each in exchanges]
        assert prompts[0] != prompts[1]
        assert sorted(prompts[0]) == sorted(prompts[1])
        assert exchanges[0].usage[0] == exchanges[1].usage[0]
        for order in ("rank", "document"):
            seen = page.evaluate("order => [...new Set(window.seen[order])]", order)
            assert len(seen) > 3
        assert page.troubles == []
