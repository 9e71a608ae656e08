"""ROUGE-L, BLEU and METEOR: the libraries against hand-worked values and oracles."""

import math
from types import SimpleNamespace

import pytest

from oprag.errors import InvalidOptionError, UnreadableFileError
from oprag_eval.metrics import corpus_bleu, meteor, meteor_unavailable, rouge_l


def test_rouge_l_of_a_hand_worked_answer():
    # LCS of "police killed gunman" and "police kill the gunman": police gunman, 2.
    # P = 2/3, R = 2/4, F1 = 2 · (2/3 · 1/2) / (2/3 + 1/2) = 4/7.
    score = rouge_l("Police killed gunman.", ["police kill the gunman"])
    assert score == pytest.approx(4 / 7)
    assert rouge_l("x", ["y"]) == rouge_l("", ["y"]) == 0


def test_rouge_l_reads_every_script():
    assert rouge_l("Ἀθῆναι καὶ Σπάρτη", ["ἀθῆναι"]) == pytest.approx(0.5)


def bleu(prediction, references, max_order=4):
    return corpus_bleu([prediction], [references], max_order=max_order)


def test_bleu_of_a_hand_worked_answer():
    # "the cat the cat": the 2 of 2·2, cat 1 of 2 → p1 = 3/4; "the cat" 1, "cat the" 0,
    # "the cat" again 0 → p2 = 1/3. 4 tokens against 6: penalty exp(1 − 6/4).
    penalty = math.exp(1 - 6 / 4)
    given = ("the cat the cat", ["the cat sat on the mat"])
    assert bleu(*given, max_order=1) == pytest.approx(penalty * 3 / 4)
    assert bleu(*given, max_order=2) == pytest.approx(penalty * math.sqrt(3 / 4 / 3))
    assert bleu(*given) == 0  # no 4-gram in common, and nothing is smoothed


def test_the_bleu_of_a_set_is_not_the_mean():
    # 1 of 1 and 0 of 3 tokens known: 1/4, where the mean would be 1/2.
    score = corpus_bleu(["a", "x y z"], [["a"], ["p q r"]], max_order=1)
    assert score == pytest.approx(1 / 4)
    assert corpus_bleu([""], [["a"]], max_order=1) == 0


def test_bleu_says_what_it_cannot_take():
    with pytest.raises(ValueError, match="empty"):
        corpus_bleu([], [])
    with pytest.raises(InvalidOptionError, match="It takes a list"):
        corpus_bleu(["a"], ["a"])


def synset(*names):
    lemmas = [SimpleNamespace(name=lambda name=name: name) for name in names]
    return SimpleNamespace(lemmas=lambda: lemmas)


BOATS = {word: [synset("boat", "vessel")] for word in ("boat", "vessel")}
LEXICON = SimpleNamespace(synsets=lambda word: BOATS.get(word, []))
"""A WordNet of two words that mean the same."""


def test_meteor_of_a_hand_worked_answer():
    # "the vessel sank walking" | "the boat walked": the–the, walking–walked (stem),
    # vessel–boat (synonym): m = 3, P = 3/4, R = 3/3,
    # F = P·R / (0.9·P + 0.1·R) = 0.75 / 0.775; runs: "the vessel", "walking": c = 2,
    # METEOR = F · (1 − 0.5 · (2/3)³).
    score = meteor("The vessel sank walking", ["the boat walked"], wordnet=LEXICON)
    assert score == pytest.approx(0.75 / 0.775 * (1 - 0.5 * (2 / 3) ** 3))


def test_meteor_without_wordnet_is_an_error_and_never_a_score():
    if meteor_unavailable() is None:
        pytest.skip("WordNet's data is installed where NLTK looks for it")
    with pytest.raises(UnreadableFileError, match=r"nltk\.downloader") as caught:
        meteor("a", ["a"])
    assert caught.value.path == "wordnet"
    assert caught.value.reason == meteor_unavailable()
    assert caught.value.reason == "NLTK's WordNet data is not installed, or is damaged"
