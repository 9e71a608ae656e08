"""Several tables in one sheet or CSV: each row under the names of its columns."""

import pytest

from oprag.files import landmarks_of, read_file
from oprag.files.columns import head_rows

_FIRST = ["Year,Coal", "1900,12"]
_NAMES = [None, "Year | Coal"]


@pytest.mark.parametrize(
    ("rows", "names"),
    [
        # The row after a blank one names new columns: words above or below numbers.
        (["Tenant,Rent", "Garza,500"], ["Tenant | Rent"] * 2),
        (["Tenant,Owner", "Garza,Miller"], ["Tenant | Owner"] * 2),
        (["Tenant,Owner,Rent", "Garza,,"], ["Tenant | Owner | Rent"] * 2),
        (["Tenants", "in May", "Tenant,Rent"], ["", "", "Tenant | Rent"]),
        # It goes on with the table above.
        (["1901,13", "1902,"], ["Year | Coal"] * 2),
        (["1901,n/a", "1902,14"], ["Year | Coal"] * 2),
        (["Sum,25"], ["Year | Coal"]),
        # It may be a table of its own, whose columns have no names that are known.
        (["Item,2023", "Iron,5"], ["", ""]),
        (["Tenants", "Garza,500"], ["", ""]),
        (["Iron,2023,2024", "Ore,5,6", "", "Tenant,Rent", "Garza,500"],
         ["", "", "", *["Tenant | Rent"] * 2]),
    ],
)  # fmt: skip
def test_a_blank_row_may_end_what_columns_are_named(rows, names):
    given = [row.split(",") for row in [*_FIRST, "", *rows]]

    assert [*head_rows(given)] == [*_NAMES, "", *names]


def test_a_title_of_two_values_names_no_columns_below_a_blank_row():
    rows = [["Prices", "as of 2024"], [], ["Year", "Coal"], ["1900", "12"]]

    assert [*head_rows(rows)] == [None, "", *["Year | Coal"] * 2]


def test_a_chunk_that_begins_above_a_table_stands_under_its_columns(tmp_path):
    (tmp_path / "a.csv").write_text("Year,Coal\n1900,12\n\nTenant,Rent\nGarza,500\n")

    (text,) = read_file(tmp_path / "a.csv")
    blank = text.text.index("\n\n") + 1

    place = landmarks_of(text.landmarks, blank, len(text.text))
    assert place["heading"] == "Tenant | Rent"
