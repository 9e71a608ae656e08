"""Every system by name, from a spec, and all of them on one small set."""

import pytest

from oprag.errors import InvalidOptionError
from oprag_eval.catalogue import SYSTEMS, make_system
from tests.evaluation.small import Replies, bench_of, ran


@pytest.mark.parametrize("name", SYSTEMS)
def test_a_plain_name_makes_a_system_of_that_name_with_json_settings(name):
    system = make_system(name)

    assert system.name == name
    assert system.settings() == make_system(name).settings()
    assert "\n" not in SYSTEMS[name].description
    assert len(SYSTEMS[name].description) < 80


@pytest.mark.parametrize(
    ("spec", "changed"),
    [
        ("dos-rag:size=50", {"unit": "sentences", "size": [50]}),
        ("op-rag:unit=words,size=9", {"unit": "words", "size": [9]}),
        ("self-route:k=1,order=rank", {"k": 1, "order": "rank"}),
        ("self-route:steps=retrieved,k=1", {"steps": ["retrieved"], "k": 1}),
        ("longrag:k=8", {"k": 8}),
    ],
)
def test_a_spec_changes_settings_and_names_the_system_by_itself(spec, changed):
    system = make_system(spec)

    assert system.name == spec
    assert changed.items() <= system.settings().items()


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("dosrag", "dos-rag"),
        ("dos-rag:siz=50", "size=100"),
        ("dos-rag:size", "size=100"),
        ("dos-rag:size=50,size=60", "twice"),
        ("dos-rag:size=x", "size=x"),
        ("dos-rag:compat=official,unit=words", "compat"),
        ("dos-rag:compat=official,size=9+5", "leave out unit, search"),
        ("dos-rag:search=words", "'vectors' or 'hybrid'"),
        ("self-route:steps=full+retrieved", "steps"),
        ("self-route:steps=1500+full", "steps=1500.full is not possible"),
        ("self-route:k=0", "k=0"),
        ("dos-rag:size=0", "size=0"),
    ],
)
def test_what_cannot_be_made_is_refused_with_what_there_is(spec, message):
    with pytest.raises(InvalidOptionError, match=message):
        make_system(spec)


def test_every_system_answers_every_question_of_a_small_set(tmp_path):
    replies = {"page_break": "<1>", "look_up": "[1]"}
    model = Replies(lambda call: replies.get(call.kind, "in May"))
    systems = [make_system(name) for name in sorted(SYSTEMS)]
    bench = bench_of(model, cache=tmp_path / "made")

    answers = ran(tmp_path, systems, [130, 200], bench).answers()

    assert {answer["system"] for answer in answers} == set(SYSTEMS)
    for answer in answers:
        assert answer["prediction"] == "in May"
        assert answer["budget"] is None or answer["context_tokens"] <= answer["budget"]
        assert answer["pieces"]
