"""The words that BM25 compares."""

import pytest

from oprag.stores.bm25_tokenizer import words_of


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("The Rent, of course: 900 a month.", "the rent of course 900 month"),
        ("user_id is NOT x-ray", "user_id is not ray"),
        ("ﬁnal oﬀer, Ｆｕｌｌ width", "final offer full width"),
        ("die Größe der Straße", "die größe der straße"),
        ("租金每月九百元。", "租金 金每 每月 月九 九百 百元"),
        ("第7条: rent租金", "第 条 rent 租金"),
        ("東京タワーへ", "東京 京タ タワ ワー ーへ"),
        ("임대료는 매월", "임대 대료 료는 매월"),
        ("किराया हर महीने", "किराया हर महीने"),
        ("الإِيجار شَهري", "الإِيجار شَهري"),
        ("ค่าเช่า", "ค่ ่า าเ เช ช่ ่า"),
        ("café cafe\u0301", "café café"),
        ("… — !", ""),
        ("", ""),
    ],
)
def test_words_are_found_in_any_script(text, words):
    assert words_of(text, ()) == words.split()


def test_stopwords_are_left_out_whatever_their_case():
    assert words_of("The rent of THE flat", {"the", "of"}) == ["rent", "flat"]
    assert words_of("The rent 租金 of", {"the", "of"}) == ["rent", "租金"]
