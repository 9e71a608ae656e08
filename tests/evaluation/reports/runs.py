"""A run on a small set with everything that a report shows, asked by the runner."""

import zlib
from pathlib import Path

from oprag.chunk import Span
from oprag_eval.data import Dataset, Document, Question
from oprag_eval.models import Call
from oprag_eval.running.run_directory import RunDirectory
from tests.evaluation.small import Replies, bench_of, ran, system

HOSTILE = "</script><script>document.title = 'taken'</script><b>&amp; bold</b>"
"""Text that a careless page would run or show as markup."""

NUMBERS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine")


def ledgers() -> Dataset:
    """45 questions on 5 ledgers; each has one sentence that holds the answer."""
    documents, questions = {}, []
    for ledger in range(5):
        name, text = f"ledger-{ledger}", ""
        for entry, number in enumerate(NUMBERS):
            text += (
                f"The crate of ship {ledger} that stood in room {entry} was dry. " * 3
            )
            sentence = f"Crate {entry} of ship {ledger} held {number} barrels."
            start = len(text)
            text += sentence + " "
            question = f"How many barrels did crate {entry} of ship {ledger} hold?"
            if entry % 3 == 0:  # in words that retrieval does not find
                question = f"What was counted in the chest that came as number {entry}?"
            if ledger == entry == 0:
                question += HOSTILE
            questions.append(
                Question(
                    f"{ledger}-{entry}",
                    (name,),
                    question,
                    (f"{number} barrels",),
                    evidence=(Span(start, start + len(sentence)),),
                )
            )
        documents[name] = Document(name, f"Ledger {ledger}", text)
    return Dataset("ledgers", tuple(questions), documents, ("token_f1", "exact_match"))


def read(dataset: Dataset):
    """A reader that finds the sentence where the context has it, as a model might."""
    wanted = {question.question: question for question in dataset.questions}

    def rule(call: Call) -> str:
        question = wanted[call.facts["question"]]
        chance = zlib.crc32(call.prompt.encode()) % 10
        text = dataset.documents[question.doc_ids[0]].text
        (span,) = question.evidence
        if text[span.start : span.end] not in call.facts["context"]:
            return "Unanswerable." if chance < 7 else HOSTILE
        return question.answers[0] if chance < 7 else "some barrels"

    return rule


def ask(path: Path) -> RunDirectory:
    """Carry out a run; tokens are words."""
    systems = [
        system("vanilla-rag", "size=15"),
        system("dos-rag", "size=15"),
        system("full-document"),
        system("self-route", "k=2,size=20"),
    ]
    settings = {"model": "replies", "seed": 42, "note": HOSTILE}
    bench = bench_of(Replies(read(ledgers())), ledgers())
    return ran(path, systems, [30, 90], bench, **settings)
