"""Nothing of what the model read is lost: prompts, replies, summaries, gists."""

from __future__ import annotations

import asyncio

from oprag_eval.catalogue import make_system
from oprag_eval.running.packed_file import packed_lines
from oprag_eval.running.run_directory import RunDirectory
from oprag_eval.running.runner import Plan, run
from tests.evaluation.small import Replies, bench_of, set_of_four

MADE = {"gist": "A short gist.", "page_break": "<1>", "look_up": "[1]"}


def rule(call):
    if call.kind in MADE:
        return MADE[call.kind]
    return "unanswerable" if len(call.facts["context"]) < 300 else "in May"


def carried_out(
    path, *, specs=("self-route:unit=words,size=10,k=1", "readagent"), **more
):
    directory = RunDirectory(path)
    directory.begin({})
    dataset = set_of_four()
    plan = Plan([make_system(spec) for spec in specs], [60], dataset.questions)
    model = Replies(rule)
    assert asyncio.run(run(plan, bench_of(model), directory, **more)).complete
    return directory, model


def test_every_prompt_and_reply_of_an_answer_is_kept(tmp_path):
    directory, model = carried_out(tmp_path)
    kept = [line.values for line in packed_lines(tmp_path / "read.jsonl.gz")]
    answers = directory.answers()

    assert [line["question_id"] for line in kept] == [
        answer["question_id"] for answer in answers
    ]
    prompts = {call["prompt"] for line in kept for call in line["calls"]}
    of_questions = {
        c.prompt for c in model.calls if c.kind not in ("gist", "page_break")
    }
    assert prompts == of_questions
    for line, answer in zip(kept, answers, strict=True):
        assert [call["reply"] for call in line["calls"]] == [
            step["reply"] for step in answer["steps"]
        ] or len(line["calls"]) == 1
        assert line["calls"][-1]["reply"] == answer["reply"]
    routed = kept[0]["calls"]
    assert [call["reply"] for call in routed] == ["unanswerable", "in May"]
    assert routed[0]["usage"]["input_tokens"] == len(routed[0]["prompt"].split())


def test_what_was_made_of_documents_is_kept_once(tmp_path):
    carried_out(tmp_path)
    made = [line.values for line in packed_lines(tmp_path / "made.jsonl.gz")]

    assert [(line["kind"], line["document"]) for line in made] == [
        ("readagent-memory", "harbour"),
        ("readagent-memory", "mill"),
    ]
    assert all("A short gist." in line["made"]["gists"] for line in made)


def test_a_run_that_goes_on_ends_with_the_same_texts(tmp_path):
    whole, _ = carried_out(tmp_path / "whole")
    cut, _ = carried_out(tmp_path / "cut")
    answers = (cut.path / "answers.jsonl").read_bytes().splitlines(keepends=True)
    (cut.path / "answers.jsonl").write_bytes(b"".join(answers[:3]))
    read = cut.path / "read.jsonl.gz"
    read.write_bytes(read.read_bytes()[:-30])
    carried_out(tmp_path / "cut", concurrency=3)

    for name in ("answers.jsonl", "read.jsonl.gz", "made.jsonl.gz"):
        assert (cut.path / name).read_bytes() == (whole.path / name).read_bytes()


def test_nothing_is_kept_where_that_is_not_wanted(tmp_path):
    directory, _ = carried_out(tmp_path, keep_read=False)

    assert len(directory.answers()) == 8
    assert not list(tmp_path.glob("*.gz"))
