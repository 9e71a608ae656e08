"""The generated PassKey sets."""

import re

import pytest

from oprag_eval.data import make_passkey
from tests.kit.fresh_interpreter import run

VARIANTS = ("literal", "reworded", "larger")


def small(variant, **options):
    return make_passkey(variant, **{"questions": 20, "characters": 3_000, **options})


@pytest.mark.parametrize("variant", VARIANTS)
def test_the_evidence_is_where_the_keys_are(variant):
    found = small(variant)

    assert len(found.questions) == len(found.documents) == 20
    for question in found.questions:
        text = found.documents[question.doc_ids[0]].text
        sentences = [text[start:end] for start, end in question.evidence]
        keys = [int(re.search(r"\d{6}", sentence)[0]) for sentence in sentences]
        assert re.findall(r"\d{6}", text) == [str(k) for k in keys for _ in range(2)]
        if variant == "larger":
            assert question.answers == ("first" if keys[0] > keys[1] else "second",)
            assert [s.split()[1] for s in sentences] == ["first", "second"]
        else:
            assert question.answers == (str(keys[0]),)
        assert 3_000 <= len(text) <= 3_300


def test_the_keys_lie_at_every_depth():
    found = small("literal", questions=10)
    depths = [
        question.evidence[0][0] / len(found.documents[question.doc_ids[0]].text)
        for question in found.questions
    ]

    assert depths == pytest.approx([n / 10 for n in range(10)], abs=0.06)


def test_only_the_literal_question_names_the_key():
    questions = {v: small(v).questions[0].question for v in VARIANTS}
    texts = [d.text for d in small("reworded").documents.values()]

    assert "passkey" in questions["literal"]
    assert "passkey" not in questions["reworded"]
    assert not any("token" in t or "special" in t or "hidden" in t for t in texts)


def test_one_seed_gives_one_set_under_every_hash_seed():
    code = (
        "from oprag_eval.data import make_passkey as m;"
        "print([d.text for d in m('larger', questions=3, characters=900)"
        ".documents.values()])"
    )
    outputs = {run(code, PYTHONHASHSEED=seed) for seed in ("0", "1")}

    assert len(outputs) == 1
    assert small("literal").questions == small("literal").questions
    assert small("literal").questions != small("literal", seed=1).questions
