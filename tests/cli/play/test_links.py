"""The question and its options as a link, and as Python."""

from urllib.parse import parse_qsl, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oprag_cli.options import SearchOptions
from oprag_cli.play.links import BUDGETS, chosen_options, link_to, write_python
from oprag_cli.play.session import Session
from oprag_cli.play.workshop import Workshop
from tests.cli.play.test_session import QUESTION, ready

OPTIONS = st.builds(
    SearchOptions,
    token_budget=st.sampled_from(BUDGETS),
    k=st.none() | st.integers(1, 500),
    widen=st.none() | st.integers(1, 9) | st.just("fill"),
    selection=st.sampled_from(["budget", "recall"]),
    merge=st.booleans(),
)


@given(st.text(min_size=1), OPTIONS)
def test_a_link_brings_back_the_question_and_its_options(question, options):
    given = dict(parse_qsl(urlsplit(link_to(question, options)).query, True))

    assert given["q"] == question.encode("utf-8", "replace").decode()
    assert chosen_options(given, SearchOptions()) == options


def test_without_a_question_there_is_nothing_to_link_to():
    assert link_to("", SearchOptions(k=3)) == "/"


@pytest.mark.parametrize(
    "given",
    [{"selection": "all"}, {"token_budget": "many"}, {"k": "x"}, {"widen": "[]"}],
)
def test_a_link_with_what_the_page_does_not_offer_fails(given):
    with pytest.raises(ValueError, match=r".+"):
        chosen_options(given, SearchOptions())


@pytest.mark.parametrize(
    ("tokens", "chosen"), [(1, 500), (3_100, 4_000), (10**9, 16_000), (-5, 500)]
)
def test_a_budget_between_the_steps_is_the_nearest(tokens, chosen):
    assert chosen_options({"token_budget": tokens}, SearchOptions()) == SearchOptions(
        token_budget=chosen
    )


@pytest.mark.parametrize(
    "options",
    [
        SearchOptions(),
        SearchOptions(token_budget=500, k=3, merge=False),
        SearchOptions(selection="recall", widen="fill"),
    ],
)
def test_the_python_that_is_copied_prints_the_context_that_is_shown(
    options, tiny_model, tmp_path, capsys, request
):
    (tmp_path / "log.txt").write_text(
        "\n\n".join(f"Repairs of day {n} are paid by tenant {n}." for n in range(99))
    )
    workshop = Workshop([tmp_path / "log.txt"], str(tiny_model), tmp_path / "index")
    request.addfinalizer(workshop.close)
    session = ready(Session(workshop))
    session.options = options
    session.ask(QUESTION)
    capsys.readouterr()

    store = session.desk.index.vectorstore
    exec(write_python(QUESTION, options), {"vectorstore": store})  # noqa: S102

    assert capsys.readouterr().out == session.step.write_sent("document")
